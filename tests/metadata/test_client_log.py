"""What a broker without the controller logs while something fails again and again."""

import pytest

from kproto.wire.internal import Api
from tests.net.talking import run, until

from .office import joined


@pytest.mark.parametrize(
    ("api", "what"),
    [(Api.HEARTBEAT, "a heartbeat was refused"), (Api.CHANGES, "changes of the metadata were not to be had")],
)
def test_it_is_logged_when_it_begins_and_when_it_works_again(caplog, api, what):
    """It was a line for each time: two a second, of every broker, in which nothing else was found."""

    async def test() -> None:
        async with joined(session_ms=100) as (office, _):
            asked = office.asked.count(api)
            office.store_away[api] = 4
            await office.put({"configs/default": b"{}"})
            await until(lambda: f"{what}: it works again" in caplog.messages)
            assert office.asked.count(api) > asked + 4

    run(test)
    said = [line for line in caplog.messages if line.startswith(what)]
    assert len(said) == 2, said
    assert "the store is away" in said[0]
