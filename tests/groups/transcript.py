"""Runs a transcript: commands against one group, each followed by what the group answers.

A command is a line of words and ``key=value`` options; ``----`` and the expected output follow, up to an
empty line. Effects are printed in order, then the group's state when it changed. With
``KPROTO_REWRITE_TRANSCRIPTS=1`` the expectations are rewritten instead of compared; read the difference.

Commands: ``group [delay=ms] [max=n]``; ``join TOKEN [client=name] [id=member] [instance=i]
[protocols=p:meta,...] [session=ms] [rebalance=ms] [type=t] [v=n]``; ``sync TOKEN id= gen= [instance=]
[protocol=] [type=] [give=member:assignment,...]``; ``beat id= gen= [instance=]``;
``leave member[@instance]...``; ``commit [id=] gen= [instance=]``; ``stored TICKET [error=NAME]``;
``time MS`` (advance, acting on each deadline on its way); ``restart`` (from the last stored snapshot);
``kill``.
"""

from kproto.errors import ErrorCode
from kproto.handlers.groups.group import NEVER, Group
from kproto.handlers.groups.model import (
    Effect,
    GroupLimits,
    Join,
    JoinReply,
    Leaving,
    Now,
    Snapshot,
    Store,
    Sync,
)
from tests.groups.invariants import verify


def _pairs(text: str) -> tuple[tuple[str, bytes], ...]:
    pairs = (item.partition(":") for item in text.split(",") if item)
    return tuple((name, value.encode()) for name, _, value in pairs)


def _describe(effect: Effect) -> str:
    if isinstance(effect, Store):
        members = " ".join(f"{m.member_id}={m.assignment.decode()!r}" for m in effect.snapshot.members)
        return f"store {effect.ticket}: generation={effect.snapshot.generation} {members or 'no members'}"
    if isinstance(effect, JoinReply):
        words = [f"{effect.token} <- {effect.error.name} member={effect.member_id!r}"]
        if effect.error is ErrorCode.NONE:
            protocol = f"{effect.protocol_type}/{effect.protocol}"
            words.append(f"generation={effect.generation} {protocol} leader={effect.leader}")
        if effect.members:
            words.append("all=" + ",".join(f"{m.member_id}:{m.metadata.decode()}" for m in effect.members))
        if effect.skip_assignment:
            words.append("skip-assignment")
        return " ".join(words)
    assert not isinstance(effect, Store)
    return f"{effect.token} <- {effect.error.name} assignment={effect.assignment.decode()!r}"


