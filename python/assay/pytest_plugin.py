"""A fixture for pytest: `isolation` records what the application does through its own connections, and judges it.

    def test_transfers(isolation):
        isolation.watch(sqlite3, tables={"accounts": "id"})
        run_the_application()
        isolation.assert_serializable()
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any

import pytest  # type: ignore[import-not-found, unused-ignore]

from ._checking import Outcome, Result, Verdict, check
from ._history import History
from ._program import program
from ._watching import Connection, Watched


class Isolation:
    """What one test's connections did. `shrink_effort` bounds the work of making a violation small: the same on every machine."""

    shrink_effort = 20_000_000

    def __init__(self) -> None:
        self._undo = contextlib.ExitStack()
        self._watched: Watched | None = None
        self._history: bytes | None = None

    def watch(self, what: Any, tables: Mapping[str, str]) -> Any:
        """Records what goes through a module of DB-API (its `connect` is replaced until the test ends), an engine of SQLAlchemy, or one
        connection, which is returned wrapped. `tables` says by which column each table names its rows; others are not looked at."""
        if self._history is not None:
            raise ValueError("the run has already been checked; expected nothing after that")
        watched = self._watched = self._watched or Watched(tables)
        if hasattr(what, "dialect") and hasattr(what, "pool"):
            self._watch_engine(what, watched)
            return what
        if hasattr(what, "connect") and hasattr(what, "paramstyle"):
            connect = what.connect
            what.connect = lambda *given, **named: watched.wrap(connect(*given, **named))
            self._undo.callback(setattr, what, "connect", connect)
            return what
        if hasattr(what, "cursor") and hasattr(what, "commit"):
            return watched.wrap(what)
        raise TypeError(f"{type(what).__name__}; expected a module of DB-API, an engine of SQLAlchemy or a connection")

    def _watch_engine(self, engine: Any, watched: Watched) -> None:
        from sqlalchemy import event  # type: ignore[import-not-found, unused-ignore]

        def connect(dialect: Any, record: Any, given: Any, named: Any) -> Connection:
            return watched.wrap(dialect.connect(*given, **named))

        engine.dispose()  # connections that are in its pool are not watched
        event.listen(engine, "do_connect", connect)
        self._undo.callback(engine.dispose)
        self._undo.callback(event.remove, engine, "do_connect", connect)

    def check(self, level: str = "serializable") -> Result:
        """The verdict on what was recorded so far. From then on nothing is recorded."""
        if self._watched is None:
            raise ValueError("nothing is watched; expected a call to watch first")
        if self._history is None:
            self._history = self._watched.lines()
        return check(History.parse(self._history, name="this test"), level)

    def assert_serializable(self) -> None:
        __tracebackhide__ = True
        self.assert_level("serializable")

    def assert_level(self, level: str) -> None:
        """Fails unless what was recorded satisfies the level: with the few transactions that violate it, and why."""
        __tracebackhide__ = True
        result = self.check(level)
        verdict = result[level]
        if verdict.outcome is Outcome.SATISFIED:
            return
        pytest.fail(self._message(verdict, result), pytrace=False)

    def _message(self, verdict: Verdict, result: Result) -> str:
        assert self._watched is not None
        told = [f"{verdict.level} is {verdict.outcome}" + (f": {verdict.anomaly}" if verdict.anomaly else "")]
        told.append(verdict.explanation or verdict.reason)
        if verdict.outcome is Outcome.VIOLATED:
            told += ["", *self._shrunk(verdict)]
        told += ["", f"Recorded: {result.summary.transactions} transactions of {result.summary.sessions} connections.", *self._watched.remarks()]
        return "\n".join(told)

    def _shrunk(self, verdict: Verdict) -> list[str]:
        try:
            done = subprocess.run(
                [program(), "shrink", "-", "--from", "assay", "--to", "hist", "--level", verdict.level, "--effort", str(self.shrink_effort)],
                input=self._history, capture_output=True, check=False)
            why = done.stderr.decode(errors="replace").strip()
            if done.returncode == 0:
                return ["The smallest part that still violates it:", *done.stdout.decode(errors="replace").splitlines()]
        except OSError as error:
            why = str(error)
        return [f"Not shrunk ({why}). The transactions that show it: {', '.join(verdict.transactions)}"]

    def _close(self) -> None:
        self._undo.close()


@pytest.fixture  # type: ignore[untyped-decorator, unused-ignore]
def isolation() -> Iterator[Isolation]:
    watching = Isolation()
    try:
        yield watching
    finally:
        watching._close()
