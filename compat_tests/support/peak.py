"""The most memory a broker has resident while something happens."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

import psutil

from compat_tests.support.broker import Subprocess


class Peak:
    """Looks at it a hundred times a second while the block runs; ``bytes`` is the most it saw."""

    def __init__(self, broker: Subprocess) -> None:
        self._broker = broker
        self._stop = threading.Event()
        self.bytes = 0

    def _watch(self) -> None:
        while not self._stop.is_set():
            if self._broker.running():  # tests that kill it start it again
                with suppress(psutil.NoSuchProcess):
                    self.bytes = max(self.bytes, self._broker.rss_bytes())
            time.sleep(0.01)

    def __enter__(self) -> Peak:
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        assert self.bytes, "nothing was measured"
