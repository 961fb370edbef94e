package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
)

// The smallest store: a map. Mode locked: one transaction at a time. Mode logged: the same, and what is committed is appended to a file,
// which is read again when the store is opened. Mode broken: each operation under the lock, not the transaction, so that others read
// what is not committed.
type store struct {
	mode                   string
	transaction, operation sync.Mutex
	values                 map[int64]int64
	log                    *os.File
}

func open(directory, mode string) (Store, error) {
	s := &store{mode: mode, values: map[int64]int64{}}
	if mode != "logged" {
		return s, nil
	}
	path := directory + "/log"
	text, _ := os.ReadFile(path)
	for _, line := range strings.SplitAfter(string(text), "\n") {
		if strings.HasSuffix(line, ";\n") { // else the process was killed while it wrote the line
			s.replay(strings.Split(strings.TrimSuffix(line, ";\n"), ","))
		}
	}
	log, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	s.log = log
	return s, err
}

func (s *store) replay(changes []string) {
	for _, change := range changes {
		var key, value int64
		if n, _ := fmt.Sscanf(change, "%d=%d", &key, &value); n == 2 {
			s.values[key] = value
		} else {
			delete(s.values, key)
		}
	}
}

func (*store) Version() string { return "1" }

func (*store) Ways() (reads, writes, ranges []string) {
	return []string{"get"}, []string{"assign"}, []string{"filter"}
}

func (s *store) Begin(readOnly bool) (Txn, error) {
	if s.mode != "broken" {
		s.transaction.Lock()
	}
	return &txn{s, map[int64]int64{}}, nil
}

type txn struct {
	s      *store
	before map[int64]int64 // what it has changed; absent
}

func (t *txn) Get(how int, key int64) (int64, error) {
	t.s.operation.Lock()
	defer t.s.operation.Unlock()
	if value, there := t.s.values[key]; there {
		return value, nil
	}
	return absent, nil
}

func (t *txn) change(key, value int64) {
	old, _ := t.Get(0, key)
	if _, known := t.before[key]; !known {
		t.before[key] = old
	}
	t.set(key, value)
}

func (t *txn) set(key, value int64) {
	t.s.operation.Lock()
	defer t.s.operation.Unlock()
	if value == absent {
		delete(t.s.values, key)
	} else {
		t.s.values[key] = value
	}
}

func (t *txn) Put(how int, key, value int64) error { t.change(key, value); return nil }

func (t *txn) Delete(key int64) error { t.change(key, absent); return nil }

func (t *txn) Range(how int, low, high int64) ([][2]int64, error) {
	t.s.operation.Lock()
	defer t.s.operation.Unlock()
	rows := [][2]int64{}
	for key, value := range t.s.values {
		if low <= key && key <= high {
			rows = append(rows, [2]int64{key, value})
		}
	}
	sort.Slice(rows, func(i, j int) bool { return rows[i][0] < rows[j][0] })
	return rows, nil
}

func (t *txn) Commit() error {
	defer t.end()
	if t.s.log == nil || len(t.before) == 0 {
		return nil
	}
	changes := []string{}
	for key := range t.before {
		change := fmt.Sprint(key)
		if value, _ := t.Get(0, key); value != absent {
			change = fmt.Sprintf("%d=%d", key, value)
		}
		changes = append(changes, change)
	}
	_, err := t.s.log.WriteString("\n" + strings.Join(changes, ",") + ";\n") // a line of its own, whatever came before
	return err
}

func (t *txn) Abort() {
	for key, value := range t.before {
		t.set(key, value)
	}
	t.end()
}

func (t *txn) end() {
	if t.s.mode != "broken" {
		t.s.transaction.Unlock()
	}
}
