"""The shared library, include/assay/assay_c.h, as ctypes sees it."""

from __future__ import annotations

import ctypes
import decimal
import os
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint, c_uint64, c_void_p
from pathlib import Path
from typing import Any, ClassVar

_C_VERSION = 2  # of the interface that this package calls


class Error(Exception):
    """What the library refuses or cannot do. `file`, `line` and `column` are "" and 0 where there is no such place."""

    file: str
    line: int
    column: int

    def __init__(self, message: str, file: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.file, self.line, self.column = file, line, column


class BadInput(Error, ValueError):
    """What was read is not as it has to be."""


class ReadError(Error, OSError):
    """A file could not be read."""


class UsageError(Error, ValueError):
    """There is no such level, format or report, or a call came where it may not come."""


class LimitReached(Error):
    """A limit was reached while the history was read."""


class Refused(Error):
    """The verifier does not accept a certificate."""


class OutOfMemory(Error, MemoryError):
    """There is no memory left."""


class InternalError(Error):
    """A fault of the library."""


_ERRORS: dict[int, type[Error]] = {
    1: BadInput,
    2: ReadError,
    3: UsageError,
    4: LimitReached,
    5: Refused,
    6: OutOfMemory,
    7: InternalError,
}


class Value(ctypes.Structure):
    """assay_value: None, an int or a text. `text` keeps what it points to alive."""

    _fields_: ClassVar = [("type", c_int32), ("integer", c_int64), ("text", c_char_p), ("size", c_size_t)]


def _number(of: float | decimal.Decimal) -> int | str:
    """What is equal stays equal: 1.50 and 1.5 are "1.5", 2.0 is 2; as examples/recorders tell it."""
    number = decimal.Decimal(repr(float(of))) if isinstance(of, float) else of
    if not number.is_finite() or abs(number.adjusted()) > 400:
        return str(number)
    written = format(number, "f")
    written = written.rstrip("0").rstrip(".") if "." in written else written
    return 0 if written == "-0" else int(written) if "." not in written and -(2**63) <= int(written) < 2**63 else written


def value(of: None | int | float | decimal.Decimal | str | bytes) -> Value:
    if of is None:
        return Value(0, 0, None, 0)
    if isinstance(of, (float, decimal.Decimal)):
        of = _number(of)
    if isinstance(of, int):
        if not -(2**63) <= of < 2**63:
            raise UsageError(f"{of} is out of range; expected a 64-bit number or a text")
        return Value(1, of, None, 0)
    if isinstance(of, str):
        of = of.encode()
    if isinstance(of, bytes):
        return Value(2, 0, of, len(of))
    raise TypeError(f"a key or value of type {type(of).__name__}; expected None, a number, str or bytes")


def values(of: Any) -> tuple[Any, int]:
    listed = [value(v) for v in of]
    return (Value * len(listed))(*listed), len(listed)


# Functions by their results: texts, numbers, nothing, and statuses, after whose arguments stands where the error goes.
_TEXTS: dict[str, list[Any]] = {
    "version": [],
    "error_message": [c_void_p],
    "error_file": [c_void_p],
    "level_name": [c_size_t],
    "level_called": [c_char_p],
    "level_summary": [c_size_t],
    "history_note": [c_void_p, c_size_t],
    "verdict_level": [c_void_p, c_size_t],
    "verdict_cause": [c_void_p, c_size_t],
    "verdict_reason": [c_void_p, c_size_t],
    "verdict_anomaly": [c_void_p, c_size_t],
    "verdict_explanation": [c_void_p, c_size_t],
    "verdict_hint": [c_void_p, c_size_t],
    "outcome_name": [c_int],
}
_NUMBERS: dict[str, tuple[Any, list[Any]]] = {
    "c_version": (c_int, []),
    "error_line": (c_uint64, [c_void_p]),
    "error_column": (c_uint64, [c_void_p]),
    "bytes_size": (c_size_t, [c_void_p]),
    "level_count": (c_size_t, []),
    "history_transactions": (c_uint64, [c_void_p]),
    "history_operations": (c_uint64, [c_void_p]),
    "history_sessions": (c_uint64, [c_void_p]),
    "history_keys": (c_uint64, [c_void_p]),
    "history_note_count": (c_size_t, [c_void_p]),
    "verdict_count": (c_size_t, [c_void_p]),
    "verdict_outcome": (c_int, [c_void_p, c_size_t]),
    # Handles and addresses.
    "bytes_data": (c_void_p, [c_void_p]),
    "options_new": (c_void_p, []),
    "builder_new": (c_void_p, []),
}
_NOTHING: dict[str, list[Any]] = {
    "error_free": [c_void_p],
    "bytes_free": [c_void_p],
    "options_free": [c_void_p],
    "history_free": [c_void_p],
    "builder_free": [c_void_p],
    "audit_free": [c_void_p],
    "options_time": [c_void_p, c_double],
    "options_memory": [c_void_p, c_uint64],
    "options_threads": [c_void_p, c_uint],
    "options_clock_drift": [c_void_p, c_int64],
    "options_allow_empty": [c_void_p, c_int],
    "options_require_contention": [c_void_p, c_int],
    "options_aborted_reads": [c_void_p, c_int],
    "options_unique_values": [c_void_p, c_int],
}
_OUT = POINTER(c_void_p)
_MANY = POINTER(Value)
_STATUSES: dict[str, list[Any]] = {
    "options_level": [c_void_p, c_char_p],
    "options_format": [c_void_p, c_char_p],
    "history_read": [c_char_p, c_void_p, _OUT],
    "history_read_text": [c_char_p, c_size_t, c_char_p, c_void_p, _OUT],
    "history_text": [c_void_p, c_char_p, _OUT],
    "initial": [c_void_p, Value],
    "begin": [c_void_p, Value],
    "name": [c_void_p, c_char_p],
    "begin_time": [c_void_p, c_int64, c_int64],
    "end_time": [c_void_p, c_int64, c_int64],
    "start_timestamp": [c_void_p, c_int64],
    "commit_timestamp": [c_void_p, c_int64],
    "read": [c_void_p, Value, Value],
    "write": [c_void_p, Value, Value],
    "delete": [c_void_p, Value, Value],
    "append": [c_void_p, Value, Value],
    "read_list": [c_void_p, Value, _MANY, c_size_t],
    "range": [c_void_p, Value, Value, _MANY, _MANY, c_size_t],
    "compare_and_set": [c_void_p, Value, Value, Value, c_int],
    "insert": [c_void_p, Value, Value, c_int],
    "commit": [c_void_p],
    "abort": [c_void_p],
    "unknown": [c_void_p],
    "known_order": [c_void_p, Value, _MANY, c_size_t],
    "builder_finish": [c_void_p, _OUT],
    "check": [c_void_p, c_void_p, _OUT],
    "report": [c_void_p, c_char_p, _OUT],
    "certificates": [c_void_p, _OUT],
    "verify": [c_void_p, c_char_p, c_size_t],
}


def _load() -> ctypes.CDLL:
    """The library that ASSAY_LIBRARY names, else the one of this package, else the system's."""
    own = Path(__file__).with_name("libassay.so.0")
    name = os.environ.get("ASSAY_LIBRARY") or (str(own) if own.exists() else "libassay.so.0")
    library = ctypes.CDLL(name)
    for function, arguments in _TEXTS.items():
        _declare(library, function, c_char_p, arguments)
    for function, (result, arguments) in _NUMBERS.items():
        _declare(library, function, result, arguments)
    for function, arguments in _NOTHING.items():
        _declare(library, function, None, arguments)
    for function, arguments in _STATUSES.items():
        _declare(library, function, c_int, [*arguments, _OUT])
    found = library.assay_c_version()
    if found < _C_VERSION:
        raise ImportError(f"{name} has version {found} of the interface; expected {_C_VERSION} or later")
    return library


def _declare(library: ctypes.CDLL, function: str, result: Any, arguments: list[Any]) -> None:
    declared = getattr(library, f"assay_{function}")
    declared.restype, declared.argtypes = result, arguments


_library = _load()


def call(function: str, *arguments: Any) -> Any:
    """What a function that cannot fail returns."""
    return getattr(_library, f"assay_{function}")(*arguments)


def text(function: str, *arguments: Any) -> str:
    found: bytes | None = call(function, *arguments)
    return "" if found is None else found.decode(errors="replace")


def attempt(function: str, *arguments: Any) -> None:
    """Calls a function that can fail; its failure is raised."""
    error = c_void_p()
    status: int = call(function, *arguments, byref(error))
    if status == 0:
        return
    try:
        where = (text("error_file", error), call("error_line", error), call("error_column", error))
        raise _ERRORS.get(status, InternalError)(text("error_message", error), *where)
    finally:
        call("error_free", error)


def obtain(function: str, *arguments: Any) -> c_void_p:
    """The handle that a function gives out."""
    handle = c_void_p()
    attempt(function, *arguments, byref(handle))
    return handle


def obtain_bytes(function: str, *arguments: Any) -> bytes:
    handle = obtain(function, *arguments)
    try:
        return ctypes.string_at(call("bytes_data", handle), call("bytes_size", handle))
    finally:
        call("bytes_free", handle)


def made(function: str) -> c_void_p:
    """The handle that a function of no arguments makes."""
    handle = call(function)
    if handle is None:
        raise OutOfMemory("out of memory")
    return c_void_p(handle)


def version() -> str:
    """Of the library, "0.1.0"."""
    return text("version")
