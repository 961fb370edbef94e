#!/usr/bin/env python3
"""A driver for assay that keeps the protocol of docs/formats/exec-protocol.md, except where it is told not to: a test of `assay exec-test`.

    faulty.py FOLDER [FAULT]           one session; FAULT is the name of the check that must be the first to fail
    faulty.py FOLDER FAULT SOCKET      all sessions, each a connection

A store of one file. A transaction commits if nothing that it read or wrote has changed since it began."""
import contextlib
import fcntl
import glob
import json
import os
import socketserver
import sys
import threading
import time

FOLDER, FAULT = sys.argv[1], (sys.argv + [""])[2]
STORE, UNFINISHED = FOLDER + "/store.json", FOLDER + "/unfinished-"
KINDS = ["r", "w", "d", "append", "list", "range", "cas", "insert"]


class Aborted(Exception):
    pass


def load():
    try:
        with open(STORE) as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def save(store):
    new = f"{STORE}.{os.getpid()}-{threading.get_ident()}"
    with open(new, "w") as file:
        json.dump(store, file)
    os.rename(new, STORE)


def alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def remove(name):
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name)


def locked(work):
    with open(FOLDER + "/lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        return work()


class Session:
    def __init__(self):
        self.id = f"{os.getpid()}-{id(self)}"
        self.seen, self.writes, self.read, self.aborted_once = {}, {}, set(), False
        self.own_copy = load()

    def hello(self):
        for name in glob.glob(UNFINISHED + "*"):
            if not alive(int(name[len(UNFINISHED):].split("-")[0])):  # was killed: what it had written comes back
                with open(name) as file:
                    save({**load(), **json.load(file)})
                remove(name)
        kinds = KINDS + ["upsert"] * (FAULT == "hello")
        return {"name": "faulty", "kinds": kinds, "batch": True}

    def value(self, key):
        """What the transaction sees there, null if nothing."""
        store = self.own_copy if FAULT == "commit" else load()
        self.seen.setdefault(key, store.get(key))
        if FAULT == "own-reads" and key in self.read:
            return self.seen[key]
        return self.writes.get(key, self.seen[key])

    def write(self, key, value):
        self.seen.setdefault(key, load().get(key))
        self.writes[key] = value
        if FAULT == "kill":
            with open(UNFINISHED + self.id, "w") as file:
                json.dump(self.writes, file)
        if FAULT == "wait":
            with open(f"{FOLDER}/writing-{key.encode().hex()}", "w") as file:
                file.write(self.id)

    def operate(self, op):
        kind, name, *rest = op
        key = json.dumps(name)
        if kind == "range":
            low, high = name, rest[0]
            keys = sorted(json.loads(k) for k in {**load(), **self.writes} if k[0] not in '"[')
            rows = [[k, self.value(json.dumps(k))] for k in keys if low <= k <= high]
            return {"rows": [row for row in rows if row[1] is not None]}
        if kind == "list":
            return {"list": self.value("[" + key) or []}
        if kind == "append":
            return self.write("[" + key, (self.value("[" + key) or []) + rest)
        if FAULT == "wait" and kind == "r":
            try:
                with open(f"{FOLDER}/writing-{key.encode().hex()}") as file:
                    if file.read() != self.id:
                        time.sleep(3600)  # until it is killed
            except FileNotFoundError:
                pass
        if kind not in KINDS:
            return {} if FAULT == "unknown-request" else {"fatal": "no operation " + kind}
        was = self.value(key)
        if kind == "r":
            self.read.add(key)
            return {"value": int(was) if FAULT == "values" and was == "17" else was}
        if kind == "w":
            return self.write(key, rest[0])
        if kind == "d":
            self.write(key, None)
            return {"effect": was is not None}
        effect = was == (rest[0] if kind == "cas" else None)
        if effect:
            self.write(key, rest[-1])
        return {"effect": effect or FAULT == "operations"}

    def commit(self):
        store = load()
        if FAULT != "commit" and any(store.get(key) != was for key, was in self.seen.items()):
            self.end()
            self.aborted_once = True
            raise Aborted("what it saw has changed")
        if FAULT == "two-sessions" and os.path.exists(FOLDER + "/open-by-another"):
            self.writes = {}
        save({**store, **self.writes})
        self.own_copy.update(self.writes)
        self.end()

    def end(self):
        if FAULT == "wait":
            for key in self.writes:
                remove(f"{FOLDER}/writing-{key.encode().hex()}")
        remove(UNFINISHED + self.id)
        self.seen, self.writes, self.read = {}, {}, set()

    def answer(self, message):
        do = message["do"]
        if do == "hello":
            return self.hello()
        if do == "prepare":
            self.own_copy = {}
            return {} if FAULT == "prepare" else locked(lambda: save({}))
        if do == "begin":
            if FAULT == "conflict" and self.aborted_once:
                return {"fatal": "a transaction was aborted"}
            if FAULT == "two-sessions":
                self.count(1)
            return {}
        if do == "op":
            return self.operate(message["op"])
        if do == "batch":
            ops = message["ops"]
            answers = [self.operate(op) or {} for op in ops]
            if FAULT == "batch":
                return {"answers": answers[1:]}
            locked(self.commit)
            return {"answers": [{"ok": True, **answer} for answer in answers]}
        if do == "commit":
            return self.end_one(lambda: locked(self.commit))
        if do == "abort":
            return self.end_one(lambda: locked(self.commit) if FAULT == "abort" else self.end())
        return {} if FAULT == "unknown-request" else {"fatal": "no request " + do}

    # For the fault of two sessions: who began second loses what it writes.
    def count(self, change):
        name = FOLDER + "/open"
        count = int(open(name).read()) if os.path.exists(name) else 0
        with open(name, "w") as file:
            file.write(str(count + change))
        if count + change > 1:
            open(FOLDER + "/open-by-another", "w").close()
        else:
            remove(FOLDER + "/open-by-another")

    def end_one(self, how):
        try:
            return how()
        finally:
            if FAULT == "two-sessions":
                self.count(-1)


def serve(requests, answers):
    session = Session()
    for line in requests:
        try:
            reply = session.answer(json.loads(line)) or {}
            if "fatal" not in reply:
                reply = {"ok": True, **reply}
        except Aborted as aborted:
            reply = {"aborted": str(aborted)}
        answers.write(json.dumps(reply).encode() + b"\n")
        answers.flush()
    session.end()
    if FAULT == "end-of-input":
        time.sleep(3600)


class Connection(socketserver.StreamRequestHandler):
    def handle(self):
        serve(self.rfile, self.wfile)


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


def main():
    if len(sys.argv) < 4:
        return serve(sys.stdin.buffer, sys.stdout.buffer)
    remove(sys.argv[3])
    with Server(sys.argv[3], Connection) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stdin.read()


main()
