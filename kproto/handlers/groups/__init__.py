"""The group coordinator: classic consumer groups and committed offsets.

Inside out: ``states`` (the transition table) and ``model`` (values) -> ``group`` (the state machine: no
socket, clock or randomness) and ``offsets`` (a group's committed offsets) -> ``records`` (Kafka's formats
in ``__consumer_offsets``) -> ``offsets_log`` (one partition of that topic: packing, loading, checkpoint)
-> ``coordinator`` (the shell: timers, futures, which group lives where) -> one module per API.
``partition_log`` ties ``offsets_log`` to ``kproto.log``.

May import what ``kproto.handlers`` may; nothing outside imports from here except ``broker`` and
``handlers.registry``.
"""
