"""Checking a history, and what comes out."""

from __future__ import annotations

import base64
import enum
import html
import json
import os
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ._history import History
from ._library import attempt, call, obtain, obtain_bytes, text
from ._options import options_handle

if TYPE_CHECKING:
    import pandas  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import polars  # type: ignore[import-not-found, unused-ignore]


class Outcome(enum.Enum):
    SATISFIED = "satisfied"
    VIOLATED = "violated"
    UNKNOWN = "unknown"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Verdict:
    """On one level. Every verdict that is not unknown has been verified."""

    level: str
    outcome: Outcome
    anomaly: str = ""  # of what is violated: its name in the literature,
    explanation: str = ""  # what happened, in sentences,
    transactions: tuple[str, ...] = ()  # the few that show it,
    hint: str = ""  # and what outside of the database is worth ruling out first
    cause: str = ""  # of what is unknown: a word,
    reason: str = ""  # and a sentence

    def __bool__(self) -> bool:
        """Whether the level is satisfied."""
        return self.outcome is Outcome.SATISFIED

    def __str__(self) -> str:
        told = self.anomaly or self.reason
        return f"{self.level}: {self.outcome}" + (f" ({told})" if told else "")


@dataclass(frozen=True)
class Summary:
    """What the history holds. `hash` is what certificates name it by."""

    transactions: int
    operations: int
    sessions: int
    keys: int
    committed: int
    aborted: int
    unknown: int
    observations: int
    format: str
    hash: str


class Result:
    """The verdicts on a history, by level as `check` takes it: `result["serializable"]`, or one after another, weaker levels first.

    >>> skew = History.parse("initial 0\\ns1: { r(x,0) r(y,0) w(x,1) }\\ns2: { r(x,0) r(y,0) w(y,1) }")
    >>> result = check(skew, levels=["SNAPSHOT ISOLATION", "serializable"])
    >>> for verdict in result:
    ...     print(verdict)
    session-si: satisfied
    serializable: violated (write-skew)
    >>> result.violated
    ['serializable']
    >>> result["serializable"].transactions
    ('s1-0', 's2-0')
    >>> result["SNAPSHOT ISOLATION"].level
    'session-si'
    >>> result.strongest
    ('session-si',)

    It is true if the history satisfies what was asked, as `assay check` then ends with exit code 0: `assert check(history, "serializable")`.

    >>> bool(result), bool(result["SNAPSHOT ISOLATION"])
    (False, True)
    """

    verdicts: tuple[Verdict, ...]
    summary: Summary
    strongest: tuple[str, ...]
    notes: tuple[str, ...]

    def __init__(self, handle: Any, history: History, asked: bool) -> None:
        """Not to be called: `check` makes results."""
        self._handle = handle
        self._asked = asked
        self._finalizer = weakref.finalize(self, call, "audit_free", handle)
        told = json.loads(self.report("json"))
        summary = told["history"]
        self.summary = Summary(**{field: summary[field] for field in Summary.__dataclass_fields__})
        self.strongest = tuple(told["strongest"])
        self.notes = history.notes
        self.verdicts = tuple(self._verdict(i, told["levels"]) for i in range(call("verdict_count", handle)))

    def _verdict(self, i: int, told: dict[str, Any]) -> Verdict:
        level = text("verdict_level", self._handle, i)
        parts = {part: text(f"verdict_{part}", self._handle, i)
                 for part in ("anomaly", "explanation", "hint", "cause", "reason")}
        outcome = Outcome(told[level]["verdict"])
        return Verdict(level, outcome, transactions=tuple(told[level].get("transactions", ())), **parts)

    def __getitem__(self, level: str) -> Verdict:
        name = text("level_called", level.encode())
        for verdict in self.verdicts:
            if verdict.level == name:
                return verdict
        raise KeyError(f"no verdict on {level!r}; expected one of {', '.join(v.level for v in self.verdicts)}")

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.verdicts)

    def __len__(self) -> int:
        return len(self.verdicts)

    def __bool__(self) -> bool:
        """False if a level is violated or unknown; one that means nothing for the history counts only if levels were asked for."""
        if not self._asked and not self.satisfied:
            return False
        return all(v or (not self._asked and v.cause in ("lacks-times", "not-applicable")) for v in self.verdicts)

    @property
    def satisfied(self) -> list[str]:
        return [v.level for v in self.verdicts if v.outcome is Outcome.SATISFIED]

    @property
    def violated(self) -> list[str]:
        return [v.level for v in self.verdicts if v.outcome is Outcome.VIOLATED]

    @property
    def unknown(self) -> list[str]:
        return [v.level for v in self.verdicts if v.outcome is Outcome.UNKNOWN]

    def report(self, kind: str = "text") -> str:
        """As "text", "json", "html", "junit", "markdown", "sarif", "github", "dot" or "svg"."""
        return obtain_bytes("report", self._handle, kind.encode()).decode(errors="replace")

    def certificates(self) -> bytes:
        """What `verify` and `assay verify` accept."""
        return obtain_bytes("certificates", self._handle)

    def to_pandas(self) -> pandas.DataFrame:
        """A row a verdict."""
        import pandas

        return pandas.DataFrame(self._rows())

    def to_polars(self) -> polars.DataFrame:
        """A row a verdict."""
        import polars

        return polars.DataFrame(self._rows())

    def _rows(self) -> list[dict[str, Any]]:
        return [asdict(v) | {"outcome": v.outcome.value, "transactions": list(v.transactions)} for v in self.verdicts]

    def __str__(self) -> str:
        return self.report("text")

    def __repr__(self) -> str:
        return f"<assay.Result: {', '.join(map(str, self.verdicts))}>"

    def _repr_html_(self) -> str:
        """In a cell of Jupyter the conflict, as a picture, and then the report: in a frame of its own, so that its style stays there."""
        conflict = ""
        if self.violated:
            picture = base64.b64encode(self.report("svg").encode()).decode()
            conflict = f'<img alt="the conflict" style="max-width:100%" src="data:image/svg+xml;base64,{picture}">'
        page = html.escape(self.report("html"), quote=True)
        return conflict + f'<iframe srcdoc="{page}" sandbox="" style="width:100%;height:36em;border:1px solid #8884"></iframe>'


