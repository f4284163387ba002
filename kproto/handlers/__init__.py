"""What Kafka clients can ask: one module per API, named as in Kafka's protocol.

``context`` is what a handler is given, ``registry`` the table of all APIs (ApiVersions is derived from it),
``dispatch`` the way from a frame to a handler and back; ``turns`` for what takes long, ``repeats`` for what
is named very often, ``forwarding`` for what only the controller can answer, ``once`` for what several clients
wait for, ``holding`` for produce answers that wait for the next leader.
``leading`` finds the partition that a request names and checks what all data APIs check, ``copies`` whether
acks=all has as many as it asks for, ``refused`` remembers what was refused before there was a partition,
``keyed`` checks what is compacted, ``authorized`` says what a client may do, ``partitions`` shows partitions
as clients see them, ``latency`` is how long answers take.
``*_wire`` and ``fetch_request`` are the hot messages by hand, ``fetch_sessions`` what a fetch need not
repeat (KIP-227). ``admin/`` has the APIs of administrators' tools, ``groups/`` the group
coordinator and its APIs. May import from every package up to ``controller``; only ``member``, ``leaving``,
``figures`` and ``broker`` import from here.
"""
