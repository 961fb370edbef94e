#!/usr/bin/env python3
"""A driver for assay in Python whose store lives in this process: all sessions are connections to one socket, each with a thread.

    assay run --database 'exec+unix:/tmp/store.sock python3 examples/drivers/threads.py /tmp/store.sock'

The store is a map with a lock for each key, which a transaction holds until it ends (strict two-phase locking). A line of JSON comes
in, a line of JSON goes out, a whole transaction in a line if assay wants it; docs/formats/exec-protocol.md."""
import contextlib
import json
import os
import socketserver
import sys
import threading
import time

KINDS = ["r", "w", "d", "append", "list", "cas", "insert"]
values, owners, changed = {}, {}, threading.Condition()  # by key; who holds its lock; that a lock was given back


class Busy(Exception):
    pass


class Transaction:
    def __init__(self, seconds):
        self.seconds, self.before = seconds, {}  # what the keys held that it has locked

    def lock(self, key):
        until = time.monotonic() + self.seconds
        with changed:
            while owners.setdefault(key, self) is not self:
                if not changed.wait(until - time.monotonic()) and owners.get(key) is not None:
                    raise Busy(f"key {key[1]} is locked")
        self.before.setdefault(key, values.get(key))

    def operate(self, op):
        kind, name, *rest = op
        if kind not in KINDS:
            raise LookupError(f"no operation {kind}")
        key = ("list" if kind in ("append", "list") else "value", name)
        self.lock(key)
        was = values.get(key)
        if kind == "r":
            return {"value": was}
        if kind == "list":
            return {"list": was or []}
        if kind == "cas" and was != rest[0] or kind == "insert" and was is not None:
            return {"effect": False}
        values[key] = None if kind == "d" else (was or []) + rest if kind == "append" else rest[-1]
        return {"effect": was is not None if kind == "d" else True}

    def end(self, undo):
        if undo:
            values.update(self.before)
        with changed:
            for key in self.before:
                del owners[key]
            changed.notify_all()
        self.before = {}


class Session(socketserver.StreamRequestHandler):
    def handle(self):
        self.transaction = Transaction(1)
        for line in self.rfile:
            try:
                reply = {"ok": True, **(self.answer(json.loads(line)) or {})}
            except Busy as busy:
                self.transaction.end(undo=True)
                reply = {"aborted": str(busy)}
            except LookupError as error:
                self.transaction.end(undo=True)
                reply = {"fatal": str(error)}
            self.wfile.write(json.dumps(reply).encode() + b"\n")
        self.transaction.end(undo=True)

    def answer(self, message):
        do = message["do"]
        if do == "hello":
            self.transaction.seconds = message["timeout_ms"] / 1000
            return {"name": "threads", "kinds": KINDS, "batch": True}
        if do == "prepare":
            return values.clear()
        if do == "op":
            return self.transaction.operate(message["op"])
        if do == "batch":
            answers = [self.transaction.operate(op) for op in message["ops"]]
            self.transaction.end(undo=False)
            return {"answers": answers}
        if do in ("commit", "abort"):
            return self.transaction.end(undo=do == "abort")
        if do != "begin":
            raise LookupError(f"no request {do}")


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 100


def main():
    with contextlib.suppress(FileNotFoundError):
        os.unlink(sys.argv[1])
    with Server(sys.argv[1], Session) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stdin.read()  # ends when the run does


main()
