"""The group coordinator: classic consumer groups and committed offsets.

Inside out: ``states`` (the transition table), ``model`` (values) and ``ballot`` (which assignor wins) ->
``group`` (the state machine: no socket, clock or randomness) and ``offsets`` (a group's committed offsets)
-> ``records`` (Kafka's formats in ``__consumer_offsets``) -> ``offsets_log`` (one partition of that topic:
packing, loading, checkpoint) -> ``shard`` (the groups of that partition, their offsets and its log) ->
``coordinator`` and ``timers`` (the shell: futures, one timer for all, which group lives where) -> one module
per API; ``answers`` has what these share. ``partition_log`` ties ``offsets_log`` to ``kproto.log``.

May import what ``kproto.handlers`` may; nothing outside imports from here except ``broker``,
``handlers.registry`` and, for types, ``handlers.context`` and ``figures``.
"""
