"""``kproto dump-log``: what lies in a data directory: streamlets, groups, segments, chunks; and the journal.

Reads files only, also beside a running broker (then what is still in memory and in the journal is not in
segment files yet; a stopped broker has written everything). What such a broker removes or renames after it
was listed is left out. The metadata is read from a copy, because the broker holds its file exclusively.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from kproto.cli.cluster import json_option
from kproto.directory import IDENTITY_FILE
from kproto.disk import Disk
from kproto.log.files import SegmentName, parse_name, partition_directory
from kproto.metadata.opening import SQLITE_FILE

if TYPE_CHECKING:
    from kproto.metadata import MetadataImage, TopicRecord

COPIES_MOST: Final = 10
STREAMLET_COLUMNS: Final = ("topic", "streamlet", "partitions", "leader", "leader epoch", "replicas")
SEGMENT_COLUMNS: Final = (
    "topic",
    "streamlet",
    "partition",
    "group",
    "segment",
    "first offset",
    "next offset",
    "chunks",
    "bytes",
    "leader epochs",
)
CHUNK_COLUMNS: Final = (
    "topic",
    "partition",
    "group",
    "segment",
    "position",
    "bytes",
    "base offset",
    "next offset",
    "records",
    "epoch",
    "producer",
    "sequence",
    "codec",
    "max time",
    "crc",
)
JOURNAL_COLUMNS: Final = (
    "file",
    "virtual log",
    "owner epoch",
    "virtual segment",
    "frames",
    "chunks",
    "bytes",
    "copies",
    "flush policy",
)


class _Segment(NamedTuple):
    topic: TopicRecord
    partition: int
    name: SegmentName
    path: str

    @property
    def place(self) -> dict[str, Any]:
        return {
            "topic": self.topic.name,
            "streamlet": self.partition // self.topic.active_groups,
            "partition": self.partition,
            "group": self.name.group_base,
            "segment": self.name.number,
        }


@click.command("dump-log")
@click.argument("data_dir", type=click.Path(exists=True, file_okay=False))
@click.option("--topic", "only_topic", metavar="NAME", help="Only this topic.")
@click.option("--partition", "only_partition", type=int, help="Only this partition.")
@click.option("--chunks", is_flag=True, help="A row for every chunk, its CRC verified.")
@click.option("--journal", is_flag=True, help="The virtual segments of the journal instead.")
@json_option
def dump_log(
    data_dir: str,
    only_topic: str | None,
    only_partition: int | None,
    chunks: bool,
    journal: bool,
    as_json: bool,
) -> None:
    """Show the streamlets, groups, segments and chunks stored in DATA_DIR."""
    from kproto.cli.output import print_json, print_rows, progress

    if not os.path.exists(os.path.join(data_dir, IDENTITY_FILE)):
        raise click.UsageError(f"{data_dir} is not the data directory of a broker")
    if journal and (chunks or only_topic is not None or only_partition is not None):
        raise click.UsageError(
            "--journal shows files of all topics, without --topic, --partition or --chunks"
        )
    if journal:
        print_rows(_journal_rows(data_dir), JOURNAL_COLUMNS, as_json=as_json, title="Journal")
        return
    image = _image(data_dir)
    topics = [t for name, t in sorted(image.topics.items()) if only_topic is None or name == only_topic]
    if only_topic is not None and not topics:
        raise click.ClickException(f"{only_topic}: no such topic in {data_dir}")
    if only_partition is not None and not any(0 <= only_partition < t.partitions for t in topics):
        raise click.ClickException(f"there is no partition {only_partition} of {only_topic or 'any topic'}")
    segments = list(_segments(data_dir, topics, only_partition))
    with progress("reading segments", len(segments)) as advance:
        rows: list[dict[str, Any]] = []
        for segment in segments:
            with _left_out_when_gone(segment.path):
                rows += _chunk_rows(segment) if chunks else [_segment_row(segment)]
            advance(1)
    streamlets = list(_streamlet_rows(image, topics))
    if as_json:
        print_json({"streamlets": streamlets, "chunks" if chunks else "segments": rows})
        return
    print_rows(streamlets, STREAMLET_COLUMNS, as_json=False, title="Streamlets")
    if chunks:
        print_rows(rows, CHUNK_COLUMNS, as_json=False, title="Chunks")
    else:
        print_rows(rows, SEGMENT_COLUMNS, as_json=False, title="Segments")


@contextmanager
def _left_out_when_gone(path: str) -> Iterator[None]:
    """Around what opens a file that was there a moment ago; one line says when it is not any more."""
    try:
        yield
    except FileNotFoundError:
        click.echo(f"kproto: {path}: gone meanwhile, and left out", err=True)


def _image(data_dir: str) -> MetadataImage:
    """The metadata image, read from a copy of the store."""
    import asyncio

    from kproto.metadata import StoreError
    from kproto.metadata.image import load_image
    from kproto.metadata.sqlite import SqliteStore

    async def read(path: str) -> MetadataImage:
        store = await SqliteStore.open(path)
        try:
            return load_image(*await store.range(""))
        finally:
            await store.close()

    with tempfile.TemporaryDirectory(prefix="kproto-dump-") as copy:
        if not _copied(data_dir, copy):
            message = f"{data_dir} has no metadata: another broker or etcd keeps it; --journal works here"
            raise click.ClickException(message)
        try:
            return asyncio.run(read(os.path.join(copy, SQLITE_FILE)))
        except StoreError as error:
            text = str(error).replace(copy, data_dir)  # what it is a copy of is damaged
            raise click.ClickException(text) from None


def _copied(data_dir: str, copy: str) -> bool:
    """Copy the store; whether there is one. A broker that runs moves its log into the file from time to time:
    a file of before that and a log of after it do not go together, and both are copied anew."""
    file = os.path.join(data_dir, SQLITE_FILE)
    for _ in range(COPIES_MOST):
        before = _touched(file)
        for name in os.listdir(data_dir):
            if name.startswith(SQLITE_FILE) and not name.endswith("-shm"):
                with suppress(FileNotFoundError):  # what is beside the file comes and goes
                    shutil.copy(os.path.join(data_dir, name), copy)
        if _touched(file) == before:
            return before is not None
    raise click.ClickException(f"{file} changes too often to be copied: try again")


def _touched(file: str) -> int | None:
    """When something was last written into it, in nanoseconds; None without a file."""
    try:
        return os.stat(file).st_mtime_ns
    except FileNotFoundError:
        return None


def _segments(data_dir: str, topics: list[TopicRecord], only: int | None) -> Iterator[_Segment]:
    """Segment files in order of topic, partition and offset."""
    disk = Disk()
    for topic in topics:
        for index in range(topic.partitions) if only is None else [only]:
            directory = partition_directory(data_dir, topic.topic_id, topic.active_groups, index)
            names = [(name, file) for file in disk.listdir(directory) if (name := parse_name(file))]
            for name, file in sorted(names):
                yield _Segment(topic, index, name, os.path.join(directory, file))


def _streamlet_rows(image: MetadataImage, topics: list[TopicRecord]) -> Iterator[dict[str, Any]]:
    for topic in topics:
        width = topic.active_groups
        for index in range((topic.partitions + width - 1) // width):
            record = image.streamlet(topic.topic_id, index)
            last = min((index + 1) * width, topic.partitions) - 1
            yield {
                "topic": topic.name,
                "streamlet": index,
                "partitions": f"{index * width}-{last}",
                "leader": record.leader,
                "leader epoch": record.leader_epoch,
                "replicas": list(record.replicas),
            }


def _segment_row(segment: _Segment) -> dict[str, Any]:
    from kproto.wire.batch import BatchHeader, hop

    with open(segment.path, "rb") as file:
        headers = [BatchHeader._make(fields) for _, _, fields in hop(file.read())]
    return segment.place | {
        "first offset": headers[0].base_offset if headers else segment.name.base_offset,
        "next offset": headers[-1].next_offset if headers else segment.name.base_offset,
        "chunks": len(headers),
        "bytes": sum(header.size for header in headers),
        "leader epochs": sorted({header.leader_epoch for header in headers}),
    }


def _chunk_rows(segment: _Segment) -> list[dict[str, Any]]:
    from kproto.wire.batch import BatchHeader, crc_of, hop
    from kproto.wire.compression import Codec

    with open(segment.path, "rb") as file:
        data = file.read()
    rows = []
    for position, size, fields in hop(data):
        header = BatchHeader._make(fields)
        row = segment.place | {
            "position": position,
            "bytes": size,
            "base offset": header.base_offset,
            "next offset": header.next_offset,
            "records": header.records,
            "epoch": header.leader_epoch,
            "producer": None if header.producer_id < 0 else f"{header.producer_id}/{header.producer_epoch}",
            "sequence": None if header.producer_id < 0 else header.base_sequence,
            "codec": Codec(header.codec).name.lower(),
            "max time": header.max_timestamp,
            "crc": "ok" if crc_of(data, position, size) == header.crc else "DAMAGED",
        }
        rows.append(row)
    return rows


def _journal_rows(data_dir: str) -> list[dict[str, Any]]:
    from kproto.vlog.dump import frames, journal_files
    from kproto.vlog.manager import JOURNAL_DIRECTORY

    disk = Disk()
    rows: list[dict[str, Any]] = []
    for file in journal_files(disk, os.path.join(data_dir, JOURNAL_DIRECTORY)):
        with _left_out_when_gone(file.path):
            found = list(frames(disk, file.path)) if file.header is not None else []
            row = file.describe() | {
                "file": os.path.basename(file.path),
                "frames": len(found),
                "chunks": sum(len(frame.chunks) for frame in found),
            }
            rows.append(row)
    return rows
