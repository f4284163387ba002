"""The lines that parse one message at one version.

Nested structs are parsed in line, loop in loop, so that a message costs one function call. Fixed-size
fields that follow each other, and the length or first varint byte behind them, are read by one
``unpack_from``. Slices are not checked one by one: positions only grow, so the caller's single test "end of
message <= end of buffer" finds every overrun.
"""

from kproto.wire.generator.code import Code
from kproto.wire.generator.schema import FIXED, SIZES, Field, Message, Struct


class ParseCode:
    """Body of a function ``(buf, pos) -> (message, end)``."""

    def __init__(self, message: Message, version: int, used: set[tuple[str, str]]) -> None:
        self.message = message
        self.version = version
        self.flexible = version in message.flexible
        self.code = Code(used)

    def body(self) -> str:
        code = self.code
        code.line("size = len(buf)")
        code.line("left = MAX_REQUEST_ELEMENTS" if self.message.kind == "request" else "left = MAX_ELEMENTS")
        code.line(f"m = new({self.message.root.name})")
        self._struct(self.message.root, "m", 1)
        self._flush()
        code.line("return m, pos")
        if not any("size - pos" in line for line in code.lines):
            del code.lines[:2]
        return "\n".join(code.lines)

    def _flush(self) -> None:
        code = self.code
        if not code.run:
            return
        letters, names, size = code.take_run()
        if letters == "B":
            code.line(f"{names[0]} = buf[pos]")
        elif letters == "?":
            code.line(f"{names[0]} = buf[pos] != 0")
        elif letters == "U":
            code.line(f"{names[0]} = bytes(buf[pos:pos + 16])")
        elif len(names) == 1:
            code.line(f"{names[0]} = {code.call('u', letters)}(buf, pos)[0]")
        else:
            code.line(f"{', '.join(names)} = {code.call('u', letters)}(buf, pos)")
        code.line(f"pos += {size}")

    def _struct(self, struct: Struct, obj: str, depth: int) -> None:
        """Parse into ``obj``; may leave a run open."""
        tagged = []
        for f in struct.fields:
            if f.present(self.version) and not f.tagged_in(self.version):
                self._field(f, obj, depth)
                continue
            self._flush()
            self.code.line(f"{obj}.{f.name} = {f.default_code()}")
            if f.present(self.version):
                tagged.append(f)
        if self.flexible:
            self._tags(tagged, obj, depth)

    def _field(self, f: Field, obj: str, depth: int) -> None:
        target = f"{obj}.{f.name}"
        if f.array:
            self._array(f, target, depth)
        elif f.type in FIXED:
            self.code.run.append((FIXED[f.type], target))
        elif f.struct is not None:
            self._single_struct(f, target, depth)
        else:
            self._sized(f.type, target, self.version in f.nullable)

    def _single_struct(self, f: Field, target: str, depth: int) -> None:
        code = self.code
        assert f.struct is not None
        nullable = self.version in f.nullable
        if nullable:
            code.run.append(("b", "n"))
            self._flush()
            code.open("if n < 0:")
            code.line(f"{target} = None")
            code.close()
            code.open("else:")
        self._flush()
        code.line(f"{target} = m{depth} = new({f.struct.name})")
        self._struct(f.struct, f"m{depth}", depth + 1)
        if nullable:
            self._flush()
            code.close()

    def _length(self, letter: str) -> str:
        """Read a length into ``n``, one too high if flexible; the condition under which it is not null."""
        code = self.code
        code.run.append(("B" if self.flexible else letter, "n"))
        self._flush()
        if self.flexible:
            code.open("if n > 127:")
            code.line("n, pos = more(buf, pos, n)")
            code.close()
            return "if n:"
        return "if n >= 0:"

    def _null(self, target: str, nullable: bool) -> None:
        """The branch for a length that says "null"."""
        code = self.code
        if nullable and self.flexible:
            code.open("else:")
            code.line(f"{target} = None")
        elif nullable:
            code.open("elif n == -1:")
            code.line(f"{target} = None")
            code.close()
            code.open("else:")
            code.line(f"raise bad_length({self._label(target)})")
        else:
            code.open("else:")
            code.line(f"raise bad_length({self._label(target)})")
        code.close()

    def _label(self, target: str) -> str:
        return repr(f"{self.message.name}.{target.rpartition('.')[2]}")

    def _slice(self, kind: str) -> str:
        return {
            "string": 'str(buf[pos:end], "utf-8")',
            "bytes": "bytes(buf[pos:end])",
            "records": "buf[pos:end]",
        }[kind]

    def _sized(self, kind: str, target: str, nullable: bool) -> None:
        code = self.code
        code.open(self._length("h" if kind == "string" else "i"))
        code.line("end = pos + n - 1" if self.flexible else "end = pos + n")
        code.line(f"{target} = {self._slice(kind)}")
        code.line("pos = end")
        code.close()
        self._null(target, nullable)

    def _element_size(self, f: Field) -> int:
        if f.struct is not None:
            return max(1, f.struct.min_size(self.version, self.flexible))
        if f.type in FIXED:
            return SIZES[FIXED[f.type]]
        return 1 if self.flexible else (2 if f.type == "string" else 4)

    def _array(self, f: Field, target: str, depth: int) -> None:
        code = self.code
        code.open(self._length("i"))
        if self.flexible:
            code.line("n -= 1")
        size = self._element_size(f)
        code.line("left -= n")
        code.open(f"if left < 0 or n{'' if size == 1 else f' * {size}'} > size - pos:")
        code.line(f"raise bad_count({self._label(target)}, n)")
        code.close()
        self._elements(f, target, depth)
        code.close()
        self._null(target, self.version in f.nullable)

    def _elements(self, f: Field, target: str, depth: int) -> None:
        code = self.code
        if f.type == "uuid":
            code.line("end = pos + 16 * n")
            code.line(f"{target} = [bytes(buf[p:p + 16]) for p in range(pos, end, 16)]")
            code.line("pos = end")
        elif f.type in FIXED:
            letter = FIXED[f.type]
            code.line(f'{target} = list(unpack_from(f">{{n}}{letter}", buf, pos))')
            code.line("pos += n" if SIZES[letter] == 1 else f"pos += {SIZES[letter]} * n")
        elif f.struct is None:
            code.line(f"{target} = a{depth} = []")
            code.open("for _ in range(n):")
            self._sized(f.type, "s", False)
            code.line(f"a{depth}.append(s)")
            code.close()
        else:
            code.line(f"{target} = a{depth} = []")
            code.open("for _ in range(n):")
            code.line(f"m{depth} = new({f.struct.name})")
            code.line(f"a{depth}.append(m{depth})")
            self._struct(f.struct, f"m{depth}", depth + 1)
            self._flush()
            code.close()

    def _tags(self, tagged: list[Field], obj: str, depth: int) -> None:
        code = self.code
        code.run.append(("B", "n"))
        self._flush()
        code.open("if n:")
        if not tagged:
            code.line("pos = skip_tags(buf, pos, n)")
            code.close()
            return
        code.open("if n > 127:")
        code.line("n, pos = count_tags(buf, pos, n)")
        code.close()
        code.open("for _ in range(n):")
        code.line(f"tag{depth}, pos = read_uvarint(buf, pos)")
        code.line("n, pos = read_uvarint(buf, pos)")
        code.line(f"end{depth} = pos + n")
        word = "if"
        for f in sorted(tagged, key=lambda f: f.tag):
            code.open(f"{word} tag{depth} == {f.tag}:")
            self._field(f, obj, depth)
            self._flush()
            code.open(f"if pos != end{depth}:")
            code.line(f"raise bad_tag({self._label(f.name)})")
            code.close()
            code.close()
            word = "elif"
        code.open("else:")
        code.line(f"pos = end{depth}")
        code.close()
        code.close()
        code.close()
