"""The controller: who exists, who leads, what topics there are. Never on the data path.

``topics``, ``config_changes``, ``registration`` and ``placement`` are pure decisions (image in, store writes
and answers out), ``names`` the rules of topic names, ``controller`` the shell that commits decisions and
publishes the new image, ``election`` and ``seat`` who does so where several may.
May import ``errors check clock disk config wire net metadata log vlog replica``.
"""

from kproto.controller.config_changes import ConfigChange, ConfigOp, OpType, ResourceType
from kproto.controller.controller import Controller
from kproto.controller.election import Candidate, Election
from kproto.controller.topics import NewPartitions, NewTopic, TopicOutcome, TopicRef

__all__ = [
    "Candidate",
    "ConfigChange",
    "ConfigOp",
    "Controller",
    "Election",
    "NewPartitions",
    "NewTopic",
    "OpType",
    "ResourceType",
    "TopicOutcome",
    "TopicRef",
]
