package bank

import (
	"database/sql"
	"os"
	"sync"
	"testing"

	"assay.test/assaytest"
)

var database = os.Getenv("DATABASE_URL")

func open(t *testing.T, url string) *sql.DB {
	db, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestWithdrawals(t *testing.T) {
	if _, err := open(t, database+"?sslmode=disable").Exec("DROP TABLE IF EXISTS accounts;" +
		"CREATE TABLE accounts (id int PRIMARY KEY, balance int); INSERT INTO accounts VALUES (1, 100)"); err != nil {
		t.Fatal(err)
	}
	url := assaytest.Record(t, database, "serializable")
	db := open(t, url)
	var read, done sync.WaitGroup
	read.Add(2)
	for i := 0; i < 2; i++ {
		done.Add(1)
		go func() {
			defer done.Done()
			var first sync.Once
			err := Withdraw(db, 1, 80, func(balance int) bool {
				first.Do(func() { read.Done(); read.Wait() }) // both have read before one writes
				return balance >= 80
			})
			if err != nil {
				t.Error(err)
			}
		}()
	}
	done.Wait()
}
