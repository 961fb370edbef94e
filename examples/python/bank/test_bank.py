import sqlite3
import threading

import bank
import pytest


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "bank.db"
    made = sqlite3.connect(path)
    made.executescript("CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER); INSERT INTO accounts VALUES (1, 100), (2, 100);")
    made.close()
    return path


@pytest.fixture
def both_have_read(monkeypatch):
    """Whoever approves waits for the other, so that both have read before one writes; where one waits for the other's
    transaction, it does not come, and the first goes on."""
    met = threading.Barrier(2)
    approve = bank.approve

    def wait(*given):
        try:
            met.wait(timeout=1)
        except threading.BrokenBarrierError:
            pass
        return approve(*given)

    monkeypatch.setattr(bank, "approve", wait)


def test_withdrawals(isolation, path, both_have_read):
    isolation.watch(sqlite3, tables={"accounts": "id"})

    def client():
        connection = bank.open_bank(path)
        bank.withdraw(connection, 1, 80)
        connection.close()

    threads = [threading.Thread(target=client) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    isolation.assert_serializable()
