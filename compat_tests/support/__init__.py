"""What the compatibility tests share: brokers, topics, sample records, JVM and Go drivers, hand-made frames.

May import the standard library, psutil and the client libraries; nothing of kproto.
"""
