"""Invariant checks that stay on under ``python -O``.

May be imported from anywhere; imports nothing of kproto.
"""


class InvariantError(AssertionError):
    """A promise of our own code is broken: a bug in kproto, never the fault of a client."""


def check(condition: object, message: str) -> None:
    """Raise :class:`InvariantError` unless ``condition`` holds.

    ``message`` should ask the question an operator would ask next ("... was the journal truncated?").
    """
    if not condition:
        raise InvariantError(message)
