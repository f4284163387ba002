"""kproto.wire against its oracles and hostile bytes. May import ``kproto.wire``."""
