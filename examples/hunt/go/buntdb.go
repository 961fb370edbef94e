package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/tidwall/buntdb"
)

// BuntDB in memory: one writer or many readers.
type store struct{ db *buntdb.DB }

func open(directory, mode string) (Store, error) {
	if !durable {
		db, err := buntdb.Open(":memory:")
		return store{db}, err
	}
	db, err := buntdb.Open(directory + "/hunt")
	if err != nil {
		return nil, err
	}
	var config buntdb.Config
	db.ReadConfig(&config)
	config.SyncPolicy = buntdb.Always
	return store{db}, db.SetConfig(config)
}

func (store) Version() string { return "1.3.0" }

func (store) Ways() (reads, writes, ranges []string) {
	return []string{"Get", "AscendGreaterOrEqual"}, []string{"Set"}, []string{"AscendRange", "DescendRange"}
}

func (s store) Begin(readOnly bool) (Txn, error) {
	tx, err := s.db.Begin(!readOnly)
	return txn{tx, !readOnly}, err
}

type txn struct {
	tx       *buntdb.Tx
	writable bool
}

func name(key int64) string { return fmt.Sprintf("%012d", key) }

func parse(text string) int64 { n, _ := strconv.ParseInt(text, 10, 64); return n }

func (t txn) Get(how int, key int64) (int64, error) {
	if how == 1 {
		found := int64(absent)
		err := t.tx.AscendGreaterOrEqual("", name(key), func(k, v string) bool {
			if parse(k) == key {
				found = parse(v)
			}
			return false
		})
		return found, err
	}
	value, err := t.tx.Get(name(key))
	if errors.Is(err, buntdb.ErrNotFound) {
		return absent, nil
	}
	return parse(value), err
}

func (t txn) Put(how int, key, value int64) error {
	_, _, err := t.tx.Set(name(key), strconv.FormatInt(value, 10), nil)
	return err
}

func (t txn) Delete(key int64) error { _, err := t.tx.Delete(name(key)); return err }

func (t txn) Range(how int, low, high int64) (rows [][2]int64, err error) {
	add := func(k, v string) bool { rows = append(rows, [2]int64{parse(k), parse(v)}); return true }
	if how == 0 {
		err = t.tx.AscendRange("", name(low), name(high+1), add)
		return
	}
	err = t.tx.DescendRange("", name(high), name(low-1), add)
	for i, j := 0, len(rows)-1; i < j; i, j = i+1, j-1 {
		rows[i], rows[j] = rows[j], rows[i]
	}
	return rows, err
}

func (t txn) Commit() error {
	if !t.writable {
		return t.tx.Rollback()
	}
	return t.tx.Commit()
}
func (t txn) Abort() { t.tx.Rollback() }
