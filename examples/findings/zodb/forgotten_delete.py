"""ZODB: a key of a BTree that others inserted and deleted since the snapshot can be inserted; one that is still there cannot. One thread, two connections.

    pip install ZODB==6.1; python3 forgotten_delete.py"""
import tempfile

import BTrees
import transaction
import ZODB
import ZODB.FileStorage
import ZODB.POSException


def run(deleted):
    db = ZODB.DB(ZODB.FileStorage.FileStorage(tempfile.mkdtemp() + "/data.fs"))
    with db.transaction() as connection:
        connection.root()["tree"] = BTrees.family64.IO.BTree({1: 10})
    manager = transaction.TransactionManager(explicit=True)
    manager.begin()
    tree = db.open(manager).root()["tree"]
    snapshot = tree[1]
    for change in [{1: 20}, {2: 20}] + [{2: None}] * deleted:  # each a transaction, committed before this one goes on
        with db.transaction() as other:
            for key, value in change.items():
                if value is None:
                    del other.root()["tree"][key]
                else:
                    other.root()["tree"][key] = value
    tree[2] = 30
    try:
        manager.commit()
        outcome = "committed"
    except ZODB.POSException.ConflictError as error:
        outcome = f"refused ({type(error).__name__})"
    with db.transaction() as connection:
        after = dict(connection.root()["tree"])
    print(f"2 inserted{' and deleted' if deleted else ''} since the snapshot, which has 1: {snapshot}: {outcome}; the tree is {after}")


run(False)
run(True)
