package main

import (
	"errors"

	"github.com/dgraph-io/badger/v4"
)

// Badger in memory (mode memory) or on disk (mode disk).
type store struct{ db *badger.DB }

func open(directory, mode string) (Store, error) {
	options := badger.DefaultOptions(directory).WithSyncWrites(durable)
	if mode == "memory" {
		options = badger.DefaultOptions("").WithInMemory(true)
	}
	db, err := badger.Open(options.WithLogger(nil))
	return store{db}, err
}

func (store) Version() string { return "4.9.6" }

func (store) Ways() (reads, writes, ranges []string) {
	return []string{"Get", "iterator Seek", "key iterator", "keys only"}, []string{"Set", "SetEntry"}, []string{"forwards", "reverse", "keys only, Get"}
}

func (s store) Begin(readOnly bool) (Txn, error) { return txn{s.db.NewTransaction(!readOnly)}, nil }

type txn struct{ *badger.Txn }

func value(item *badger.Item) (found int64, err error) {
	err = item.Value(func(bytes []byte) error { found = number(bytes); return nil })
	return
}

func (t txn) Get(how int, key int64) (int64, error) {
	if how == 0 {
		item, err := t.Txn.Get(bytesOf(key))
		if errors.Is(err, badger.ErrKeyNotFound) {
			return absent, nil
		} else if err != nil {
			return 0, err
		}
		return value(item)
	}
	options := badger.DefaultIteratorOptions
	options.PrefetchValues = how != 3
	var it *badger.Iterator
	if how == 2 {
		it = t.NewKeyIterator(bytesOf(key), options)
	} else {
		it = t.NewIterator(options)
	}
	defer it.Close()
	it.Seek(bytesOf(key))
	if !it.Valid() || number(it.Item().Key()) != key {
		return absent, nil
	}
	if how == 2 && it.Item().IsDeletedOrExpired() { // this iterator shows every version
		return absent, nil
	}
	if how == 3 {
		return present, nil
	}
	return value(it.Item())
}

func (t txn) Put(how int, key, value int64) error {
	if how == 0 {
		return t.Set(bytesOf(key), bytesOf(value))
	}
	return t.SetEntry(badger.NewEntry(bytesOf(key), bytesOf(value)))
}

func (t txn) Delete(key int64) error { return t.Txn.Delete(bytesOf(key)) }

func (t txn) Range(how int, low, high int64) (rows [][2]int64, err error) {
	options := badger.DefaultIteratorOptions
	options.Reverse, options.PrefetchValues = how == 1, how != 2
	it := t.NewIterator(options)
	defer it.Close()
	from := low
	if how == 1 {
		from = high
	}
	for it.Seek(bytesOf(from)); it.Valid(); it.Next() {
		key := number(it.Item().KeyCopy(nil))
		if key < low || key > high {
			break
		}
		var found int64
		if how == 2 {
			found, err = t.Get(0, key)
		} else {
			found, err = value(it.Item())
		}
		if err != nil {
			return nil, err
		}
		if how == 1 {
			rows = append([][2]int64{{key, found}}, rows...)
		} else {
			rows = append(rows, [2]int64{key, found})
		}
	}
	return rows, nil
}

func (t txn) Commit() error {
	err := t.Txn.Commit()
	if errors.Is(err, badger.ErrConflict) {
		return errConflict
	}
	return err
}

func (t txn) Abort() { t.Discard() }