class Runner:
    """One transcript's group and its clock."""

    def __init__(self) -> None:
        self.now = 0
        self.limits = GroupLimits(max_size=100, initial_rebalance_delay_ms=0)
        self.group = Group("g", self.limits, self.wall)
        self.ids = 0
        self.snapshots: dict[int, Snapshot] = {}
        self.stored: Snapshot | None = None
        self.shown = ""

    @property
    def wall(self) -> int:
        return 1_000_000 + self.now

    def at(self) -> Now:
        return Now(self.now, self.wall)

    def run(self, line: str) -> list[str]:
        words = line.split()
        plain = [w for w in words[1:] if "=" not in w]
        options = dict(w.split("=", 1) for w in words[1:] if "=" in w)
        output: list[str] = getattr(self, "do_" + words[0])(plain, options)
        verify(self.group)
        state = self.state()
        if state != self.shown:
            output.append(state)
            self.shown = state
        return output or ["ok"]

    def state(self) -> str:
        group = self.group
        words = [f"{group.state.value} generation={group.generation} leader={group.leader or '-'}"]
        words.append(f"members={','.join(group.members) or '-'}")
        if group.pending:
            words.append(f"pending={','.join(group.pending)}")
        return "[" + " ".join(words) + "]"

    def effects(self, effects: list[Effect]) -> list[str]:
        for effect in effects:
            if isinstance(effect, Store):
                self.snapshots[effect.ticket] = effect.snapshot
        return [_describe(effect) for effect in effects]

    def do_group(self, plain: list[str], options: dict[str, str]) -> list[str]:
        self.limits = GroupLimits(int(options.get("max", "100")), int(options.get("delay", "0")))
        self.group = Group("g", self.limits, self.wall)
        return []

    def do_join(self, plain: list[str], options: dict[str, str]) -> list[str]:
        version = int(options.get("v", "9"))
        client = options.get("client", "c")
        self.ids += 1
        join = Join(
            member_id=options.get("id", ""),
            instance_id=options.get("instance"),
            new_id=f"{options.get('instance', client)}-{self.ids}",
            client_id=client,
            client_host="/127.0.0.1",
            session_timeout_ms=int(options.get("session", "10000")),
            rebalance_timeout_ms=int(options.get("rebalance", "60000")),
            protocol_type=options.get("type", "consumer"),
            protocols=_pairs(options.get("protocols", "range:m")),
            id_required=version >= 4,
            can_skip_assignment=version >= 9,
        )
        return self.effects(self.group.join(self.at(), join, plain[0]))

    def do_sync(self, plain: list[str], options: dict[str, str]) -> list[str]:
        sync = Sync(
            options["id"],
            options.get("instance"),
            int(options["gen"]),
            options.get("type"),
            options.get("protocol"),
            _pairs(options.get("give", "")),
        )
        return self.effects(self.group.sync(sync, plain[0]))

    def do_beat(self, plain: list[str], options: dict[str, str]) -> list[str]:
        error = self.group.heartbeat(self.at(), options["id"], options.get("instance"), int(options["gen"]))
        return [error.name]

    def do_commit(self, plain: list[str], options: dict[str, str]) -> list[str]:
        error = self.group.commit_error(options.get("id", ""), options.get("instance"), int(options["gen"]))
        if error is ErrorCode.NONE:
            self.group.touch(self.at(), options.get("id", ""))
        return [error.name]

    def do_leave(self, plain: list[str], options: dict[str, str]) -> list[str]:
        names = (name.partition("@") for name in plain)
        errors, effects = self.group.leave(self.at(), [Leaving(m, i or None) for m, _, i in names])
        return [" ".join(error.name for error in errors), *self.effects(effects)]

    def do_stored(self, plain: list[str], options: dict[str, str]) -> list[str]:
        ticket = int(plain[0])
        error = ErrorCode[options.get("error", "NONE")]
        if error is ErrorCode.NONE:
            self.stored = self.snapshots[ticket]
        return self.effects(self.group.on_stored(self.at(), ticket, error))

    def do_time(self, plain: list[str], options: dict[str, str]) -> list[str]:
        end = self.now + int(plain[0])
        output: list[str] = []
        while self.group.wake_at <= end:
            self.now = max(self.now, self.group.wake_at)
            lines = self.effects(self.group.on_time(self.at()))
            verify(self.group)
            output.extend(f"{self.now} ms: {line}" for line in lines)
            if self.group.wake_at == NEVER:
                break
        self.now = end
        return output

    def do_restart(self, plain: list[str], options: dict[str, str]) -> list[str]:
        assert self.stored is not None
        self.group = Group.restored("g", self.limits, self.at(), self.stored)
        return []

    def do_kill(self, plain: list[str], options: dict[str, str]) -> list[str]:
        return self.effects(self.group.kill(self.at(), ErrorCode.NOT_COORDINATOR))


def play(text: str) -> str:
    """The transcript with its expectations replaced by what really happens; comments are kept."""
    runner = Runner()
    played: list[str] = []
    lines = iter(text.splitlines())
    for line in lines:
        played.append(line)
        if not line.strip() or line.startswith("#"):
            continue
        played.append("----")
        played.extend(runner.run(line))
        for expected in lines:
            if not expected.strip():
                break
        played.append("")
    return "\n".join(played).rstrip("\n") + "\n"
