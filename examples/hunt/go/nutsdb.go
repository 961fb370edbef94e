package main

import (
	"errors"

	"github.com/nutsdb/nutsdb"
)

// NutsDB: one writer or many readers.
type store struct{ db *nutsdb.DB }

const bucket = "kv"

func open(directory, mode string) (Store, error) {
	options := nutsdb.DefaultOptions
	options.SyncEnable = durable
	db, err := nutsdb.Open(options, nutsdb.WithDir(directory))
	if err != nil {
		return nil, err
	}
	return store{db}, db.Update(func(tx *nutsdb.Tx) error {
		if tx.ExistBucket(nutsdb.DataStructureBTree, bucket) {
			return nil
		}
		return tx.NewBucket(nutsdb.DataStructureBTree, bucket)
	})
}

func (store) Version() string { return "1.0.4" }

func (store) Ways() (reads, writes, ranges []string) {
	return []string{"Get", "MGet", "ValueLen"}, []string{"Put", "GetSet"}, []string{"GetAll", "GetKeys, Get"}
}

func (s store) Begin(readOnly bool) (Txn, error) {
	tx, err := s.db.Begin(!readOnly)
	return txn{tx}, err
}

type txn struct{ tx *nutsdb.Tx }

func (t txn) Get(how int, key int64) (int64, error) {
	if how == 1 {
		values, err := t.tx.MGet(bucket, bytesOf(key))
		if errors.Is(err, nutsdb.ErrKeyNotFound) || err == nil && len(values) == 0 {
			return absent, nil
		} else if err != nil {
			return 0, err
		}
		return number(values[0]), nil
	}
	if how == 2 {
		_, err := t.tx.ValueLen(bucket, bytesOf(key))
		if errors.Is(err, nutsdb.ErrKeyNotFound) {
			return absent, nil
		}
		return present, err
	}
	value, err := t.tx.Get(bucket, bytesOf(key))
	if errors.Is(err, nutsdb.ErrKeyNotFound) {
		return absent, nil
	} else if err != nil {
		return 0, err
	}
	return number(value), nil
}

func (t txn) Put(how int, key, value int64) error {
	if how == 1 {
		if _, err := t.tx.GetSet(bucket, bytesOf(key), bytesOf(value)); !errors.Is(err, nutsdb.ErrKeyNotFound) {
			return err
		}
	}
	return t.tx.Put(bucket, bytesOf(key), bytesOf(value), 0)
}
func (t txn) Delete(key int64) error { return t.tx.Delete(bucket, bytesOf(key)) }

func (t txn) Range(how int, low, high int64) (rows [][2]int64, err error) {
	keys, values, err := t.tx.GetAll(bucket)
	if how == 1 && err == nil {
		keys, err = t.tx.GetKeys(bucket)
	}
	if err != nil && !errors.Is(err, nutsdb.ErrBucketEmpty) {
		return nil, err
	}
	for i, key := range keys {
		if number(key) < low || number(key) > high {
			continue
		}
		found := int64(absent)
		if how == 1 {
			if found, err = t.Get(0, number(key)); err != nil {
				return nil, err
			}
		} else {
			found = number(values[i])
		}
		if found != absent {
			rows = append(rows, [2]int64{number(key), found})
		}
	}
	return rows, nil
}

func (t txn) Commit() error { return t.tx.Commit() }
func (t txn) Abort()        { t.tx.Rollback() }
