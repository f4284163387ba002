"""The lines that write one message at one version: the mirror of ``parse_code``.

Runs of fixed-size fields, with the length or the empty tag section behind them, become one ``pack``.
"""

from kproto.wire.generator.code import Code
from kproto.wire.generator.schema import FIXED, Field, Message, Struct


class WriteCode:
    """Body of a function ``(m, out) -> None`` that appends to the bytearray ``out``."""

    def __init__(self, message: Message, version: int, used: set[tuple[str, str]]) -> None:
        self.message = message
        self.version = version
        self.flexible = version in message.flexible
        self.code = Code(used)
        self.out = "out"

    def body(self) -> str:
        self._struct(self.message.root, "m", 1)
        self._flush()
        if not self.code.lines:
            self.code.line("pass")
        return "\n".join(self.code.lines)

    def _flush(self) -> None:
        code = self.code
        if not code.run:
            return
        letters, names, _size = code.take_run()
        if letters == "x":
            code.line(f"{self.out}.append(0)")
        elif letters == "U":
            code.line(f"{self.out} += {code.call('p', letters)}({names[0]})")
        else:
            code.line(f"{self.out} += {code.call('p', letters)}({', '.join(names)})")

    def _struct(self, struct: Struct, obj: str, depth: int) -> None:
        tagged = []
        for f in struct.fields:
            if not f.present(self.version):
                continue
            if f.tagged_in(self.version):
                tagged.append(f)
            else:
                self._field(f, f"{obj}.{f.name}", depth)
        if self.flexible:
            self._tags(tagged, obj, depth)

    def _field(self, f: Field, value: str, depth: int) -> None:
        if f.array:
            self._array(f, value, depth)
        elif f.type in FIXED:
            self.code.run.append((FIXED[f.type], value))
        elif f.struct is not None:
            self._single_struct(f, value, depth)
        else:
            self._sized(f.type, value, self.version in f.nullable)

    def _single_struct(self, f: Field, value: str, depth: int) -> None:
        code = self.code
        assert f.struct is not None
        nullable = self.version in f.nullable
        self._flush()
        code.line(f"m{depth} = {value}")
        if nullable:
            code.open(f"if m{depth} is None:")
            code.line(f"{self.out}.append(255)")
            code.close()
            code.open("else:")
            code.line(f"{self.out}.append(1)")
        self._struct(f.struct, f"m{depth}", depth + 1)
        if nullable:
            self._flush()
            code.close()

    def _length(self, letter: str) -> None:
        """Write ``n`` (already one higher if flexible) as a length, together with the open run."""
        code = self.code
        if not self.flexible:
            code.run.append((letter, "n"))
            self._flush()
            return
        saved = list(code.run)
        code.open("if n < 128:")
        if saved:
            code.run.append(("B", "n"))
            self._flush()
        else:
            code.line(f"{self.out}.append(n)")
        code.close()
        code.open("else:")
        code.run = saved
        self._flush()
        code.line(f"uvarint({self.out}, n)")
        code.close()

    def _sized(self, kind: str, value: str, nullable: bool) -> None:
        code = self.code
        count = "len(b) + 1" if self.flexible else "len(b)"
        encode = ".encode()" if kind == "string" else ""
        if nullable:
            code.line(f"b = {value}")
            code.open("if b is None:")
            code.line('b = b""')
            code.line("n = 0" if self.flexible else "n = -1")
            code.close()
            code.open("else:")
            if encode:
                code.line("b = b.encode()")
            code.line(f"n = {count}")
            code.close()
        else:
            code.line(f"b = {value}{encode}")
            code.line(f"n = {count}")
        self._length("h" if kind == "string" else "i")
        code.line(f"{self.out} += b")

    def _array(self, f: Field, value: str, depth: int) -> None:
        code = self.code
        name = f"a{depth}"
        code.line(f"{name} = {value}")
        count = f"len({name}) + 1" if self.flexible else f"len({name})"
        if self.version in f.nullable:
            code.open(f"if {name} is None:")
            code.line(f"{name} = ()")
            code.line("n = 0" if self.flexible else "n = -1")
            code.close()
            code.open("else:")
            code.line(f"n = {count}")
            code.close()
        else:
            code.line(f"n = {count}")
        self._length("i")
        self._elements(f, name, depth)

    def _elements(self, f: Field, name: str, depth: int) -> None:
        code = self.code
        if f.type in FIXED and f.type != "uuid":
            code.line(f'{self.out} += pack(f">{{len({name})}}{FIXED[f.type]}", *{name})')
            return
        code.open(f"for m{depth} in {name}:")
        if f.type == "uuid":
            code.line(f"{self.out} += {code.call('p', 'U')}(m{depth})")
        elif f.struct is None:
            self._sized(f.type, f"m{depth}", False)
        else:
            self._struct(f.struct, f"m{depth}", depth + 1)
            self._flush()
        code.close()

    def _tags(self, tagged: list[Field], obj: str, depth: int) -> None:
        code = self.code
        if not tagged:
            code.run.append(("x", ""))
            return
        tagged = sorted(tagged, key=lambda f: f.tag)
        tests = [self._differs(f, f"{obj}.{f.name}") for f in tagged]
        code.line("n = " + " + ".join(f"({test})" for test in tests))
        code.run.append(("B", "n"))
        self._flush()
        code.open("if n:")
        outer = self.out
        for f, test in zip(tagged, tests, strict=True):
            code.open(f"if {test}:")
            self.out = f"t{depth}"
            code.line(f"{self.out} = bytearray()")
            self._field(f, f"{obj}.{f.name}", depth)
            self._flush()
            self.out = outer
            code.line(f"uvarint({outer}, {f.tag})")
            code.line(f"uvarint({outer}, len(t{depth}))")
            code.line(f"{outer} += t{depth}")
            code.close()
        code.close()

    def _differs(self, f: Field, value: str) -> str:
        default = f.default_code()
        return f"{value} is not None" if default == "None" else f"{value} != {default}"
