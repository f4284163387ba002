"""Sockets: the server's event-loop shell, its connections (``connection``), the memory budget, and a small
client. ``internal`` listens to other brokers, ``peers`` asks them (``ports``: what the layers above need of
that; ``names``: where they are). ``descriptors``: how many open files connections leave to the rest;
``deadlines``: many waits, one timer; ``silence``: when a peer that says nothing is gone; ``threads``: for
calls that may block on a file.

Frames go in and pieces come out; what they mean is the business of ``handlers``, which hand their
``dispatch`` to :class:`~kproto.net.server.Server`. May import
``errors check clock trouble disk memory config wire``.
"""
