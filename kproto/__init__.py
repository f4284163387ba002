"""kproto: a Kafka-wire-compatible broker whose storage is KerA's virtual log-structured storage.

Sub-packages in import order (each imports only from those before it):
``errors check clock trouble disk directory memory config``, ``wire``, ``net``, ``metadata``, ``log``,
``vlog``, ``replica``, ``controller``, ``handlers``, ``metrics``, ``metrics_http``, ``metrics_endpoint``,
``figures``, ``leaving``, ``member``, ``broker``, then ``local_cluster``, ``testing``, ``pytest_plugin`` and
``cli``.
"""

__version__ = "0.1.0"
