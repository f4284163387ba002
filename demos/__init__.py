"""Programs that show kproto at work on real data, each runnable with `python -m demos.<name>`.

They talk to the broker as any user would: stock clients, the `kproto` command. Nothing here is imported by
`kproto`; the compatibility tests import from here.
"""
