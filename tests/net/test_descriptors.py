"""Who gets how many of the descriptors."""

import pytest

from kproto.net.descriptors import FEWEST, FEWEST_SEGMENTS, share


@pytest.mark.parametrize("limit", [FEWEST, 128, 256, 1024, 4096, 20_000, 1 << 20])
def test_files_have_half_or_all_they_want_and_brokers_get_in_when_clients_do_not(limit: int) -> None:
    shares = share(limit, 512)
    assert FEWEST_SEGMENTS <= shares.segments <= 512
    assert limit // 2 <= shares.clients < shares.brokers < limit
    assert limit - shares.clients >= 2 * shares.segments or limit - shares.clients >= 512 + 256


def test_where_there_are_enough_nothing_is_less() -> None:
    assert share(4096, 512).segments == 512
    assert share(1 << 20, 512).clients > 900_000
