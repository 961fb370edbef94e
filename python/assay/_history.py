"""Histories: read from files, or built transaction by transaction."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable, Mapping
from decimal import Decimal
from types import TracebackType
from typing import Any

from ._library import UsageError, attempt, call, made, obtain, obtain_bytes, text, value, values
from ._options import options_handle

Key = int | float | Decimal | str | bytes
Value = int | float | Decimal | str | bytes | None


class History:
    """What the clients of a database did and saw. It does not change.

    >>> history = History.parse("s1: { w(x,1) } { r(x,1) }")
    >>> history.transactions, history.operations, history.sessions, history.keys
    (2, 2, 1, 1)
    """

    def __init__(self, handle: Any, name: str) -> None:
        """Not to be called: `read`, `parse` and `HistoryBuilder.finish` make histories."""
        self._handle = handle
        self.name = name
        self._finalizer = weakref.finalize(self, call, "history_free", handle)

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, format: str | None = None, time: float | None = None,
             memory: int | None = None, unique_values: bool = False) -> History:
        """From a file, or a folder for formats that use one. The format is detected if none is named; `time` in seconds and
        `memory` in bytes are limits."""
        name = os.fspath(path)
        with options_handle(format=format, time=time, memory=memory, unique_values=unique_values) as options:
            return cls(obtain("history_read", os.fsencode(name), options), name)

    @classmethod
    def parse(cls, data: str | bytes, name: str = "history", *, format: str | None = None, time: float | None = None,
              memory: int | None = None, unique_values: bool = False) -> History:
        """From memory. `name` is used in messages.

        >>> History.parse("s1: { w(x,1 }")
        Traceback (most recent call last):
        ...
        assay.BadInput: history:1:13: expected ')'
        """
        held = data.encode() if isinstance(data, str) else data
        with options_handle(format=format, time=time, memory=memory, unique_values=unique_values) as options:
            return cls(obtain("history_read_text", held, len(held), name.encode(), options), name)

    @property
    def transactions(self) -> int:
        return int(call("history_transactions", self._handle))

    @property
    def operations(self) -> int:
        return int(call("history_operations", self._handle))

    @property
    def sessions(self) -> int:
        return int(call("history_sessions", self._handle))

    @property
    def keys(self) -> int:
        return int(call("history_keys", self._handle))

    @property
    def notes(self) -> tuple[str, ...]:
        """What reading tolerated and the user should know."""
        return tuple(text("history_note", self._handle, i) for i in range(call("history_note_count", self._handle)))

    def to_bytes(self, format: str = "assay") -> bytes:
        """As a file of a format. What the format cannot hold is left out.

        >>> History.parse("s1: { w(x,1) }").to_bytes("hist")
        b's1: { w(x,1) }\\n'
        """
        return obtain_bytes("history_text", self._handle, format.encode())

    def write(self, path: str | os.PathLike[str], format: str = "assay") -> None:
        with open(path, "wb") as file:
            file.write(self.to_bytes(format))

    def __repr__(self) -> str:
        return f"<assay.History {self.name!r}: {self.transactions} transactions, {self.sessions} sessions>"


class Transaction:
    """One transaction of a HistoryBuilder. It ends once, by `commit`, `abort` or `unknown`; used with `with` it commits at the
    end of the block, and is of unknown outcome if the block ends by an exception."""

    def __init__(self, builder: HistoryBuilder, session: Key, name: str | None) -> None:
        self._builder = builder
        self._calls: list[tuple[Any, ...]] = [("begin", value(session))]
        self._ended = False
        if name is not None:
            self._add("name", name.encode())

    def _add(self, function: str, *arguments: Any) -> None:
        if self._ended:
            raise UsageError("the transaction has ended; expected no more operations")
        self._calls.append((function, *arguments))

    def began(self, request: int, response: int | None = None) -> None:
        """When it began: at some moment from `request` to `response`, nanoseconds on one clock; one number if it is known."""
        self._add("begin_time", request, request if response is None else response)

    def ended(self, request: int, response: int | None = None) -> None:
        """When it ended, likewise."""
        self._add("end_time", request, request if response is None else response)

    def timestamps(self, start: int | None = None, commit: int | None = None) -> None:
        """The database's own logical times."""
        if start is not None:
            self._add("start_timestamp", start)
        if commit is not None:
            self._add("commit_timestamp", commit)

    def read(self, key: Key, seen: Value) -> None:
        """None is a key that was not there."""
        self._add("read", value(key), value(seen))

    def write(self, key: Key, written: Value) -> None:
        self._add("write", value(key), value(written))

    def delete(self, key: Key, tombstone: Value) -> None:
        """`tombstone` names this deletion; nothing else writes it."""
        self._add("delete", value(key), value(tombstone))

    def append(self, key: Key, element: Value) -> None:
        self._add("append", value(key), value(element))

    def read_list(self, key: Key, elements: Iterable[Value]) -> None:
        self._add("read_list", value(key), *values(elements))

    def range(self, low: Key | None, high: Key | None, found: Mapping[Key, Value]) -> None:
        """All keys from `low` to `high`, both included and None where there is no bound: these were there, and no others."""
        keys, count = values(found.keys())
        self._add("range", value(low), value(high), keys, values(found.values())[0], count)

    def compare_and_set(self, key: Key, expected: Value, written: Value, done: bool) -> None:
        self._add("compare_and_set", value(key), value(expected), value(written), int(done))

    def insert(self, key: Key, written: Value, done: bool = True) -> None:
        self._add("insert", value(key), value(written), int(done))

    def commit(self) -> None:
        """It was acknowledged."""
        self._end("commit")

    def abort(self) -> None:
        """It certainly had no effect."""
        self._end("abort")

    def unknown(self) -> None:
        """Nobody knows whether it had an effect, as after a lost connection."""
        self._end("unknown")

    def _end(self, outcome: str) -> None:
        self._add(outcome)
        self._ended = True
        self._builder._take(self._calls)

    def __enter__(self) -> Transaction:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if not self._ended:
            self.commit() if kind is None else self.unknown()


class HistoryBuilder:
    """Builds a history. Transactions may be open at the same time; those of a session end in the order in which it ran them.

    >>> builder = HistoryBuilder(initial=0)
    >>> with builder.transaction(session=1) as one, builder.transaction(session=2) as two:
    ...     one.read("x", 0)
    ...     two.read("x", 0)
    ...     one.write("x", 1)
    ...     two.write("x", 2)
    >>> builder.finish()
    <assay.History 'history': 2 transactions, 2 sessions>
    """

    def __init__(self, initial: Value = None) -> None:
        self._handle = made("builder_new")
        self._finalizer = weakref.finalize(self, call, "builder_free", self._handle)
        if initial is not None:
            attempt("initial", self._handle, value(initial))

    def transaction(self, session: Key, name: str | None = None) -> Transaction:
        return Transaction(self, session, name)

    def known_order(self, key: Key, written: Iterable[Value]) -> None:
        """These values of `key` were installed in this order, perhaps with others in between."""
        attempt("known_order", self._handle, value(key), *values(written))

    def finish(self) -> History:
        """The history of the transactions that have ended. The builder is empty afterwards."""
        return History(obtain("builder_finish", self._handle), "history")

    def _take(self, calls: list[tuple[Any, ...]]) -> None:
        for function, *arguments in calls:
            attempt(function, self._handle, *arguments)


