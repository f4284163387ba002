"""Kafka's message definitions as plain classes.

The format is described in Kafka's ``clients/src/main/resources/common/message/README.md``.
"""

import json
import keyword
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field

FIXED = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
    "uuid": "U",
}
"""Type -> letter of :mod:`struct`; ``U`` stands for ``16s``."""
SIZES = {"?": 1, "b": 1, "B": 1, "x": 1, "h": 2, "H": 2, "i": 4, "I": 4, "q": 8, "d": 8, "U": 16}
PYTHON_TYPES = {
    "bool": "bool",
    "float64": "float",
    "uuid": "bytes",
    "string": "str",
    "bytes": "bytes",
    "records": "memoryview",
}


def snake(name: str) -> str:
    """``TopicId`` -> ``topic_id``; a keyword gets an underscore behind."""
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)).lower()
    return name + "_" if keyword.iskeyword(name) else name


@dataclass(frozen=True)
class Versions:
    """An inclusive range; ``low > high`` is the empty one."""

    low: int
    high: int

    def __contains__(self, version: int) -> bool:
        return self.low <= version <= self.high

    @staticmethod
    def parse(text: str | None) -> "Versions":
        """``"3"``, ``"3-13"``, ``"3+"`` or ``"none"``."""
        if not text or text == "none":
            return Versions(1, 0)
        low, _, high = text.rstrip("+").partition("-")
        if text.endswith("+"):
            return Versions(int(low), 32767)
        return Versions(int(low), int(high or low))


@dataclass
class Struct:
    """One class of the generated module."""

    name: str
    versions: Versions
    fields: list["Field"] = field(default_factory=list)

    def min_size(self, version: int, flexible: bool) -> int:
        """The least number of bytes an instance takes: bounds how many an honest frame can hold."""
        size = sum(
            f.min_size(version, flexible)
            for f in self.fields
            if f.present(version) and not f.tagged_in(version)
        )
        return size + 1 if flexible else size


@dataclass
class Field:
    """One field of a struct; ``type`` is that of the element for an array."""

    name: str
    type: str
    array: bool
    struct: Struct | None
    versions: Versions
    nullable: Versions
    tagged: Versions
    tag: int
    default: object
    has_default: bool

    def present(self, version: int) -> bool:
        return version in self.versions

    def tagged_in(self, version: int) -> bool:
        return version in self.tagged

    @property
    def ever_nullable(self) -> bool:
        return self.nullable.low <= self.nullable.high

    @property
    def optional_struct(self) -> bool:
        """A tagged struct that cannot be null: None stands for "not sent" and spares a default object."""
        return self.struct is not None and not self.array and self.tagged.low <= self.tagged.high

    def min_size(self, version: int, flexible: bool) -> int:
        if self.array:
            return 1 if flexible else 4
        if self.type in FIXED:
            return SIZES[FIXED[self.type]]
        if self.struct is not None:
            return 1 if version in self.nullable else self.struct.min_size(version, flexible)
        return 1 if flexible else (2 if self.type == "string" else 4)

    def default_code(self) -> str:
        """The default as Python source; ``[]`` for an array, ``Name()`` for a struct that must be there."""
        if self.optional_struct or (self.has_default and self.default in (None, "null")):
            return "None"
        if self.array:
            return "[]"
        if self.struct is not None:
            return f"{self.struct.name}()"
        if self.type == "uuid":
            return "ZERO_UUID"
        text = "" if self.default is None else str(self.default)
        if self.type == "string":
            return repr(text)
        if self.type == "bool":
            return str(text.lower() == "true")
        if self.type == "float64":
            return repr(float(text or 0))
        if self.type == "bytes":
            return 'b""'
        return "None" if self.type == "records" else str(int(text or "0", 0))

    def annotation(self) -> str:
        base = self.struct.name if self.struct is not None else PYTHON_TYPES.get(self.type, "int")
        if self.array:
            base = f"list[{base}]"
        null = self.ever_nullable or self.optional_struct or self.default_code() == "None"
        return f"{base} | None" if null else base


@dataclass
class Message:
    """A request, response or data schema: its own struct first, then the nested ones."""

    kind: str
    name: str
    api_key: int
    valid: Versions
    flexible: Versions
    unstable: bool
    structs: list[Struct]

    @property
    def root(self) -> Struct:
        return self.structs[0]

    def has_records(self) -> bool:
        return any(f.type == "records" for s in self.structs for f in s.fields)


def _field(raw: dict[str, object], structs: dict[str, Struct]) -> Field:
    kind = str(raw["type"])
    array = kind.startswith("[]")
    kind = kind.removeprefix("[]")
    tagged = Versions.parse(raw.get("taggedVersions"))  # type: ignore[arg-type]
    versions = Versions.parse(raw["versions"]) if "versions" in raw else tagged  # type: ignore[arg-type]
    struct = None
    if kind[0].isupper():
        struct = structs.get(kind) or _struct(kind, raw, structs)
    return Field(
        name=snake(str(raw["name"])),
        type=kind,
        array=array,
        struct=struct,
        versions=versions,
        nullable=Versions.parse(raw.get("nullableVersions")),  # type: ignore[arg-type]
        tagged=tagged,
        tag=int(str(raw.get("tag", -1))),
        default=raw.get("default"),
        has_default="default" in raw,
    )


def _struct(name: str, raw: dict[str, object], structs: dict[str, Struct]) -> Struct:
    struct = Struct(name, Versions.parse(raw.get("versions", "0+")))  # type: ignore[arg-type]
    structs[name] = struct
    struct.fields = [_field(f, structs) for f in raw["fields"]]  # type: ignore[attr-defined]
    return struct


def parse_message(text: str) -> Message | None:
    """One JSON file (with ``//`` comments); None for a schema that has no version left."""
    raw = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))
    valid = Versions.parse(raw["validVersions"])
    if valid.low > valid.high:
        return None
    structs: dict[str, Struct] = {}
    root = Struct(raw["name"], valid)
    structs[root.name] = root
    common = {c["name"]: c for c in raw.get("commonStructs", [])}
    for name, definition in common.items():
        structs[name] = Struct(name, Versions.parse(definition.get("versions", "0+")))
    for name, definition in common.items():
        structs[name].fields = [_field(f, structs) for f in definition["fields"]]
    root.fields = [_field(f, structs) for f in raw["fields"]]
    return Message(
        kind=raw["type"],
        name=raw["name"],
        api_key=raw.get("apiKey", -1),
        valid=valid,
        flexible=Versions.parse(raw["flexibleVersions"]),
        unstable=raw.get("latestVersionUnstable", False),
        structs=list(structs.values()),
    )


def read_jars(jars: Iterable[str]) -> dict[str, Message]:
    """All message schemas inside ``jars``, by name. Raises OSError or zipfile.BadZipFile for a bad path."""
    messages = {}
    for jar in jars:
        with zipfile.ZipFile(jar) as archive:
            for path in sorted(archive.namelist()):
                if path.startswith("common/message/") and path.endswith(".json"):
                    message = parse_message(archive.read(path).decode())
                    if message is not None:
                        messages[message.name] = message
    return messages
