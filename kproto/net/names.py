"""Host names of other brokers: their addresses, without waiting for a name server that does not answer."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading

Place = tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]
Found = list[tuple[int, Place]]


class Names:
    """Looks up host names for the running event loop, one look-up of a name at a time, each in a thread that
    nobody waits for. A name server that does not answer, which takes 10 seconds and more, holds up nothing
    but who wants that name: no other name, not what else runs in threads, not the end of the process.
    """

    __slots__ = ("_asked", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._asked: dict[tuple[str, int], asyncio.Future[Found | OSError]] = {}

    async def find(self, host: str, port: int) -> Found:
        """Families and socket addresses; only a host name costs a look-up. Raises OSError."""
        if (family := _family(host)) is not None:
            return [(family, (host, port))]
        asked = self._asked.get((host, port))
        if asked is None:
            asked = self._ask(host, port)
        answer = await asyncio.shield(asked)
        if isinstance(answer, OSError):
            raise type(answer)(*answer.args)  # there may be several who wait
        return answer

    def _ask(self, host: str, port: int) -> asyncio.Future[Found | OSError]:
        answer: asyncio.Future[Found | OSError] = self._loop.create_future()

        def told(found: Found | OSError) -> None:
            del self._asked[host, port]
            answer.set_result(found)

        def run() -> None:
            found: Found | OSError
            try:
                them = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
                found = [(family, place) for family, _, _, _, place in them]
            except OSError as error:
                found = error
            except ValueError:  # no name of DNS can be made of it (UnicodeError)
                found = _no_name(host)
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
                self._loop.call_soon_threadsafe(told, found)

        try:
            threading.Thread(target=run, name="kproto-names", daemon=True).start()
        except RuntimeError as error:
            raise OSError(str(error)) from None
        self._asked[host, port] = answer
        return answer


def _family(host: str) -> int | None:
    """That of an address, None when ``host`` is a name. Raises OSError when it cannot be either."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
        except OSError:
            continue
        except ValueError:
            raise _no_name(host) from None
        return family
    return None


def _no_name(host: str) -> OSError:
    return OSError(f"{host!r} is no host name")
