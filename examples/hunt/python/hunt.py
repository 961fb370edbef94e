"""Runs plans of transactions against a store in this process, a thread for each session, and writes histories of assay.

A store is a module with a class Store(directory, mode); see memory.py beside this file, the smallest. The methods:

    reads, writes, ranges   lists of names: the ways to read a key, to write one, to read a range ([] if there is none)
    version                 of the library, a string
    begin(read_only)        begins a transaction in this thread and returns it; it has
      get(how, key)         the value, None if absent, or PRESENT if this way tells only that it is there
      put(how, key, value)
      delete(key)
      range(how, low, high) pairs (key, value) in order, both ends included
      commit(), abort()
    close()

Where HUNT_DURABLE is set, what is committed must survive kill -9, and each line of the history is written at once: what is to be
committed before the commit, as pending.

A refusal by the store that leaves no trace of the transaction is the exception Conflict. Any other exception is counted as an error:
the transaction is aborted, or of unknown outcome if it was committing.
"""
import importlib
import json
import os
import sys
import threading
import time
from collections import Counter

PRESENT = object()
DURABLE = "HUNT_DURABLE" in os.environ


class Conflict(Exception):
    pass


def run_session(store, lines, session, barrier, tell, errors):
    barrier.wait()
    for number, (kind, ops, end) in enumerate(lines):
        status, txn, done, first, asked = "aborted", None, [], None, None
        begin = time.monotonic_ns()
        try:
            txn = store.begin(kind == "q")
            for op in ops:
                what, how = op[0], int(op[1])
                if what == "z":
                    time.sleep(how / 1e6)
                    continue
                key = int(op[2])
                if what in "rd":
                    value = txn.get(how, key)
                    done.append(["insert", key, 0, False] if value is PRESENT else ["r", key, value])
                if what == "d" and value is not None:
                    txn.delete(key)
                    done.append(["d", key, int(op[3])])
                elif what == "w":
                    txn.put(how, key, int(op[3]))
                    done.append(["w", key, int(op[3])])
                elif what == "s":
                    done.append(["range", key, int(op[3]), [list(row) for row in txn.range(how, key, int(op[3]))]])
                first = first or time.monotonic_ns()
            if DURABLE and end == "c":
                tell({"session": session, "txn": f"{session}-{number}", "status": "pending", "begin": [begin, first or time.monotonic_ns()], "ops": done})
            asked = time.monotonic_ns()
            if end == "c":
                txn.commit()
                status = "committed"
            else:
                txn.abort()
        except Conflict:
            abort(txn)
        except Exception as error:  # whatever the store throws
            errors[f"{type(error).__name__}: {error}"[:200]] += 1
            status = "unknown" if asked and end == "c" else "aborted"
            abort(txn)
        ended = time.monotonic_ns()
        tell({"session": session, "txn": f"{session}-{number}", "status": status, "begin": [begin, first or ended],
                    "end": [asked or ended, None if status == "unknown" else ended], "ops": done})


def abort(txn):
    try:
        if txn is not None:
            txn.abort()
    except Exception:
        pass  # it was over already


def run_plan(store, plan, file):
    sessions = {}
    for line in open(plan):
        session, kind, *ops, end = line.split()
        sessions.setdefault(session, []).append((kind, [op.split(":") for op in ops], end))
    outs, errors, barrier = [[] for _ in sessions], Counter(), threading.Barrier(len(sessions))
    if DURABLE:
        at_once = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o666)
        os.write(at_once, b'{"assay":1}\n')

    def teller(out):
        def tell(line):
            out.append(line)
            if DURABLE:
                os.write(at_once, json.dumps(line, separators=(",", ":")).encode() + b"\n")
        return tell

    threads = [threading.Thread(target=run_session, args=(store, lines, int(name), barrier, teller(out), errors), daemon=True)
               for (name, lines), out in zip(sessions.items(), outs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    count = Counter(line["status"] for out in outs for line in out if line["status"] != "pending")
    if DURABLE:
        os.close(at_once)
        return {**count, "errors": errors}
    with open(file, "w") as history:
        history.write('{"assay":1}\n')
        for out in outs:
            for line in out:
                history.write(json.dumps(line, separators=(",", ":")) + "\n")
    return {**count, "errors": errors}


def main(module, directory, mode=""):
    sys.modules["hunt"] = sys.modules[__name__]  # so that a store's Conflict is this one
    sys.setswitchinterval(1e-5)
    store = importlib.import_module(module).Store(directory, mode)
    print(json.dumps({"version": store.version, "reads": store.reads, "writes": store.writes, "ranges": store.ranges}), flush=True)
    for line in sys.stdin:  # PLAN HISTORY
        print(json.dumps(run_plan(store, *line.split())), flush=True)
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
