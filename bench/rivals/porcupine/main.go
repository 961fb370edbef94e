// Porcupine is a library without a format of files: this reads assay's JSON Lines, where each transaction is one read or write
// of a register, and prints what Porcupine says: ok, illegal or unknown.
//
//	porcupine FILE SECONDS
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/anishathalye/porcupine"
)

type operation struct {
	write bool
	key   string
	value any
}

type line struct {
	Session any     `json:"session"`
	Status  string  `json:"status"`
	Begin   any     `json:"begin"`
	End     any     `json:"end"`
	Ops     [][]any `json:"ops"`
}

// The outer bounds of a moment: an integer, or an interval [from, to].
func bound(moment any, last bool) int64 {
	if list, ok := moment.([]any); ok {
		i := 0
		if last {
			i = len(list) - 1
		}
		moment = list[i]
	}
	n, err := moment.(json.Number).Int64()
	fatal(err)
	return n
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func read(path string) []porcupine.Operation {
	file, err := os.Open(path)
	fatal(err)
	defer file.Close()
	clients := map[string]int{}
	var history []porcupine.Operation
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.UseNumber()
		var l line
		fatal(decoder.Decode(&l))
		if l.Session == nil || l.Status == "aborted" || len(l.Ops) == 0 {
			continue
		}
		if len(l.Ops) != 1 || l.Ops[0][0] != "r" && l.Ops[0][0] != "w" || l.Status == "unknown" {
			fatal(fmt.Errorf("expected transactions of one read or write that committed"))
		}
		session := fmt.Sprint(l.Session)
		if _, known := clients[session]; !known {
			clients[session] = len(clients)
		}
		op := operation{write: l.Ops[0][0] == "w", key: fmt.Sprint(l.Ops[0][1]), value: l.Ops[0][2]}
		history = append(history, porcupine.Operation{ClientId: clients[session], Input: op, Output: op.value,
			Call: bound(l.Begin, false), Return: bound(l.End, true)})
	}
	fatal(lines.Err())
	return history
}

// One register a key, nil at first.
var registers = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		at := map[string]int{}
		var parts [][]porcupine.Operation
		for _, o := range history {
			key := o.Input.(operation).key
			i, known := at[key]
			if !known {
				i = len(parts)
				at[key] = i
				parts = append(parts, nil)
			}
			parts[i] = append(parts[i], o)
		}
		return parts
	},
	Init: func() any { return nil },
	Step: func(state, input, output any) (bool, any) {
		if op := input.(operation); op.write {
			return true, op.value
		}
		return state == output, state
	},
}

func main() {
	if len(os.Args) != 3 {
		fatal(fmt.Errorf("usage: porcupine FILE SECONDS"))
	}
	seconds, err := strconv.ParseFloat(os.Args[2], 64)
	fatal(err)
	limit := time.Duration(seconds * float64(time.Second))
	switch porcupine.CheckOperationsTimeout(registers, read(os.Args[1]), limit) {
	case porcupine.Ok:
		fmt.Println("ok")
	case porcupine.Illegal:
		fmt.Println("illegal")
	default:
		fmt.Println("unknown")
	}
}
