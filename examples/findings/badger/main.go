// Badger: two transactions each find a range empty and write into the other's. Prints which of them committed.
package main

import (
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

func main() {
	db, err := badger.Open(badger.DefaultOptions("").WithInMemory(true).WithLogger(nil))
	if err != nil {
		panic(err)
	}
	one, other := db.NewTransaction(true), db.NewTransaction(true)
	fmt.Println("rooms booked on floor a:", count(one, "a/"), "- and on floor b:", count(other, "b/"))
	must(one.Set([]byte("b/1"), []byte("only if floor a is empty")))
	must(other.Set([]byte("a/1"), []byte("only if floor b is empty")))
	fmt.Println("commits:", one.Commit(), other.Commit())
	last := db.NewTransaction(false)
	fmt.Println("rooms booked on floor a:", count(last, "a/"), "- and on floor b:", count(last, "b/"))
}

func count(txn *badger.Txn, prefix string) (n int) {
	it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte(prefix)})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		n++
	}
	return
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
