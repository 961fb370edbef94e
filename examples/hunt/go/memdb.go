package main

import "github.com/hashicorp/go-memdb"

// go-memdb: immutable radix trees, one writer, readers in snapshots.
type store struct{ db *memdb.MemDB }

type row struct{ K, V int64 }

func open(directory, mode string) (Store, error) {
	db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: map[string]*memdb.TableSchema{"kv": {Name: "kv", Indexes: map[string]*memdb.IndexSchema{
		"id":    {Name: "id", Unique: true, Indexer: &memdb.IntFieldIndex{Field: "K"}},
		"value": {Name: "value", Indexer: &memdb.IntFieldIndex{Field: "V"}}}}}})
	return store{db}, err
}

func (store) Version() string { return "1.3.5" }

func (store) Ways() (reads, writes, ranges []string) {
	return []string{"First", "Get", "FirstWatch", "Last", "Snapshot"}, []string{"Insert"}, []string{"LowerBound", "ReverseLowerBound", "by value"}
}

func (s store) Begin(readOnly bool) (Txn, error) { return txn{s.db.Txn(!readOnly)}, nil }

type txn struct{ tx *memdb.Txn }

func (t txn) Get(how int, key int64) (int64, error) {
	var found any
	var err error
	switch how {
	case 0:
		found, err = t.tx.First("kv", "id", key)
	case 1:
		var it memdb.ResultIterator
		if it, err = t.tx.Get("kv", "id", key); err == nil {
			found = it.Next()
		}
	case 2:
		_, found, err = t.tx.FirstWatch("kv", "id", key)
	case 3:
		found, err = t.tx.Last("kv", "id", key)
	default:
		found, err = t.tx.Snapshot().First("kv", "id", key)
	}
	if err != nil {
		return 0, err
	}
	if one, ok := found.(*row); ok && one != nil {
		return one.V, nil
	}
	return absent, nil
}

func (t txn) Put(how int, key, value int64) error { return t.tx.Insert("kv", &row{key, value}) }
func (t txn) Delete(key int64) error              { return t.tx.Delete("kv", &row{K: key}) }

func (t txn) Range(how int, low, high int64) (rows [][2]int64, err error) {
	var it memdb.ResultIterator
	switch how {
	case 0:
		it, err = t.tx.LowerBound("kv", "id", low)
	case 1:
		it, err = t.tx.ReverseLowerBound("kv", "id", high)
	default:
		it, err = t.tx.Get("kv", "value")
	}
	if err != nil {
		return nil, err
	}
	byKey := map[int64]int64{}
	for found := it.Next(); found != nil; found = it.Next() {
		one := found.(*row)
		if one.K >= low && one.K <= high {
			byKey[one.K] = one.V
		} else if how < 2 {
			break
		}
	}
	for key := low; key <= high; key++ {
		if value, there := byKey[key]; there {
			rows = append(rows, [2]int64{key, value})
		}
	}
	return
}

func (t txn) Commit() error { t.tx.Commit(); return nil }
func (t txn) Abort()        { t.tx.Abort() }
