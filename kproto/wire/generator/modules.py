"""Puts one generated module together: classes, functions (shared by versions of equal layout), tables."""

import re

from kproto.wire.generator.code import call_name, struct_format
from kproto.wire.generator.parse_code import ParseCode
from kproto.wire.generator.schema import Field, Message, Struct, snake
from kproto.wire.generator.write_code import WriteCode

HELPERS = (
    "EMPTY",
    "MAX_ELEMENTS",
    "MAX_REQUEST_ELEMENTS",
    "ZERO_UUID",
    "Buf",
    "WireStruct",
    "bad_count",
    "bad_length",
    "bad_tag",
    "count_tags",
    "more",
    "new",
    "read_uvarint",
    "skip_tags",
    "uvarint",
)


def class_code(struct: Struct) -> str:
    """A class with ``__slots__``, annotations and a constructor that knows the defaults."""
    lines = [f"class {struct.name}(WireStruct):"]
    lines.append(f"    __slots__ = ({''.join(repr(f.name) + ', ' for f in struct.fields).rstrip()})")
    lines += [f"    {f.name}: {f.annotation()}" for f in struct.fields]
    if struct.fields:
        lines.append("")
        lines.append("    def __init__(")
        lines.append("        self,")
        lines += [f"        {_parameter(f)}," for f in struct.fields]
        lines.append("    ) -> None:")
        lines += [f"        {_assignment(f)}" for f in struct.fields]
    return "\n".join(lines)


def _fresh(f: Field) -> bool:
    """Whether each object needs a default of its own."""
    return f.default_code().endswith(("()", "[]"))


def _parameter(f: Field) -> str:
    return f"{f.name}: {f.annotation()} = {'EMPTY' if _fresh(f) else f.default_code()}"


def _assignment(f: Field) -> str:
    if _fresh(f):
        return f"self.{f.name} = {f.default_code()} if {f.name} is EMPTY else {f.name}"
    return f"self.{f.name} = {f.name}"


def _functions(message: Message, prefix: str, used: set[tuple[str, str]]) -> str:
    """Parse and write functions and the two tables version -> function."""
    parts = []
    root = message.root.name
    for kind, emitter, head in (
        ("parse", ParseCode, f"(buf: Buf, pos: int) -> tuple[{root}, int]:"),
        ("write", WriteCode, f"(m: {root}, out: bytearray) -> None:"),
    ):
        bodies: dict[str, str] = {}
        table = []
        for version in range(message.valid.low, message.valid.high + 1):
            body = emitter(message, version, used).body()
            name = bodies.get(body)
            if name is None:
                name = bodies[body] = f"{kind}{prefix}_v{version}"
                parts.append(f"def {name}{head}\n{body}\n")
            table.append(f"    {version}: {name},")
        parts.append("\n".join([f"{kind.upper()}{prefix.upper()} = {{", *table, "}", ""]))
    return "\n\n".join(parts)


def _ordered(message: Message) -> list[Struct]:
    """Nested structs before the ones that hold them."""
    done: list[Struct] = []

    def visit(struct: Struct) -> None:
        for f in struct.fields:
            if f.struct is not None and f.struct not in done:
                visit(f.struct)
        done.append(struct)

    visit(message.root)
    return done


def _separate(request: Message, response: Message) -> None:
    """Structs named alike in a request and its response get the prefix Request or Response."""
    names = {s.name for s in request.structs} & {s.name for s in response.structs}
    for message, prefix in ((request, "Request"), (response, "Response")):
        for struct in message.structs:
            if struct.name in names:
                struct.name = prefix + struct.name


def module_code(title: str, parts: list[tuple[str, Message]]) -> str:
    """The source of one module; ``parts`` are (suffix of its functions, message)."""
    used: set[tuple[str, str]] = set()
    text = []
    for suffix, message in parts:
        text += [class_code(struct) + "\n" for struct in _ordered(message)]
        text.append(_functions(message, suffix, used))
    body = "\n\n".join(text)
    head = [f'"""{title}. Written by kproto.wire.generator: do not edit."""', ""]
    calls = ["Struct"] if used else []
    calls += [name for name in ("pack", "unpack_from") if f"{name}(f" in body]
    if calls:
        head += [f"from struct import {', '.join(calls)}", ""]
    words = set(re.findall(r"\w+", body))
    helpers = [name for name in HELPERS if name in words]
    head += ["from kproto.wire.primitives import (", *(f"    {name}," for name in helpers), ")", ""]
    for prefix, letters in sorted(used):
        attribute = "pack" if prefix == "p" else "unpack_from"
        head.append(f'{call_name(prefix, letters)} = Struct("{struct_format(letters)}").{attribute}')
    return "\n".join(head).rstrip("\n") + "\n\n\n" + body.rstrip("\n") + "\n"


def api_modules(messages: dict[str, Message]) -> dict[str, str]:
    """File name -> source for every API, and the index."""
    files = {}
    index = []
    for name, request in sorted(messages.items(), key=lambda item: item[1].api_key):
        if request.kind != "request":
            continue
        api = name.removesuffix("Request")
        response = messages[api + "Response"]
        _separate(request, response)
        title = f"{api}: API key {request.api_key}, versions {request.valid.low}-{request.valid.high}"
        files[f"{snake(api)}.py"] = module_code(title, [("_request", request), ("_response", response)])
        flexible = request.flexible.low if request.flexible.low <= request.flexible.high else 32767
        index.append(
            f"    {request.api_key}: ({snake(api)!r}, {api!r}, {request.valid.low}, {request.valid.high}, "
            f"{flexible}, "
            f"{request.unstable}, {request.has_records()}, {response.has_records()}),"
        )
    files["__init__.py"] = "\n".join(
        [
            '"""One module per API, and their index. They import ``wire.primitives`` alone.',
            "",
            'Written by kproto.wire.generator: do not edit."""',
            "",
            "# key: (module, name, first version, last version, first flexible version,",
            "#       last version is unstable, records in the request, records in the response)",
            "APIS: dict[int, tuple[str, str, int, int, int, bool, bool, bool]] = {",
            *index,
            "}",
            "",
        ]
    )
    return files


def data_modules(messages: dict[str, Message], names: tuple[str, ...]) -> dict[str, str]:
    """File name -> source for schemas that stand alone."""
    files = {}
    for name in names:
        message = messages[name]
        title = f"{name}: versions {message.valid.low}-{message.valid.high}"
        files[f"{snake(name)}.py"] = module_code(title, [("", message)])
    return files
