// NutsDB: a key that is written twice in one transaction. Prints what the transaction and the next one read.
package main

import (
	"fmt"
	"os"

	"github.com/nutsdb/nutsdb"
)

func main() {
	directory, _ := os.MkdirTemp("", "nutsdb")
	defer os.RemoveAll(directory)
	db, err := nutsdb.Open(nutsdb.DefaultOptions, nutsdb.WithDir(directory))
	must(err)
	must(db.Update(func(tx *nutsdb.Tx) error { return tx.NewBucket(nutsdb.DataStructureBTree, "b") }))
	for _, second := range []string{"Put", "GetSet"} {
		for _, before := range []bool{false, true} {
			key := []byte(fmt.Sprint(second, before))
			if before {
				must(db.Update(func(tx *nutsdb.Tx) error { return tx.Put("b", key, []byte("0"), 0) }))
			}
			must(db.Update(func(tx *nutsdb.Tx) error {
				must(tx.Put("b", key, []byte("1"), 0))
				if second == "Put" {
					must(tx.Put("b", key, []byte("2"), 0))
				} else {
					old, err := tx.GetSet("b", key, []byte("2"))
					fmt.Printf("GetSet returned %q %v; ", old, err)
				}
				own, err := tx.Get("b", key)
				fmt.Printf("key there before: %v; Put 1, %s 2; the transaction reads %q %v; ", before, second, own, err)
				return nil
			}))
			must(db.View(func(tx *nutsdb.Tx) error {
				value, err := tx.Get("b", key)
				fmt.Printf("the next reads %q %v\n", value, err)
				return nil
			}))
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