def check(history: History | str | os.PathLike[str], levels: str | Iterable[str] | None = None, *,
          time: float | None = None, memory: int | None = None, threads: int = 0, clock_drift: int = 0,
          allow_empty: bool = False, require_contention: bool = False, aborted_reads: bool = False,
          format: str | None = None) -> Result:
    """Decides `levels` of a history, or of the file at a path: names of levels or of groups ("all", "adya",
    "session-guarantees"), one or several; without any, those that are decided by default.

    `time` in seconds and `memory` in bytes are limits, beyond which verdicts are unknown. `threads` is 0 for one of each
    processor. `clock_drift` is by how many nanoseconds the clocks of two sessions may differ. With `allow_empty` a level holds
    where nothing was observed, with `require_contention` only where transactions that overlapped could have shown what it rules
    out. `aborted_reads` counts what transactions saw that did not commit, too; the level "opacity" does so. `format` is of the file at a path.
    """
    if not isinstance(history, History):
        history = History.read(history, format=format, time=time, memory=memory)
    with options_handle(levels=levels, time=time, memory=memory, threads=threads, clock_drift=clock_drift,
                        allow_empty=allow_empty, require_contention=require_contention, aborted_reads=aborted_reads) as options:
        return Result(obtain("check", history._handle, options), history, asked=levels is not None)


def verify(history: History | str | os.PathLike[str], certificates: bytes) -> None:
    """Has the independent verifier check certificates for a history, or for the file at a path; raises Refused
    if it does not accept each of them.

    >>> history = History.parse("s1: { w(x,1) } { r(x,1) }")
    >>> verify(history, check(history, "serializable").certificates())
    >>> verify(history, b"{}")
    Traceback (most recent call last):
    ...
    assay.BadInput: certificates:1:3: a certificate file needs assay_certificate, history and certificates
    """
    if not isinstance(history, History):
        history = History.read(history)
    attempt("verify", history._handle, certificates, len(certificates))
