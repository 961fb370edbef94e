"""A dictionary under one lock. Mode "broken": the lock is let go between the operations of a transaction, and it has no log to undo."""
import threading
from contextlib import nullcontext

VERSION = "1"


class Store:
    reads, writes, ranges, version = ["get", "in"], ["put"], ["sorted"], VERSION

    def __init__(self, directory, mode):
        self.rows = {}
        self.lock = nullcontext() if mode == "broken" else threading.Lock()

    def begin(self, read_only):
        return Txn(self)

    def close(self):
        pass


class Txn:
    def __init__(self, store):
        self.store, self.undo = store, {}
        store.lock.__enter__()

    def get(self, how, key):
        if how == 1:
            from hunt import PRESENT
            return PRESENT if key in self.store.rows else None
        return self.store.rows.get(key)

    def put(self, how, key, value):
        self.undo.setdefault(key, self.store.rows.get(key))
        self.store.rows[key] = value

    def delete(self, key):
        self.undo.setdefault(key, self.store.rows.get(key))
        self.store.rows.pop(key, None)

    def range(self, how, low, high):
        return sorted((key, value) for key, value in list(self.store.rows.items()) if low <= key <= high)

    def commit(self):
        self.store.lock.__exit__(None, None, None)

    def abort(self):
        for key, value in self.undo.items():
            self.store.rows.pop(key, None)
            if value is not None:
                self.store.rows[key] = value
        self.commit()
