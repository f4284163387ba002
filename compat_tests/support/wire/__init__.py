"""The same raw conversations with two brokers, and what differs in their answers.

``talk`` sends and writes down, ``compare`` finds the differences and judges them by a list of allowed ones;
each other module holds conversations about one subject and, beside them, the differences that are meant.
May import what the tests may.
"""
