"""What Kafka clients can ask: one module per API, named as in Kafka's protocol.

``context`` is what a handler is given, ``registry`` the table of all APIs (ApiVersions is derived from
it), ``dispatch`` the way from a frame to a handler and back. ``groups/`` holds the group coordinator and
its APIs. May import from every package up to ``controller``; only ``broker``, ``testing`` and ``cli``
import from here.
"""
