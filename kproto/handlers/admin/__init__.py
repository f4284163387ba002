"""What administrators' tools ask for: topics, partitions, configs, records, log directories.

One module per API; ``config_view`` is the picture of configs that several of them show. May import what
``handlers`` may.
"""
