"""The controller: who exists, who leads, what topics there are. Never on the data path.

Pure decisions (image and table in, store writes and answers out): ``topics``, ``config_changes``,
``registration``, ``placement`` with ``names``; for a cluster ``fencing``, ``vsegs``, ``sealing``,
``recovery`` with ``sources`` (who can) and ``given_away`` (who cannot any more), ``repair`` of what is
``missing`` by ``repair_pairs``, ``freeing`` and ``giving_up``, ``moves``, ``reassignment``, ``single`` (one
copy again), ``draining``, ``retiring``, ``leader_choice`` and ``arranging`` (who leads, and on which
replicas), all on the predicates in ``rules``; ``sessions`` says who is alive, ``denials`` whose journal has
nothing, ``unreached`` who cannot read them. A ``decision`` is what they hand to the shells, ``arguments``
checks what brokers send.
Shells: ``controller`` commits decisions and publishes the new image, ``proposals`` takes what brokers ask
for, ``service`` is their way in, ``loop`` recovers, ``upkeep`` repairs, ``recoveries`` keeps the figures;
``election`` and ``seat`` say who does all that where several brokers may.
May import ``errors check clock trouble disk config wire net metadata log vlog replica``.
"""

from kproto.controller.config_changes import ConfigChange, ConfigOp, OpType, ResourceType
from kproto.controller.controller import Controller
from kproto.controller.topics import NewPartitions, NewTopic, TopicOutcome, TopicRef

__all__ = [
    "ConfigChange",
    "ConfigOp",
    "Controller",
    "NewPartitions",
    "NewTopic",
    "OpType",
    "ResourceType",
    "TopicOutcome",
    "TopicRef",
]
