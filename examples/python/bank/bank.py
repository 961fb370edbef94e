"""Accounts in SQLite. Withdrawals must not take more than there is."""
import sqlite3

# Python's sqlite3 begins a transaction before the first statement that changes something, not before a SELECT: the balance is
# read outside of it, and may have changed when it is written. With BEGIN IMMEDIATE it may not.
BEGINS = False


def open_bank(path):
    return sqlite3.connect(path, timeout=30)


def approve(balance, amount):
    return balance >= amount


def withdraw(bank, account, amount):
    if BEGINS:
        bank.execute("BEGIN IMMEDIATE")
    (balance,) = bank.execute("SELECT balance FROM accounts WHERE id = ?", (account,)).fetchone()
    if approve(balance, amount):
        bank.execute("UPDATE accounts SET balance = ? WHERE id = ?", (balance - amount, account))
    bank.commit()
