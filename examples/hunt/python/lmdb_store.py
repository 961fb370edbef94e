"""LMDB: one writer, readers in snapshots."""
import os

import lmdb
from hunt import DURABLE


class Store:
    reads, writes, ranges = ["get", "set_key", "set_range"], ["put", "replace"], ["next", "prev"]
    version = ".".join(map(str, lmdb.version()))

    def __init__(self, directory, mode):
        self.env = lmdb.open(os.path.join(directory, "lmdb"), map_size=1 << 28, sync=DURABLE)

    def begin(self, read_only):
        return Txn(self.env.begin(write=not read_only))

    def close(self):
        self.env.close()


def name(key):
    return key.to_bytes(8, "big")


def number(data):
    return int.from_bytes(data, "big")


class Txn:
    def __init__(self, txn):
        self.txn = txn
        self.commit, self.abort = txn.commit, txn.abort

    def get(self, how, key):
        if how == 0:
            value = self.txn.get(name(key))
            return None if value is None else number(value)
        cursor = self.txn.cursor()
        there = cursor.set_key(name(key)) if how == 1 else cursor.set_range(name(key)) and cursor.key() == name(key)
        return number(cursor.value()) if there else None

    def put(self, how, key, value):
        (self.txn.put if how == 0 else self.txn.replace)(name(key), value.to_bytes(8, "big"))

    def delete(self, key):
        self.txn.delete(name(key))

    def range(self, how, low, high):
        cursor, rows = self.txn.cursor(), []
        if how == 0:
            on = cursor.set_range(name(low))
            while on and number(cursor.key()) <= high:
                rows.append((number(cursor.key()), number(cursor.value())))
                on = cursor.next()
            return rows
        on = cursor.set_range(name(high)) or cursor.last()
        while on and number(cursor.key()) >= low:
            if number(cursor.key()) <= high:
                rows.insert(0, (number(cursor.key()), number(cursor.value())))
            on = cursor.prev()
        return rows
