"""The report: one page of any set of results, and the same for docs/.

    command.py    `kproto bench report`: which files in, which out
    gathered.py   the results of a directory, what failed, where all was measured
    story.py      what is lost, what is missed, by how much, and why (reasons.toml): pure
    panels.py     what is drawn: ratios, lines, percentiles, time series
    drawing.py    matplotlib: a panel as SVG for the page, panels of a result as a file
    html.py       the page; style.css belongs to it
    markdown.py   the same for docs/
    reasons.toml  hand-written: why a case is lost

May import the standard library, click, matplotlib, `bench.results` and `bench.tables`, `command` also
`bench.options`. `story` and `panels` read and write no files.
"""
