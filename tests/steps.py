"""How much is done by a call, without a clock."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps(call: Callable[[], object]) -> int:
    """Instructions of Python that ``call`` takes: the same on every machine. What C does in one of them, to
    copy a list say, is not counted; nor is what others have done when garbage is collected."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before, collects = sys.gettrace(), gc.isenabled()
    gc.disable()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
        if collects:
            gc.enable()
    return count
