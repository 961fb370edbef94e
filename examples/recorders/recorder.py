"""Records what an application's transactions did and saw, for `assay check`. Copy it into the application.

    recorder = Recorder("history.jsonl", initial=0)     # the value that every key has at the beginning
    session = recorder.session("worker 1")              # one for each thread or connection

    txn = session.begin()                               # before the first statement is sent
    txn.read("x", value); txn.write("x", 7)             # after each statement has answered
    txn.committing()                                    # before COMMIT is sent
    txn.committed()                                     # it was acknowledged
    txn.aborted(); txn.unknown()                        # or: the database says it had no effect; nobody knows

    session.end()                                       # nothing more of it: whoever watches the file need not wait

Write each value to a key once only, so that a value that is read tells who wrote it. A line with the transaction is on
its way to the disk before COMMIT, and another with the outcome after it: whatever crashes, the file is true. Times are
nanoseconds of the machine's monotonic clock; docs/formats/assay.md has every field.
"""
import json
import threading
import time


class Recorder:
    def __init__(self, path, initial=None, meta=None):
        self._file = open(path, "x", encoding="utf-8")
        self._lock = threading.Lock()
        self._write({"assay": 1, "meta": meta or {}, "initial": initial})

    def holds(self, key, value):
        """What this key holds before anything is written, if not `initial`."""
        self._write({"key": key, "initial": value})

    def session(self, name):
        return Session(self, name)

    def close(self):
        self._file.close()

    def _write(self, line):
        text = json.dumps(line, separators=(",", ":")) + "\n"
        with self._lock:
            self._file.write(text)
            self._file.flush()


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
        self._op("r", key, list(elements))

    def committing(self):
        self._line["end"] = [time.monotonic_ns(), None]
        self._recorder._write(self._line)

    def committed(self):
        self._end("committed")

    def aborted(self):
        self._end("aborted")

    def unknown(self):
        self._end("unknown")

    def _op(self, *op):
        if self._line["begin"][1] is None:  # the first statement has answered
            self._line["begin"][1] = time.monotonic_ns()
        self._line["ops"].append(op)

    def _end(self, status):
        self._line["status"] = status
        end = self._line.setdefault("end", [time.monotonic_ns(), None])
        if status != "unknown":
            end[1] = time.monotonic_ns()
        self._recorder._write(self._line)
