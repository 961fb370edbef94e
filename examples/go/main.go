// The library in a Go program, through its interface for C: checks a history file at the levels that are named and prints what
// it found. pkg-config has to find assay.
//
//	go run . run.jsonl serializable "SNAPSHOT ISOLATION"
package main

// #cgo pkg-config: assay
// #include <assay/assay_c.h>
// #include <stdlib.h>
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"
)

// Verdict on one level. Every verdict that is not unknown has been verified.
type Verdict struct {
	Level       string
	Outcome     string // "satisfied", "violated", "unknown"
	Anomaly     string // of what is violated
	Explanation string
	Reason      string // of what is unknown
}

// Check decides the levels of the history at path: names of levels or of groups, or none for the usual ones.
func Check(path string, levels ...string) ([]Verdict, error) {
	options := C.assay_options_new()
	defer C.assay_options_free(options)
	var failure *C.assay_error
	for _, level := range levels {
		name := C.CString(level)
		status := C.assay_options_level(options, name, &failure)
		C.free(unsafe.Pointer(name))
		if status != C.ASSAY_OK {
			return nil, taken(failure)
		}
	}

	file := C.CString(path)
	defer C.free(unsafe.Pointer(file))
	var history *C.assay_history
	if C.assay_history_read(file, options, &history, &failure) != C.ASSAY_OK {
		return nil, taken(failure)
	}
	defer C.assay_history_free(history)

	var audit *C.assay_audit
	if C.assay_check(history, options, &audit, &failure) != C.ASSAY_OK {
		return nil, taken(failure)
	}
	defer C.assay_audit_free(audit)

	verdicts := make([]Verdict, C.assay_verdict_count(audit))
	for i := range verdicts {
		n := C.size_t(i)
		verdicts[i] = Verdict{
			Level:       C.GoString(C.assay_verdict_level(audit, n)),
			Outcome:     C.GoString(C.assay_outcome_name(C.assay_verdict_outcome(audit, n))),
			Anomaly:     C.GoString(C.assay_verdict_anomaly(audit, n)),
			Explanation: C.GoString(C.assay_verdict_explanation(audit, n)),
			Reason:      C.GoString(C.assay_verdict_reason(audit, n)),
		}
	}
	return verdicts, nil
}

// The error in Go; the one in C is freed.
func taken(failure *C.assay_error) error {
	defer C.assay_error_free(failure)
	return errors.New(C.GoString(C.assay_error_message(failure)))
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: go run . HISTORY [LEVEL …]")
		os.Exit(4)
	}
	verdicts, err := Check(os.Args[1], os.Args[2:]...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	for _, v := range verdicts {
		fmt.Println(v.Level, v.Outcome, v.Anomaly)
		if v.Explanation != "" {
			fmt.Println(" ", v.Explanation)
		}
	}
}
