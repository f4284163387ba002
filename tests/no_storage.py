"""For tests of handlers without storage: of the log manager they need the settings in force."""

from __future__ import annotations

import asyncio
from typing import Any

from kproto.clock import Clock
from kproto.config import Settings
from kproto.controller import Controller
from kproto.directory import LeftAs
from kproto.disk import Disk
from kproto.log.manager import LogManager
from kproto.log.ports import LogPorts


def unopened_logs(controller: Controller, settings: Settings, clock: Clock) -> LogManager:
    """A log manager that follows the controller's image; no partition may be opened."""
    ports = LogPorts(_unused, asyncio.get_running_loop().call_soon, _unused)
    logs = LogManager("nowhere", Disk(), clock, settings, ports, LeftAs.NEW)
    logs.apply_image(controller.image)
    controller.subscribe(logs.apply_image)
    return logs


def _unused(*_: object) -> Any:
    raise AssertionError("no partition is opened here")
