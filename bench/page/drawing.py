"""Panels as SVG: one by one for the page, in the colour of its text; a whole group in one file for docs/."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from bench.page.panels import Group, Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH: Final = 4.0
INK: Final = "#010203"
"""Stands for the colour of the page's text, whatever that is."""
PAPER_INK: Final = "#22262b"
TITLE_WIDTH: Final = 44
"""Characters of a line of a panel's title."""
ACROSS: Final = 3
"""Panels side by side in a file."""


@contextmanager
def _style(ink: str) -> Iterator[None]:
    import matplotlib

    matplotlib.use("Agg")
    names = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "grid.color")
    settings: dict[Any, Any] = {
        **dict.fromkeys(names, ink),
        "svg.fonttype": "none",
        "svg.hashsalt": "kproto",
        "text.parse_math": False,
        "font.size": 9,
        "axes.titlesize": 9.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": 0.6,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "grid.alpha": 0.18,
        "grid.linewidth": 0.6,
        "axes.axisbelow": True,
    }
    with matplotlib.rc_context(settings):
        yield


def _finish(axes: Axes, panel: Panel) -> None:
    panel.draw(axes)
    axes.set_title("\n".join(line for text in panel.title.split("\n") for line in wrap(text, TITLE_WIDTH)))
    if axes.get_ylabel() and panel.title.endswith(axes.get_ylabel()):
        axes.set_ylabel("")


def inline(panel: Panel) -> str:
    """An `svg` element for a page: transparent, text in the page's colour, nothing from elsewhere."""
    from matplotlib.figure import Figure

    with _style(INK):
        figure = Figure(figsize=(WIDTH, panel.height), layout="constrained")
        figure.patch.set_visible(False)
        axes = figure.add_subplot()
        axes.patch.set_visible(False)
        _finish(axes, panel)
        target = io.StringIO()
        figure.savefig(target, format="svg", metadata={"Date": None})
    return embedded(target.getvalue())


def embedded(svg: str) -> str:
    """A whole SVG file as an element: no prologue, metadata, name spaces or ids that others may have, too;
    numbers with one digit behind the point, which nobody can see."""
    found = svg[svg.index("<svg") :]
    for needless in (
        r"<metadata>.*?</metadata>",
        r"<!--.*?-->",
        r"<style .*?</style>",
        r' (?:xmlns(?::\w+)?|version)="[^"]*"',
        r'(?<=<g) id="[^"]*"',
        r' transform="rotate\(-?0 [^"]*"',
    ):
        found = re.sub(needless, "", found, flags=re.DOTALL)
    found = re.sub(r'(?<= d=")[^"]*|(?<= [xy]=")[^"]*', lambda place: _rounded(place[0]), found)
    found = re.sub(r"'DejaVu Sans'[^;\"]*", "system-ui, sans-serif", found)
    found = re.sub(r"\n\s*", "\n", found)
    return found.replace(INK, "currentColor").strip()


def _rounded(coordinates: str) -> str:
    shorter = re.sub(r"(-?\d+\.\d)\d+", r"\1", coordinates)
    return re.sub(r"\s+", " ", shorter).strip()


def write(group: Group, title: str, path: Path, most: int = 12) -> None:
    """The panels of a group in one SVG file on white, at most so many."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    chosen: Sequence[Panel] = group.panels[:most]
    across = min(ACROSS, len(chosen))
    rows = [chosen[start : start + across] for start in range(0, len(chosen), across)]
    heights = [max(panel.height for panel in row) for row in rows]
    with _style(PAPER_INK):
        figure = Figure(figsize=(WIDTH * across, sum(heights) + 0.7), layout="constrained", facecolor="white")
        grid = figure.add_gridspec(len(rows), across, height_ratios=heights)
        for number, panel in enumerate(chosen):
            _finish(figure.add_subplot(grid[divmod(number, across)]), panel)
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
        if group.legend:
            handles = [
                Line2D([], [], color=colour, lw=3, label=name) for name, colour in group.legend.items()
            ]
            figure.legend(handles=handles, loc="outside lower left", ncols=4, frameon=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
