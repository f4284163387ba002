"""``--set NAME=VALUE`` as every command takes it."""

import click
import pytest
from click.testing import CliRunner

from kproto.cli.arguments import set_option
from kproto.cli.main import main


@click.command()
@set_option("given", "Settings.")
@set_option("others", "Other settings.", "--other")
def show(given: dict[str, str], others: dict[str, str]) -> None:
    click.echo(repr((given, others)))


def test_pairs_are_settings_by_name_and_the_last_of_a_name_counts() -> None:
    run = CliRunner().invoke(
        show, ["--set", "a=1", "--set", " b = x=y ", "--set", "a=2", "--set", "none=", "--other", "c=3"]
    )
    assert run.output == "({'a': '2', 'b': 'x=y', 'none': ''}, {'c': '3'})\n"


@pytest.mark.parametrize("pair", ["a", "=1", " =1", ""])
def test_what_is_no_pair_is_one_line_and_exit_code_2(pair: str) -> None:
    run = CliRunner().invoke(show, ["--set", "a=1", "--other", pair])
    assert (run.exit_code, run.output) == (2, f"Error: --other {pair}: expected NAME=VALUE\n")


@pytest.mark.parametrize(
    "command",
    [["serve"], ["config"], ["cluster", "start"], ["topic", "create", "t"], ["topic", "alter", "t"]],
    ids=" ".join,
)
def test_every_command_that_takes_settings_says_the_same(command: list[str]) -> None:
    run = CliRunner().invoke(main, [*command, "--set", "retention.ms"])
    assert (run.exit_code, run.output) == (2, "Error: --set retention.ms: expected NAME=VALUE\n")
