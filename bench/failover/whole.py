"""Whether a cluster of kproto's has all its copies, by what `kproto recovery` shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Whole:
    """At some moment since the first question. What the controller saw before that says nothing, and under
    load there always is a change at which it has not looked yet: those up to the first question count."""

    __slots__ = ("_since",)

    def __init__(self) -> None:
        self._since: int | None = None

    def by(self, found: Mapping[str, Any]) -> bool:
        """Nothing waits for anybody, and no copy is missing or being made."""
        repairs = found["repairs"]
        if not repairs:  # a controller that is starting
            return False
        if self._since is None or repairs["changes"] < self._since:  # another controller counts anew
            self._since = repairs["changes"]
        lacking = repairs["short"] or repairs["sealing"] or repairs["running"]
        return repairs["seen"] >= self._since and not (found["waiting"] or lacking)
