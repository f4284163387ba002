"""What the compatibility tests share: brokers, topics, sample records, JVM and Go drivers, hand-made frames.

``wire/`` holds the raw conversations with Apache Kafka and kproto.

May import the standard library, psutil, the client libraries, bench and kproto; but ``frames`` is written by
hand, so that a mistake in kproto's codecs cannot hide itself.
"""
