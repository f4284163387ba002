"""Sockets: the server's event-loop shell, its connections, the memory budget, and a small client.
``internal`` listens to other brokers, ``peers`` asks them; ``descriptors``: how many open files
connections leave to the rest.

Frames go in and pieces come out; what they mean is the business of ``handlers``, which hand their
``dispatch`` to :class:`~kproto.net.server.Server`. May import ``errors check clock disk memory config wire``.
"""
