"""Options of reading and checking."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ._library import attempt, call, made


@contextmanager
def options_handle(*, levels: str | Iterable[str] | None = None, format: str | None = None, time: float | None = None,
                   memory: int | None = None, threads: int = 0, clock_drift: int = 0, allow_empty: bool = False,
                   require_contention: bool = False, aborted_reads: bool = False, unique_values: bool = False) -> Iterator[Any]:
    handle = made("options_new")
    try:
        for level in [levels] if isinstance(levels, str) else levels or []:
            attempt("options_level", handle, level.encode())
        if format is not None:
            attempt("options_format", handle, format.encode())
        call("options_time", handle, time or 0)
        call("options_memory", handle, memory or 0)
        call("options_threads", handle, threads)
        call("options_clock_drift", handle, clock_drift)
        call("options_allow_empty", handle, int(allow_empty))
        call("options_require_contention", handle, int(require_contention))
        if aborted_reads:  # a level may have asked for it
            call("options_aborted_reads", handle, 1)
        call("options_unique_values", handle, int(unique_values))
        yield handle
    finally:
        call("options_free", handle)
