"""Shared by the tests of the log."""

from __future__ import annotations

from tests.descriptors import data_files_closed

__all__ = ["data_files_closed"]
