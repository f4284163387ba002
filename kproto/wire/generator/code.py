"""Lines of Python under construction, and runs of fixed-size fields that become one struct call."""

from kproto.wire.generator.schema import SIZES


def call_name(prefix: str, letters: str) -> str:
    """The name of the pack or unpack function for a run: ``p_ihq``, ``u_iB`` (``t`` stands for ``?``)."""
    return f"{prefix}_{letters.replace('?', 't')}"


def struct_format(letters: str) -> str:
    """The format of :mod:`struct` for a run."""
    return ">" + letters.replace("U", "16s")


class Code:
    """Collects indented lines; ``used`` collects the struct calls the lines need."""

    def __init__(self, used: set[tuple[str, str]]) -> None:
        self.lines: list[str] = []
        self.level = 1
        self.used = used
        self.run: list[tuple[str, str]] = []

    def line(self, text: str) -> None:
        self.lines.append("    " * self.level + text)

    def open(self, text: str) -> None:
        """A line that begins a block."""
        self.line(text)
        self.level += 1

    def close(self) -> None:
        self.level -= 1

    def take_run(self) -> tuple[str, list[str], int]:
        """End the run: (letters, expressions, bytes)."""
        letters = "".join(letter for letter, _ in self.run)
        names = [name for letter, name in self.run if letter != "x"]
        self.run = []
        return letters, names, sum(SIZES[letter] for letter in letters)

    def call(self, prefix: str, letters: str) -> str:
        self.used.add((prefix, letters))
        return call_name(prefix, letters)
