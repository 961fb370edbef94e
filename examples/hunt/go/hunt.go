// Runs plans of transactions against a store in this process, a goroutine for each session, and writes histories of assay.
// `harness DIRECTORY MODE`, then a line `PLAN HISTORY` of standard input for each plan (dev/hunt.d/plans.py).
//
// Where HUNT_DURABLE is set, what is committed must survive kill -9, and each line of the history is written at once: what is to be
// committed before the commit, as pending.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// Store is what a store's file defines, with a function open(directory, mode).
type Store interface {
	Version() string
	Ways() (reads, writes, ranges []string) // the ways to read a key, to write one, to read a range
	Begin(readOnly bool) (Txn, error)
}

type Txn interface {
	Get(how int, key int64) (int64, error) // absent, or present if this way tells only that it is there
	Put(how int, key, value int64) error
	Delete(key int64) error
	Range(how int, low, high int64) ([][2]int64, error) // in order, both ends included
	Commit() error
	Abort()
}

const (
	absent  = math.MinInt64
	present = math.MinInt64 + 1
)

// errConflict: the store refused, and nothing of the transaction remains.
var errConflict = errors.New("conflict")

var _, durable = os.LookupEnv("HUNT_DURABLE")

// The monotonic clock of the machine, by which the processes before and after a kill agree.
var start, started = time.Now(), machineTime()

func machineTime() int64 {
	var t syscall.Timespec
	const monotonic = 1
	if _, _, failed := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, monotonic, uintptr(unsafe.Pointer(&t)), 0); failed != 0 {
		panic(failed)
	}
	return t.Nano()
}

func now() int64 { return started + int64(time.Since(start)) }

type planned struct {
	readOnly, commits bool
	ops               [][]string
}

type results struct {
	sync.Mutex
	counts map[string]any
	errors map[string]int
}

func main() {
	store, err := open(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	reads, writes, ranges := store.Ways()
	hello, _ := json.Marshal(map[string]any{"version": store.Version(), "reads": list(reads), "writes": list(writes), "ranges": list(ranges)})
	fmt.Println(string(hello))
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		words := strings.Fields(input.Text())
		answer, _ := json.Marshal(runPlan(store, words[0], words[1]))
		fmt.Println(string(answer))
	}
}

func list(names []string) []string { return append([]string{}, names...) }

func runPlan(store Store, plan, history string) map[string]any {
	text, err := os.ReadFile(plan)
	if err != nil {
		panic(err)
	}
	sessions, order := map[string][]planned{}, []string{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		words := strings.Fields(line)
		one := planned{readOnly: words[1] == "q", commits: words[len(words)-1] == "c"}
		for _, word := range words[2 : len(words)-1] {
			one.ops = append(one.ops, strings.Split(word, ":"))
		}
		if _, known := sessions[words[0]]; !known {
			order = append(order, words[0])
		}
		sessions[words[0]] = append(sessions[words[0]], one)
	}
	found := &results{counts: map[string]any{}, errors: map[string]int{}}
	file, err := os.OpenFile(history, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o666)
	if err != nil {
		panic(err)
	}
	write(file, []byte("{\"assay\":1}\n"))
	outs := make([]bytes.Buffer, len(order))
	var begin, end sync.WaitGroup
	begin.Add(len(order))
	for i, name := range order {
		end.Add(1)
		go func() {
			defer end.Done()
			begin.Done()
			begin.Wait()
			var out io.Writer = &outs[i]
			if durable {
				out = file
			}
			for number, one := range sessions[name] {
				runTxn(store, name, number, one, out, found)
			}
		}()
	}
	end.Wait()
	for i := range outs {
		write(file, outs[i].Bytes())
	}
	file.Close()
	found.counts["errors"] = found.errors
	return found.counts
}

func write(out io.Writer, text []byte) {
	if _, err := out.Write(text); err != nil {
		panic(err)
	}
}

func runTxn(store Store, name string, number int, one planned, out io.Writer, found *results) {
	session, _ := strconv.Atoi(name)
	tell := func(line map[string]any) {
		line["session"], line["txn"] = session, fmt.Sprintf("%s-%d", name, number)
		text, _ := json.Marshal(line)
		write(out, append(text, '\n'))
	}
	status, done, asked := "aborted", []any{}, int64(0)
	begin, first := now(), int64(0)
	txn, err := store.Begin(one.readOnly)
	for _, op := range one.ops {
		if err != nil {
			break
		}
		numbers := make([]int64, 4)
		for i, word := range op[1:] {
			numbers[i+1], _ = strconv.ParseInt(word, 10, 64)
		}
		how, key, value := int(numbers[1]), numbers[2], numbers[3]
		switch op[0] {
		case "z":
			if how == 0 {
				runtime.Gosched()
			} else {
				time.Sleep(time.Duration(how) * time.Microsecond)
			}
			continue
		case "r", "d":
			var seen int64
			if seen, err = txn.Get(how, key); err != nil {
				break
			}
			if seen == present {
				done = append(done, []any{"insert", key, 0, false})
			} else if seen == absent {
				done = append(done, []any{"r", key, nil})
			} else {
				done = append(done, []any{"r", key, seen})
			}
			if op[0] == "d" && seen != absent {
				if err = txn.Delete(key); err == nil {
					done = append(done, []any{"d", key, value})
				}
			}
		case "w":
			if err = txn.Put(how, key, value); err == nil {
				done = append(done, []any{"w", key, value})
			}
		case "s":
			var rows [][2]int64
			if rows, err = txn.Range(how, key, value); err == nil {
				done = append(done, []any{"range", key, value, append([][2]int64{}, rows...)})
			}
		}
		if first == 0 {
			first = now()
		}
	}
	if err == nil {
		if durable && one.commits {
			begun := first
			if begun == 0 {
				begun = now()
			}
			tell(map[string]any{"status": "pending", "begin": []int64{begin, begun}, "ops": done})
		}
		asked = now()
		if one.commits {
			if err = txn.Commit(); err == nil {
				status = "committed"
			}
		} else {
			txn.Abort()
		}
	}
	if err != nil {
		if !errors.Is(err, errConflict) {
			found.Lock()
			found.errors[err.Error()]++
			found.Unlock()
			if asked > 0 {
				status = "unknown"
			}
		}
		if txn != nil {
			txn.Abort()
		}
	}
	ended := now()
	if first == 0 {
		first = ended
	}
	if asked == 0 {
		asked = ended
	}
	ends := []any{asked, ended}
	if status == "unknown" {
		ends[1] = nil
	}
	tell(map[string]any{"status": status, "begin": []int64{begin, first}, "end": ends, "ops": done})
	found.Lock()
	count, _ := found.counts[status].(int)
	found.counts[status] = count + 1
	found.Unlock()
}

func bytesOf(value int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(value)) }

func number(text []byte) int64 { return int64(binary.BigEndian.Uint64(text)) }
