// Package recorder records what an application's transactions did and saw, for `assay check`. Copy it into the application.
//
//	rec, err := recorder.New("history.jsonl", 0)       // the value that every key has at the beginning
//	session := rec.Session("worker 1")                 // one for each goroutine or connection
//
//	txn := session.Begin()                             // before the first statement is sent
//	txn.Read("x", value); txn.Write("x", 7)            // after each statement has answered
//	txn.Committing()                                   // before COMMIT is sent
//	txn.Committed()                                    // it was acknowledged
//	txn.Aborted(); txn.Unknown()                       // or: the database says it had no effect; nobody knows
//
//	session.End()                                      // nothing more of it: whoever watches the file need not wait
//
// Values may repeat, as balances do; where each is written to a key once only, a value that is read always tells who wrote it. A line
// with the transaction is on its way to the disk before COMMIT, and another with the outcome after it: whatever crashes, the file is
// true. Times are nanoseconds of a clock that never goes back; docs/formats/assay.md has every field.
//
// Keys and values are integers, strings, nil, and what can be told as one of them so that what is equal stays equal: 1.5 is "1.5",
// true is 1, a driver.Valuer what it gives the database. No call on a transaction fails: one with anything else is recorded as of
// unknown outcome, with the reason. A file that cannot be written any more is told by Close.
package recorder

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"
)

func told(value any) (out any, err error) {
	defer func() { // of whatever the application gave us
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	if v, ok := value.(driver.Valuer); ok {
		if value, err = v.Value(); err != nil {
			return nil, err
		}
	}
	switch v := value.(type) {
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano), nil
	case []byte:
		value = string(v)
	}
	v := reflect.ValueOf(value)
	switch {
	case !v.IsValid():
		return nil, nil
	case v.Kind() == reflect.Bool && v.Bool():
		return 1, nil
	case v.Kind() == reflect.Bool:
		return 0, nil
	case v.CanInt():
		return v.Int(), nil
	case v.CanUint() && v.Uint() <= math.MaxInt64:
		return v.Uint(), nil
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10), nil
	case v.CanFloat() && v.Float() == math.Trunc(v.Float()) && math.Abs(v.Float()) < 1<<63:
		return int64(v.Float()), nil
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'f', -1, v.Type().Bits()), nil
	case v.Kind() == reflect.String && utf8.ValidString(v.String()):
		return v.String(), nil
	}
	return nil, fmt.Errorf("a %T cannot be recorded", value)
}

// Recorder writes one history. The first error in writing is returned by Close.
type Recorder struct {
	mu    sync.Mutex
	file  *os.File
	start time.Time
	err   error
}

// New creates the file, which must not exist.
func New(path string, initial any) (*Recorder, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	if initial, err = told(initial); err != nil {
		return nil, err
	}
	r := &Recorder{file: file, start: time.Now()}
	r.line(map[string]any{"assay": 1, "initial": initial})
	return r, nil
}

// Holds says what this key holds before anything is written, if not `initial`.
func (r *Recorder) Holds(key, value any) { r.line(map[string]any{"key": key, "initial": value}) }

func (r *Recorder) Session(name string) *Session { return &Session{recorder: r, name: name} }

func (r *Recorder) Close() error {
	if err := r.file.Close(); r.err == nil {
		r.err = err
	}
	return r.err
}

func (r *Recorder) now() int64 { return int64(time.Since(r.start)) }

func (r *Recorder) line(v any) {
	text, err := json.Marshal(v)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil { // a line without its end must be the last
		return
	}
	if err == nil {
		_, err = r.file.Write(append(text, '\n'))
	}
	r.err = err
}

// Session: its transactions follow one another.
type Session struct {
	recorder *Recorder
	name     string
	count    int
}

func (s *Session) Begin() *Txn {
	s.count++
	return &Txn{recorder: s.recorder, Session: s.name, Name: fmt.Sprintf("%s-%d", s.name, s.count),
		First: [2]any{s.recorder.now(), nil}, Ops: [][]any{}}
}

func (s *Session) End() { s.recorder.line(map[string]any{"event": "end", "session": s.name}) }

type Txn struct {
	recorder *Recorder
	Session  string  `json:"session"`
	Name     string  `json:"txn"`
	Status   string  `json:"status"`
	First    [2]any  `json:"begin"`
	Last     *[2]any `json:"end,omitempty"`
	Ops      [][]any `json:"ops"`
	Fault    *fault  `json:"meta,omitempty"` // what is not recorded
}

type fault struct {
	Reason string `json:"not_recorded"`
}

func (t *Txn) Read(key, value any)     { t.one("r", key, value) } // nil: there is no such row
func (t *Txn) Write(key, value any)    { t.one("w", key, value) }
func (t *Txn) Append(key, element any) { t.one("append", key, element) }

// Delete: the third element names this deletion.
func (t *Txn) Delete(key any) { t.one("d", key, fmt.Sprintf("deleted %s.%d", t.Name, len(t.Ops))) }

func (t *Txn) ReadList(key any, elements []any) {
	all := make([]any, len(elements))
	for i, element := range elements {
		v, err := told(element)
		if err != nil {
			t.lack("r", err)
			return
		}
		all[i] = v
	}
	t.op("r", key, all)
}

func (t *Txn) Committing() {
	t.Last = &[2]any{t.recorder.now(), nil}
	t.write("pending")
}
func (t *Txn) Committed() { t.end("committed") }
func (t *Txn) Aborted()   { t.end("aborted") }
func (t *Txn) Unknown()   { t.end("unknown") }

func (t *Txn) one(kind string, key, value any) {
	v, err := told(value)
	if err != nil {
		t.lack(kind, err)
		return
	}
	t.op(kind, key, v)
}

func (t *Txn) op(kind string, key, value any) {
	if t.First[1] == nil { // the first statement has answered
		t.First[1] = t.recorder.now()
	}
	k, err := told(key)
	if err == nil && k == nil {
		err = fmt.Errorf("nil is no key")
	}
	if err != nil {
		t.lack(kind, err)
		return
	}
	t.Ops = append(t.Ops, []any{kind, k, value})
}

func (t *Txn) lack(kind string, err error) {
	if t.Fault == nil {
		t.Fault = &fault{kind + ": " + err.Error()}
	}
}

func (t *Txn) end(status string) {
	if status == "committed" && t.Fault != nil { // more than is recorded
		status = "unknown"
	}
	if t.Last == nil {
		t.Last = &[2]any{t.recorder.now(), nil}
	}
	if status != "unknown" {
		t.Last[1] = t.recorder.now()
	}
	t.write(status)
}

func (t *Txn) write(status string) {
	t.Status = status
	t.recorder.line(t)
}
