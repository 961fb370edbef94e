// Sessions on SQLite, recorded; SQLite is behind examples/drivers/sqlite.py: demo RECORDERS DATABASE HISTORY
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"sync"

	"demo/recorder"
)

type reply struct {
	Ok      bool
	Value   any
	Aborted string
}

func connect(recorders, database string) func(message map[string]any) reply {
	driver := exec.Command("python3", recorders+"/../drivers/sqlite.py", database)
	in, _ := driver.StdinPipe()
	out, _ := driver.StdoutPipe()
	if err := driver.Start(); err != nil {
		log.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	return func(message map[string]any) (r reply) {
		text, _ := json.Marshal(message)
		fmt.Fprintf(in, "%s\n", text)
		if lines.Scan() {
			json.Unmarshal(lines.Bytes(), &r)
		}
		return r
	}
}

func hello(ask func(map[string]any) reply, timeout int) {
	ask(map[string]any{"do": "hello", "protocol": 1, "isolation": "", "timeout_ms": timeout, "run": 1})
}

func work(rec *recorder.Recorder, number int, ask func(map[string]any) reply) {
	session := rec.Session(fmt.Sprintf("s%d", number))
	hello(ask, 50)
	for i := 0; i < 30; i++ {
		txn := session.Begin()
		a := (i*7 + number) % 5
		b, value := (a+1+i%4)%5, 1000*number+i+1
		r := ask(map[string]any{"do": "begin"})
		for _, key := range []string{fmt.Sprintf("x%d", a), fmt.Sprintf("x%d", b)} {
			if r.Ok {
				r = ask(map[string]any{"do": "op", "op": []any{"r", key}})
			}
			if r.Ok {
				txn.Read(key, r.Value)
			}
		}
		key := fmt.Sprintf("x%d", b)
		if r.Ok {
			r = ask(map[string]any{"do": "op", "op": []any{"w", key, value}})
		}
		if r.Ok {
			txn.Write(key, value)
			txn.Committing()
			r = ask(map[string]any{"do": "commit"})
		}
		switch {
		case r.Ok:
			txn.Committed()
		case r.Aborted != "":
			txn.Aborted()
		default:
			txn.Unknown()
		}
	}
	session.End()
}

func main() {
	recorders, database, history := os.Args[1], os.Args[2], os.Args[3]
	rec, err := recorder.New(history, nil)
	if err != nil {
		log.Fatal(err)
	}
	first := connect(recorders, database)
	hello(first, 5000)
	first(map[string]any{"do": "prepare"})
	var all sync.WaitGroup
	for number := 0; number < 4; number++ {
		all.Add(1)
		go func() {
			defer all.Done()
			work(rec, number, connect(recorders, database))
		}()
	}
	all.Wait()
	// What is no integer and no string: told as one, or the transaction as of unknown outcome.
	odd := rec.Session("odd")
	for _, values := range [][]any{{true, "1.5", 1.5, 2.0, "1180591620717411303424"}, {struct{}{}, 1}} {
		txn := odd.Begin()
		for key, value := range values {
			txn.Write(key, value)
		}
		txn.Committing()
		txn.Committed()
	}
	odd.End()
	if err := rec.Close(); err != nil {
		log.Fatal(err)
	}
}
