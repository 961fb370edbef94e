package main

import "go.etcd.io/bbolt"

// bbolt: one writer, readers in snapshots.
type store struct{ db *bbolt.DB }

var bucket = []byte("kv")

func open(directory, mode string) (Store, error) {
	db, err := bbolt.Open(directory+"/hunt", 0o600, &bbolt.Options{NoSync: !durable})
	if err != nil {
		return nil, err
	}
	return store{db}, db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucketIfNotExists(bucket); return err })
}

func (store) Version() string { return "1.4.3" }

func (store) Ways() (reads, writes, ranges []string) {
	return []string{"Get", "Seek"}, []string{"Put"}, []string{"Next", "Prev"}
}

func (s store) Begin(readOnly bool) (Txn, error) {
	tx, err := s.db.Begin(!readOnly)
	if err != nil {
		return nil, err
	}
	return txn{tx, tx.Bucket(bucket)}, nil
}

type txn struct {
	tx *bbolt.Tx
	b  *bbolt.Bucket
}

func (t txn) Get(how int, key int64) (int64, error) {
	if how == 1 {
		found, value := t.b.Cursor().Seek(bytesOf(key))
		if found == nil || number(found) != key {
			return absent, nil
		}
		return number(value), nil
	}
	value := t.b.Get(bytesOf(key))
	if value == nil {
		return absent, nil
	}
	return number(value), nil
}

func (t txn) Put(how int, key, value int64) error { return t.b.Put(bytesOf(key), bytesOf(value)) }
func (t txn) Delete(key int64) error              { return t.b.Delete(bytesOf(key)) }

func (t txn) Range(how int, low, high int64) (rows [][2]int64, err error) {
	cursor := t.b.Cursor()
	if how == 0 {
		for key, value := cursor.Seek(bytesOf(low)); key != nil && number(key) <= high; key, value = cursor.Next() {
			rows = append(rows, [2]int64{number(key), number(value)})
		}
		return
	}
	key, value := cursor.Seek(bytesOf(high))
	if key == nil {
		key, value = cursor.Last()
	}
	for ; key != nil && number(key) >= low; key, value = cursor.Prev() {
		if number(key) <= high {
			rows = append([][2]int64{{number(key), number(value)}}, rows...)
		}
	}
	return
}

func (t txn) Commit() error {
	if !t.tx.Writable() {
		return t.tx.Rollback()
	}
	return t.tx.Commit()
}
func (t txn) Abort() { t.tx.Rollback() }
