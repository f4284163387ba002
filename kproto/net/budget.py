"""One bound on the bytes that clients can make the broker hold: ``kproto.request.memory.bytes``.

Requests being received or handled, responses and unsent fetches of all connections count against it.
Beyond the bound connections are not read until enough has been sent or dropped. Half-received frames may
use only half of it, so that stalled senders cannot keep small requests out; one connection at a time (the
*privileged* one) may go beyond that half, so that several large frames can never wait for each other. The
last eighth is for connections that hold nothing: peers that do not read their answers cannot fill it.

Somebody can always go on. While half frames alone hold more than their half and nobody is privileged, the
first of them that asks is. A frame that does not fit into the bound waits until nothing else is held, but
others may always hold something (a long poll is enough): after a while one is let in all the same (`lend`).
So ``used`` is at most the limit, one frame of the largest size, and one read; where connections that hold
little are read all the same (``Server.light``), that little and one read of each. Buffers kept for reuse have
what is left below that last eighth, and give way.
"""

from collections.abc import Callable

from kproto.check import check
from kproto.memory import Spares


class MemoryBudget:
    """Counts bytes; holds nothing itself.

    Invariants: ``used >= partial >= 0``; a waiter is called at most once for each time it waits.
    """

    __slots__ = (
        "_ample",
        "_lent",
        "_waiters",
        "_wake_at",
        "kept",
        "limit",
        "partial",
        "partial_limit",
        "privileged",
        "soft",
        "spares",
        "used",
    )

    def __init__(self, limit: int, *, loose: bool = False) -> None:
        """``loose``: as for `Spares`."""
        self.limit = limit
        """Beyond it nobody is read."""
        self.soft = limit - (limit >> 3)
        """Beyond it only connections that hold nothing are read."""
        self.spares = Spares(loose, self.free)
        """Buffers for large frames and answers."""
        self._ample = self.soft - Spares.MOST_BYTES
        self._wake_at = self.soft - (limit >> 5)
        self.partial_limit = limit // 2
        self.used = 0
        """Bytes charged by all connections, half-received frames included."""
        self.partial = 0
        """Bytes reserved for half-received frames."""
        self.kept = 0
        """Bytes that nobody gives back soon: fetch sessions."""
        self.privileged: object | None = None
        """The one connection whose half-received frame may grow beyond ``partial_limit``."""
        self._lent = False
        self._waiters: dict[object, Callable[[], None]] = {}

    def free(self) -> int:
        """Bytes an answer may take, and buffers that nobody uses; never negative."""
        return max(0, self.soft - self.used)

    @property
    def is_short(self) -> bool:
        """Only connections that hold nothing are read."""
        return self.used >= self.soft

    @property
    def waiting(self) -> bool:
        """Whether somebody waits for room."""
        return bool(self._waiters)

    def change(self, delta: int) -> None:
        """Charge (or give back, when negative) ``delta`` bytes and wake waiters once there is room again."""
        self.used += delta
        check(self.used >= 0, "more bytes given back than charged: which connection settled twice?")
        if self.used > self._ample:
            self.spares.shrink(self.free())
        if self._waiters and delta < 0 and self.used <= self._wake_at:
            self._wake()

    def keep(self, delta: int) -> None:
        """As :meth:`change`, for what stays: no frame waits until it is given back."""
        self.kept += delta
        self.change(delta)

    def change_partial(self, delta: int) -> None:
        """As :meth:`change`, for bytes reserved for a half-received frame."""
        self.partial += delta
        check(self.partial >= 0, "more bytes of half frames given back than charged: who settled twice?")
        self.change(delta)

    def may_grow(self, owner: object, extra: int, rest: int) -> bool:
        """Whether ``owner`` may add ``extra`` bytes to its half-received frame; ``rest`` would complete it.

        True with ``privileged is owner`` means that it should reserve all of ``rest`` at once.
        """
        if self.partial + extra <= self.partial_limit and self.used < self.limit:
            return True
        others = self.used - self.partial
        if self.used + rest <= self.limit or others <= self.kept:
            self._privilege(owner)
        return self.may_go_on(owner, 1)

    def may_go_on(self, owner: object, half: int) -> bool:
        """Whether ``owner``, with ``half`` bytes of an unfinished frame (none: 0), is read though memory is
        used up.
        """
        if half and (self.partial > self.partial_limit or self._lent):
            self._privilege(owner)
        return self.privileged is owner

    def _privilege(self, owner: object) -> None:
        if self.privileged is None:
            self.privileged = owner
            self._lent = False

    def lend(self) -> None:
        """Some have waited for long: the first of them with an unfinished frame gets the privilege if it is
        free, whatever others hold. Does nothing when nobody waits.
        """
        self._lent = bool(self._waiters) and self.privileged is None
        if self._lent:
            self._wake()

    def give_up_privilege(self, owner: object) -> None:
        """The frame of ``owner`` is complete or its connection is closed."""
        if self.privileged is owner:
            self.privileged = None
            self._wake()

    def wait(self, owner: object, waiter: Callable[[], None]) -> None:
        """Call ``waiter`` once when there is room again (or the privilege is free); it must check again."""
        self._waiters[owner] = waiter

    def stop_waiting(self, owner: object) -> None:
        """``owner`` is gone."""
        self._waiters.pop(owner, None)

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, {}
        for waiter in waiters.values():
            waiter()
