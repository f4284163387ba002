"""`kproto bench report`: the page of a directory of results, and the same for docs/."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from bench import options
from bench.page import drawing, story
from bench.page.gathered import Gathered, gather
from bench.page.html import page
from bench.page.markdown import markdown
from bench.page.panels import OVER_TIME, Group, groups
from bench.results import Result

REASONS = Path(__file__).with_name("reasons.toml")
FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument(
    "results_dir", type=click.Path(exists=True, file_okay=False, path_type=Path), default=options.OUT
)
@click.option("--html", type=FILE, help="The page; report.html beside the results if no file is named.")
@click.option("--markdown", "text", type=FILE, help="The same as Markdown.")
@click.option("--plots", type=click.Path(file_okay=False, path_type=Path), help="Where its plots go.")
@click.option("--reasons", type=FILE, default=REASONS, help="Why cases are lost: TOML, see the one shipped.")
def command(
    results_dir: Path, html: Path | None, text: Path | None, plots: Path | None, reasons: Path
) -> None:
    """One page of any set of results: what is lost first, then tables and plots, nothing from elsewhere."""
    gathered = gather(results_dir)
    if not gathered.results and not gathered.outcomes:
        raise click.ClickException(
            f"no results in {results_dir}; measure something: kproto bench all --quick"
        )
    try:
        known = story.read_reasons(reasons.read_text())
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        raise click.UsageError(f"{reasons} holds no reasons: {problem}") from problem
    found = story.findings(gathered.results, known)
    if html is None and text is None:
        html = results_dir / "report.html"
    if html is not None:
        html.parent.mkdir(parents=True, exist_ok=True)
        html.write_text(page(gathered, found))
        click.echo(f"written: {html}")
    if text is not None:
        drawn = write_plots(gathered, plots) if plots is not None else {}
        text.parent.mkdir(parents=True, exist_ok=True)
        text.write_text(markdown(gathered, found, relative(drawn, text.parent)))
        click.echo(f"written: {text}")
    lost, missed = story.by_case(story.lost(found)), story.missed(found)
    click.echo(f"lost to Apache Kafka: {len(lost)} cases; targets missed: {len(missed)}")


def drawn_of(result: Result, directory: Path) -> dict[Path, Group]:
    """The plots of a result, one file for each kind; time series are for the page alone."""
    drawn = [group for group in groups(result) if group.title != OVER_TIME]
    return {directory / f"{story.anchor(result)}-{number}.svg": group for number, group in enumerate(drawn)}


def write_plots(gathered: Gathered, directory: Path) -> dict[str, list[Path]]:
    """Draw them all; anchor of a result -> its files."""
    found: dict[str, list[Path]] = {}
    for result in gathered.results:
        plots = drawn_of(result, directory)
        for path, group in plots.items():
            drawing.write(group, f"{result.title}: {group.title.lower()}", path)
        found[story.anchor(result)] = list(plots)
    return found


def relative(plots: Mapping[str, Sequence[Path]], directory: Path) -> dict[str, list[str]]:
    """As a document in that directory names them."""
    return {name: [os.path.relpath(path, directory) for path in some] for name, some in plots.items()}
