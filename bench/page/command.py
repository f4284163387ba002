"""`kproto bench report`: the page of a directory of results, and the same for docs/."""

from __future__ import annotations

import os
from pathlib import Path

import click

from bench import options
from bench.page import drawing, story
from bench.page.gathered import Gathered, gather
from bench.page.html import page
from bench.page.markdown import markdown
from bench.page.panels import OVER_TIME, groups

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
    found = story.findings(gathered.results, story.read_reasons(reasons.read_text()))
    if html is None and text is None:
        html = results_dir / "report.html"
    if html is not None:
        html.parent.mkdir(parents=True, exist_ok=True)
        html.write_text(page(gathered, found))
        click.echo(f"written: {html}")
    if text is not None:
        paths = write_plots(gathered, plots) if plots is not None else {}
        text.parent.mkdir(parents=True, exist_ok=True)
        relative = {
            name: [os.path.relpath(path, text.parent) for path in some] for name, some in paths.items()
        }
        text.write_text(markdown(gathered, found, relative))
        click.echo(f"written: {text}")
    lost, missed = story.by_case(story.lost(found)), story.missed(found)
    click.echo(f"lost to Apache Kafka: {len(lost)} cases; targets missed: {len(missed)}")


def write_plots(gathered: Gathered, directory: Path) -> dict[str, list[Path]]:
    """Anchor of a result -> its plots, one file for each kind; time series are for the page alone."""
    found: dict[str, list[Path]] = {}
    for result in gathered.results:
        name = story.anchor(result)
        drawn = [group for group in groups(result) if group.title != OVER_TIME]
        found[name] = [directory / f"{name}-{number}.svg" for number in range(len(drawn))]
        for group, path in zip(drawn, found[name], strict=True):
            drawing.write(group, f"{result.title}: {group.title.lower()}", path)
    return found
