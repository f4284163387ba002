"""Quality gates: what must hold for the source itself.

``rules.py`` has the rules as pure functions from source text to complaints, ``test_rules.py`` shows on
small samples that each of them can fail, ``test_gates.py`` applies them here. Imports nothing of kproto.
"""
