"""Tells which transaction isolation level a database really gave, and proves it.

>>> import assay
>>> result = assay.check(assay.History.parse("s1: { w(x,1) } { r(x,1) }"), levels="serializable")
>>> result["serializable"].outcome
<Outcome.SATISFIED: 'satisfied'>
"""

from ._checking import Outcome, Result, Summary, Verdict, check, verify
from ._history import History, HistoryBuilder, Transaction
from ._levels import Level, levels
from ._library import (
    BadInput,
    Error,
    InternalError,
    LimitReached,
    OutOfMemory,
    ReadError,
    Refused,
    UsageError,
    version,
)
from ._program import program

__version__ = version()

__all__ = [
    "BadInput",
    "Error",
    "History",
    "HistoryBuilder",
    "InternalError",
    "Level",
    "LimitReached",
    "OutOfMemory",
    "Outcome",
    "ReadError",
    "Refused",
    "Result",
    "Summary",
    "Transaction",
    "UsageError",
    "Verdict",
    "check",
    "levels",
    "program",
    "verify",
    "version",
]

for _name in __all__:  # in messages they are called what users call them
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = "assay"
del _name
