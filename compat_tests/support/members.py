"""Consumer-group members as processes of their own, to be joined, asked to leave, or killed.

A member prints one JSON line for every assignment and every batch it got, commits after each and says so; the
parent reads the lines. A commit that is refused (members come and go) or finds no broker is tried again after
the next poll. Run as ``python -m compat_tests.support.members CLIENT BOOTSTRAP TOPIC GROUP SESSION_MS``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from compat_tests.support.ports import wait_until

SESSION_MS = 6000
"""Short, for members that are killed: nobody gets what was theirs before it is over."""
PATIENCE_S = 120.0
"""For what takes a second: a busy machine takes a hundred times as long."""
ROOT = Path(__file__).resolve().parents[2]


class Members:
    """The members of one group; names are for messages only. A context manager that ends them all."""

    def __init__(
        self,
        client: str,
        bootstrap: str,
        topic: str,
        group: str,
        directory: Path,
        session_ms: int = SESSION_MS,
    ) -> None:
        self._command = [sys.executable, "-m", __name__, client, bootstrap, topic, group, str(session_ms)]
        self._directory = directory
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._logs: dict[str, Path] = {}

    def join(self, name: str) -> None:
        log = self._logs[name] = self._directory / f"{name}.jsonl"
        with log.open("wb") as out, (self._directory / f"{name}.err").open("wb") as err:
            self._running[name] = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=out, stderr=err, cwd=ROOT
            )

    def leave(self, name: str) -> None:
        """Close its standard input, which asks it to commit and leave, and wait for it."""
        process = self._running.pop(name)
        process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, (self._directory / f"{name}.err").read_text()[-3000:]

    def kill(self, name: str) -> None:
        process = self._running.pop(name)
        process.kill()
        process.wait()

    def lines(self, name: str, kind: str) -> list[Any]:
        whole = self._logs[name].read_text().rpartition("\n")[0]
        return [entry[kind] for entry in map(json.loads, whole.splitlines()) if kind in entry]

    def delivered(self) -> list[str]:
        """The values every member that ever was got, repeats included."""
        return [value for name in self._logs for batch in self.lines(name, "got") for value in batch]

    def owned(self) -> dict[str, list[int]]:
        found = {}
        for name in self._running:
            assert self._running[name].poll() is None, (self._directory / f"{name}.err").read_text()[-3000:]
            owned = self.lines(name, "owned")
            found[name] = owned[-1] if owned else []
        return found

    def settle(self, partitions: int, timeout_s: float = PATIENCE_S) -> None:
        """Wait until every member owns something and every partition has exactly one owner."""

        def shared() -> bool:
            owned = self.owned()
            together = sorted(partition for mine in owned.values() for partition in mine)
            return together == list(range(partitions)) and all(owned.values())

        try:
            wait_until(f"{len(self._running)} members to share {partitions} partitions", shared, timeout_s)
        except AssertionError as error:
            for name in self._running:
                said = (self._directory / f"{name}.err").read_text()[-1000:]
                error.add_note(f"{name} owned in turn {self.lines(name, 'owned')} and said: {said}")
            raise

    def await_delivery(self, expected: set[str], timeout_s: float = PATIENCE_S) -> None:
        """All of it was delivered, and what members that run got is committed: nobody gets it again."""
        wait_until("all records to be delivered", lambda: expected <= set(self.delivered()), timeout_s)
        wait_until("all records to be committed", self._all_committed, timeout_s)

    def _all_committed(self) -> bool:
        got = {name: len(self.lines(name, "got")) for name in self.owned()}
        committed = {name: self.lines(name, "committed") for name in got}
        return all([0, *committed[name]][-1] >= count for name, count in got.items())

    def __enter__(self) -> Members:
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self._running):
            self.kill(name)


def say(kind: str, value: object) -> None:
    sys.stdout.write(json.dumps({kind: value}) + "\n")
    sys.stdout.flush()


class Said:
    """How many batches this member got, and of how many it said that they are committed."""

    def __init__(self) -> None:
        self.got = 0
        self.committed = 0

    def take(self, values: list[str]) -> None:
        say("got", values)
        self.got += 1

    @property
    def due(self) -> bool:
        return self.committed < self.got

    def commit(self) -> None:
        self.committed = self.got
        say("committed", self.got)

    def later(self, error: Exception) -> None:
        """A commit failed."""
        print(f"not committed yet: {error}", file=sys.stderr, flush=True)


def asked_to_leave() -> bool:
    """Whether the parent closed our standard input."""
    import select

    return bool(select.select([sys.stdin], [], [], 0)[0])


def run_confluent(bootstrap: str, topic: str, group: str, session_ms: int, strategy: str) -> None:
    from confluent_kafka import KafkaError, KafkaException

    from compat_tests.support.confluent import consumer

    client = consumer(
        bootstrap,
        group_id=group,
        session_timeout_ms=session_ms,
        heartbeat_interval_ms=300,
        partition_assignment_strategy=strategy,
    )
    owned: set[int] = set()
    said = Said()

    def assigned(_: object, places: list[Any]) -> None:
        owned.update(place.partition for place in places)
        if strategy == "cooperative-sticky":
            client.incremental_assign(places)
        else:
            client.assign(places)
        say("owned", sorted(owned))

    def revoked(_: object, places: list[Any]) -> None:
        owned.difference_update(place.partition for place in places)
        if strategy == "cooperative-sticky":
            client.incremental_unassign(places)
        else:
            client.unassign()
        say("owned", sorted(owned))

    client.subscribe([topic], on_assign=assigned, on_revoke=revoked)
    while not asked_to_leave():
        batch = [message for message in client.consume(500, 0.1) if message.error() is None]
        if batch:
            said.take([message.value().decode() for message in batch])
        if said.due:
            try:
                client.commit(asynchronous=False)
            except KafkaException as error:
                # Nothing to commit: all of it went to other members meanwhile.
                if error.args[0].code() != KafkaError._NO_OFFSET:
                    said.later(error)
                    continue
            said.commit()
    client.close()


def run_kafka_python(bootstrap: str, topic: str, group: str, session_ms: int) -> None:
    from kafka import ConsumerRebalanceListener, KafkaConsumer
    from kafka.errors import KafkaError

    client = KafkaConsumer(
        bootstrap_servers=bootstrap,
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=session_ms,
        heartbeat_interval_ms=300,
    )
    said = Said()

    class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
        def on_partitions_assigned(self, assigned: Any) -> None:
            say("owned", sorted(place.partition for place in client.assignment()))

        def on_partitions_revoked(self, revoked: Any) -> None:
            say("owned", [])

    client.subscribe([topic], listener=Listener())
    # A leader that learns of the topic's partitions after its first, empty assignment joins again by itself.
    # kafka-python 3.0.12 forgets that when it takes longer than one poll, with any broker: once it has made
    # the new assignment it sees no reason to join any more, and neither takes its part nor sends heartbeats.
    # An answer that comes between two polls is forgotten, too, and the member joins again: so polls are long.
    wait_until("the topic's metadata", lambda: client.partitions_for_topic(topic))
    while not asked_to_leave():
        batches = client.poll(timeout_ms=1000).values()
        if batches:
            said.take([record.value.decode() for batch in batches for record in batch])
        if said.due:
            try:
                client.commit()
            except KafkaError as error:
                said.later(error)
                continue
            said.commit()
    client.close()


async def run_aiokafka(bootstrap: str, topic: str, group: str, session_ms: int) -> None:
    from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
    from aiokafka.coordinator.assignors.range import RangePartitionAssignor
    from aiokafka.errors import KafkaError

    client = AIOKafkaConsumer(
        bootstrap_servers=bootstrap,
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=session_ms,
        heartbeat_interval_ms=300,
        partition_assignment_strategy=[RangePartitionAssignor],
    )
    said = Said()

    class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
        def on_partitions_assigned(self, assigned: Any) -> None:
            say("owned", sorted(place.partition for place in assigned))

        def on_partitions_revoked(self, revoked: Any) -> None:
            say("owned", [])

    client.subscribe([topic], listener=Listener())
    await client.start()
    while not asked_to_leave():
        batches = (await client.getmany(timeout_ms=100)).values()
        if batches:
            said.take([record.value.decode() for batch in batches for record in batch])
        if said.due:
            try:
                await client.commit()
            except KafkaError as error:
                said.later(error)
                continue
            said.commit()
    await client.stop()


def main() -> None:
    import asyncio

    client, bootstrap, topic, group, session = sys.argv[1:]
    session_ms = int(session)
    name, _, strategy = client.partition(":")
    if name == "confluent":
        run_confluent(bootstrap, topic, group, session_ms, strategy or "range")
    elif name == "kafka-python":
        run_kafka_python(bootstrap, topic, group, session_ms)
    else:
        asyncio.run(run_aiokafka(bootstrap, topic, group, session_ms))


if __name__ == "__main__":
    main()
