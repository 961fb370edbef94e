"""Records what an application's transactions did and saw, for `assay check`. Copy it into the application.

    recorder = Recorder("history.jsonl", initial=0)     # the value that every key has at the beginning
    session = recorder.session("worker 1")              # one for each thread or connection

    txn = session.begin()                               # before the first statement is sent
    txn.read("x", value); txn.write("x", 7)             # after each statement has answered
    txn.committing()                                    # before COMMIT is sent
    txn.committed()                                     # it was acknowledged
    txn.aborted(); txn.unknown()                        # or: the database says it had no effect; nobody knows

    session.end()                                       # nothing more of it: whoever watches the file need not wait

Values may repeat, as balances do; where each is written to a key once only, a value that is read always tells who wrote it. A line
with the transaction is on its way to the disk before COMMIT, and another with the outcome after it: whatever crashes, the file is
true. Times are nanoseconds of the machine's monotonic clock; docs/formats/assay.md has every field.

Keys and values are integers, strings, None, and what can be told as one of them so that what is equal stays equal: Decimal("1.50")
and 1.5 are "1.5", True is 1. No call on a transaction raises: one with anything else is recorded as of unknown outcome, with the
reason. A file that cannot be written any more is told by close().
"""
# mypy: ignore-errors
import datetime
import decimal
import json
import numbers
import threading
import time
import uuid


def _number(value):  # integers as such, others as their shortest decimal
    if isinstance(value, float):
        value = decimal.Decimal(repr(float(value)))
    if not value.is_finite() or abs(value.adjusted()) > 400:
        return str(value)
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return 0 if text == "-0" else int(text) if "." not in text and -2**63 <= int(text) < 2**63 else text


def _told(value):
    if value is None:
        return None
    if isinstance(value, numbers.Integral):
        return _number(decimal.Decimal(int(value)))
    if isinstance(value, decimal.Decimal):
        return _number(value)
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Rational):
        return _number(float(value))
    if isinstance(value, (str, uuid.UUID)):
        str(value).encode()  # half of a pair of surrogates is no text
        return str(value)
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.timezone.utc)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "\\x" + bytes(value).hex()
    raise TypeError(f"a value of {type(value).__name__} cannot be recorded")


class Recorder:
    def __init__(self, path, initial=None, meta=None):
        self._file = open(path, "x", encoding="utf-8")
        self._lock = threading.Lock()
        self._error = None  # after it nothing is written: a line without its end must be the last
        self._write({"assay": 1, "meta": meta or {}, "initial": _told(initial)})

    def holds(self, key, value):
        """What this key holds before anything is written, if not `initial`."""
        self._write({"key": key, "initial": value})

    def session(self, name):
        return Session(self, str(name))

    def close(self):
        self._file.close()
        if self._error is not None:
            raise self._error

    def _write(self, line):
        text = json.dumps(line, separators=(",", ":")) + "\n"
        with self._lock:
            if self._error is None:
                try:
                    self._file.write(text)
                    self._file.flush()
                except (OSError, ValueError) as error:
                    self._error = error


class Session:
    """Transactions of one session follow one another."""

    def __init__(self, recorder, name):
        self._recorder, self.name, self._count = recorder, name, 0

    def begin(self):
        self._count += 1
        return Txn(self._recorder, self.name, f"{self.name}-{self._count}")

    def end(self):
        self._recorder._write({"event": "end", "session": self.name})


class Txn:
    def __init__(self, recorder, session, name):
        self._recorder = recorder
        self._line = {"session": session, "txn": name, "status": "pending",
                      "begin": [time.monotonic_ns(), None], "ops": []}

    def read(self, key, value):  # None: there is no such row
        self._op("r", key, value)

    def write(self, key, value):
        self._op("w", key, value)

    def delete(self, key):
        self._op("d", key, f"deleted {self._line['txn']}.{len(self._line['ops'])}")  # names this deletion

    def append(self, key, element):
        self._op("append", key, element)

    def read_list(self, key, elements):
        self._op("r", key, elements, told=lambda all: [_told(one) for one in all])

    def committing(self):
        self._line["end"] = [time.monotonic_ns(), None]
        self._recorder._write(self._line)

    def committed(self):
        self._end("committed")

    def aborted(self):
        self._end("aborted")

    def unknown(self):
        self._end("unknown")

    def _op(self, kind, key, value, told=_told):
        if self._line["begin"][1] is None:  # the first statement has answered
            self._line["begin"][1] = time.monotonic_ns()
        try:
            if key is None:
                raise TypeError("None is no key")
            self._line["ops"].append((kind, _told(key), told(value)))
        except Exception as error:  # of whatever the application gave us
            self._line.setdefault("meta", {"not_recorded": f"{kind}: {error}"[:200]})

    def _end(self, status):
        if status == "committed" and "meta" in self._line:  # more than is recorded
            status = "unknown"
        self._line["status"] = status
        end = self._line.setdefault("end", [time.monotonic_ns(), None])
        if status != "unknown":
            end[1] = time.monotonic_ns()
        self._recorder._write(self._line)
