"""What several of these tests begin with."""

import pytest

from kproto.replica import bring_over, rewriting, takeover
from tests.descriptors import data_files_closed, no_descriptor

__all__ = ["data_files_closed", "impatient", "no_descriptor"]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody rests, or waits long before another try."""
    monkeypatch.setattr(takeover, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(bring_over, "FIRST_REST_S", 0.0)
    monkeypatch.setattr(bring_over, "AGAIN_S", 0.01)
    monkeypatch.setattr(bring_over, "REST_S", 0.0)
    monkeypatch.setattr(rewriting, "REST_SECONDS", 0.0)
