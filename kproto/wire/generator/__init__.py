"""Writes ``kproto.wire.generated`` from Kafka's message definitions; ``kproto.wire`` names the command.

``schema`` reads the JSON into plain classes; ``parse_code`` and ``write_code`` turn one message at one
version into the lines of a function; ``modules`` puts classes, functions and tables together. Never
imported at run time. May import nothing of kproto but ``wire.primitives``.
"""
