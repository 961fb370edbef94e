"""The levels that can be asked for."""

from __future__ import annotations

from dataclasses import dataclass

from ._library import call, text


@dataclass(frozen=True)
class Level:
    name: str
    summary: str


def levels() -> tuple[Level, ...]:
    """Every level, weaker before stronger; the last, `mixed`, is each transaction at the level that it declares.

    >>> [level.name for level in levels()][-3:]
    ['strict-serializable', 'linearizable', 'mixed']
    """
    return tuple(Level(text("level_name", i), text("level_summary", i)) for i in range(call("level_count")))
