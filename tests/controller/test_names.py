"""Topic names, as Apache Kafka 4.3 takes or refuses them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kproto.controller.names import NAME_MAX_LENGTH, folded, is_internal, name_problem


@pytest.mark.parametrize("name", ["a", "A-z_0.9", "...", "x" * NAME_MAX_LENGTH, "__mine", "-"])
def test_allowed_names(name: str) -> None:
    assert name_problem(name) is None


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "a b", "ä", "x" * (NAME_MAX_LENGTH + 1), "a\0", "a\n", "٣"]
)
def test_refused_names(name: str) -> None:
    assert name_problem(name) is not None


@given(st.text(max_size=260))
def test_an_allowed_name_is_a_safe_file_name(name: str) -> None:
    if name_problem(name) is None:
        assert name.isascii()
        assert "/" not in name
        assert 0 < len(name) <= NAME_MAX_LENGTH


def test_folding_and_internal_names() -> None:
    assert folded("a.b_c") == folded("a_b.c")
    assert is_internal("__consumer_offsets")
    assert not is_internal("__mine")
