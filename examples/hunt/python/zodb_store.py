"""ZODB in a file: a BTree, a connection for each transaction. Mode cells: each value is a persistent object of its own."""
import importlib.metadata
import os

import BTrees
import persistent
import transaction
import ZODB
import ZODB.FileStorage
import ZODB.POSException
from hunt import Conflict, PRESENT

TREE = BTrees.family64.IO.BTree


class Cell(persistent.Persistent):
    value = None


class Store:
    reads, writes, ranges = ["get", "in", "items of one"], ["set"], ["items", "keys, get"]
    version = importlib.metadata.version("ZODB")

    def __init__(self, directory, mode):
        self.db, self.cells = ZODB.DB(ZODB.FileStorage.FileStorage(os.path.join(directory, "hunt.fs")), pool_size=20), mode == "cells"
        with self.db.transaction() as connection:
            connection.root().setdefault("kv", TREE())

    def begin(self, read_only):
        return Txn(self)

    def close(self):
        self.db.close()


def refusing(method):
    def wrapped(*args):
        try:
            return method(*args)
        except ZODB.POSException.ConflictError as error:
            raise Conflict from error
    return wrapped


class Txn:
    def __init__(self, store):
        self.manager, self.cells = transaction.TransactionManager(explicit=True), store.cells
        self.manager.begin()
        self.connection = store.db.open(self.manager)
        self.tree = self.connection.root()["kv"]

    def value(self, found):
        return found.value if self.cells and found is not None else found

    @refusing
    def get(self, how, key):
        if how == 1:
            return PRESENT if key in self.tree else None
        found = self.tree.get(key) if how == 0 else next(iter(self.tree.values(key, key)), None)
        return self.value(found)

    @refusing
    def put(self, how, key, value):
        if self.cells:
            if key not in self.tree:
                self.tree[key] = Cell()
            self.tree[key].value = value
        else:
            self.tree[key] = value

    @refusing
    def delete(self, key):
        del self.tree[key]

    @refusing
    def range(self, how, low, high):
        if how == 0:
            return [(key, self.value(value)) for key, value in self.tree.items(low, high)]
        return [(key, self.value(self.tree[key])) for key in self.tree.keys(low, high)]

    @refusing
    def commit(self):
        self.manager.commit()
        self.connection.close()

    def abort(self):
        self.manager.abort()
        self.connection.close()
