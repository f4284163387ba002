"""What is tried again: an election, a restart of a broker, or the end of an idle connection is soon over."""

from __future__ import annotations

import time
from typing import Final

import click

RETRY_S: Final = 30.0
PAUSE_S: Final = 0.1


class Passing(click.ClickException):
    """What may go well a moment later: nobody answered, or with an error that clients try again.

    ``doubtful``: what was asked may be done.
    """

    def __init__(self, message: str, *, doubtful: bool = False) -> None:
        super().__init__(message)
        self.doubtful = doubtful


class Patience:
    """With something that has not gone well since ``problem``; with that it ends after ``seconds``."""

    def __init__(self, seconds: float | None = None) -> None:
        self.problem: Passing | None = None
        self._seconds = RETRY_S if seconds is None else seconds
        self._until = 0.0

    def wait(self, problem: Passing) -> None:
        """A moment. Raises ClickException, of the problem that leaves most in doubt, when it lasts."""
        now = time.monotonic()
        if self.problem is None:
            self._until = now + self._seconds
        if self.problem is None or not self.problem.doubtful:
            self.problem = problem
        if now >= self._until:
            raise click.ClickException(f"{self.problem.message}; tried again for {self._seconds:g} s")
        time.sleep(PAUSE_S)

    def over(self) -> None:
        """It has gone well."""
        self.problem = None
