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
// Write each value to a key once only, so that a value that is read tells who wrote it. A line with the transaction is on
// its way to the disk before COMMIT, and another with the outcome after it: whatever crashes, the file is true. Times are
// nanoseconds of a clock that never goes back; docs/formats/assay.md has every field. Keys and values are integers, strings, or nil.
package recorder

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

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
	if err == nil {
		_, err = r.file.Write(append(text, '\n'))
	}
	if r.err == nil {
		r.err = err
	}
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
}

func (t *Txn) Read(key, value any)     { t.op("r", key, value) } // nil: there is no such row
func (t *Txn) Write(key, value any)    { t.op("w", key, value) }
func (t *Txn) Append(key, element any) { t.op("append", key, element) }

// Delete: the third element names this deletion.
func (t *Txn) Delete(key any) { t.op("d", key, fmt.Sprintf("deleted %s.%d", t.Name, len(t.Ops))) }

func (t *Txn) ReadList(key any, elements []any) {
	t.op("r", key, append([]any{}, elements...))
}

func (t *Txn) Committing() {
	t.Last = &[2]any{t.recorder.now(), nil}
	t.write("pending")
}
func (t *Txn) Committed() { t.end("committed") }
func (t *Txn) Aborted()   { t.end("aborted") }
func (t *Txn) Unknown()   { t.end("unknown") }

func (t *Txn) op(op ...any) {
	if t.First[1] == nil { // the first statement has answered
		t.First[1] = t.recorder.now()
	}
	t.Ops = append(t.Ops, op)
}

func (t *Txn) end(status string) {
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
