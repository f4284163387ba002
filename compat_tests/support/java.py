"""The one JVM that runs our Java scenarios and Kafka's own tools (see java/src/Driver.java)."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATIENCE_S = 300.0
"""The start of the JVM is part of the first answer."""
ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "build" / "compat"
KAFKA_JARS = f"{BUILT}/java/libs/*"
LOGGING = ROOT / "compat_tests" / "java" / "log4j2.properties"
JVM_QUIET = ("-XX:+UseSerialGC", "-Djava.awt.headless=true", f"-Dlog4j2.configurationFile={LOGGING}")


@dataclass(frozen=True, slots=True)
class ToolResult:
    """How one of Kafka's tools ended."""

    exit: int
    stdout: str
    stderr: str

    def lines(self) -> list[str]:
        return [line for line in self.stdout.splitlines() if line.strip()]


def jvm_command(main: str, *args: str, heap: str = "256M") -> list[str]:
    """The command line of a JVM of its own with the same class path."""
    class_path = os.pathsep.join([f"{BUILT}/java/classes", KAFKA_JARS])
    return ["java", f"-Xmx{heap}", "-XX:TieredStopAtLevel=1", *JVM_QUIET, "-cp", class_path, main, *args]


class Jvm:
    """Requests go in one at a time; an answer that does not come within `timeout_s` fails the test.

    A JVM that had to be killed for that is replaced at the next request, so that one failure stays one.
    """

    def __init__(self, bootstrap: str, log: Path) -> None:
        self.bootstrap = bootstrap
        self.log = log
        self._start()

    def _start(self) -> None:
        self._answers: queue.Queue[str] = queue.Queue()
        with self.log.open("wb") as stderr:
            self._process = subprocess.Popen(
                jvm_command("Driver", heap="512M"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )
        threading.Thread(target=self._read, args=(self._process, self._answers), daemon=True).start()

    @staticmethod
    def _read(process: subprocess.Popen[str], answers: queue.Queue[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            answers.put(line)
        answers.put("")

    def _ask(self, request: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        if self._process.poll() is not None:
            self._start()
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        try:
            line = self._answers.get(timeout=timeout_s)
        except queue.Empty:
            self._process.kill()
            self._process.wait()
            raise AssertionError(f"no answer within {timeout_s} s to {request}\n{self._log_tail()}") from None
        assert line, f"the JVM ended:\n{self._log_tail()}"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _log_tail(self) -> str:
        return self.log.read_text(errors="replace")[-4000:]

    def scenario(self, name: str, timeout_s: float = PATIENCE_S, **args: object) -> dict[str, Any]:
        """Run one scenario of ours; its facts. Fails with the Java stack trace when the scenario does."""
        answer = self._ask({"scenario": name, "bootstrap": self.bootstrap, "args": args}, timeout_s)
        assert answer["ok"], f"{name}: {answer['error']}\n{self._log_tail()}"
        result: dict[str, Any] = answer["result"]
        return result

    def tool(self, main: str, *args: object, stdin: str = "", timeout_s: float = PATIENCE_S) -> ToolResult:
        """Run the main class of one of Kafka's tools; nothing is demanded of its exit code."""
        request = {"tool": main, "args": [str(arg) for arg in args], "stdin": stdin}
        answer = self._ask(request, timeout_s)
        return ToolResult(int(answer["exit"]), answer["stdout"], answer["stderr"])

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
