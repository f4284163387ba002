"""The ``kproto`` command: one module per group of commands.

``main`` names the commands and imports a command's module only when it is called, because the broker must
be up in a fraction of a second (``lazy``); installed packages add commands by the entry-point group
``kproto.commands``. ``launch`` is what `kproto.local_cluster` runs to start brokers together, forks of one
process. ``output`` is the only module that knows about tables and JSON; ``arguments`` reads NAME=VALUE and
HOST:PORT; ``patience`` is what tries again. The client commands (``topic group produce consume
get-offsets``) speak Kafka's protocol through ``cluster``, ``kproto.net.client`` and the generated codecs, so
they work against any Kafka broker;
``cluster_command``, ``inspect_cluster``, ``decommission`` and ``accept_loss`` are for clusters of kproto;
``dump-log`` reads files.

May import every other sub-package; nothing in kproto imports ``cli`` (bench uses ``lazy`` and ``arguments``).
"""
