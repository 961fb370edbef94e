// Package assaytest judges the transactions that an application does on PostgreSQL during a test.
//
//	func TestWithdrawals(t *testing.T) {
//		url := assaytest.Record(t, os.Getenv("DATABASE_URL"), "serializable")
//		…the application connects to url…
//	}
package assaytest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
)

var listening = regexp.MustCompile(`listening: .*?postgresql://([^/, ]+)`)

// Record starts `assay record` in front of a database, and returns the URL by which the application reaches the database through it.
// When the test ends, it fails unless what was recorded satisfies the level. It fails, too, where nothing was recorded.
func Record(t testing.TB, database, level string) string {
	t.Helper()
	given, err := url.Parse(database)
	if err != nil || given.Host == "" {
		t.Fatalf("assaytest: %q is not a database URL; expected one such as postgresql://me@localhost/shop", database)
	}
	folder, err := os.MkdirTemp("", "assay-")
	if err != nil {
		t.Fatalf("assaytest: %v", err)
	}
	_, file, line, _ := runtime.Caller(1)
	recorder := exec.Command(program(), "record", "--history", filepath.Join(folder, "history.jsonl"), "--listen", "127.0.0.1:0",
		"--level", level, "--until-input-ends", "--test", fmt.Sprintf("%s:%d", file, line))
	recorder.Env = append(os.Environ(), "ASSAY_DATABASE_URL="+database) // who lists processes does not see a password there
	var verdict bytes.Buffer
	recorder.Stdout = &verdict
	input, noInput := recorder.StdinPipe()
	errors, noErrors := recorder.StderrPipe()
	if noInput != nil || noErrors != nil {
		t.Fatalf("assaytest: %v %v", noInput, noErrors)
	}
	if err := recorder.Start(); err != nil {
		t.Fatalf("assaytest: no program assay on the PATH or in ASSAY_PROGRAM: %v", err)
	}
	notes := bufio.NewReader(errors)
	address, said := addressIn(notes)
	if address == "" {
		_ = recorder.Wait()
		t.Fatalf("assaytest: cannot record\n%s", said)
	}
	t.Cleanup(func() {
		t.Helper()
		_ = input.Close()
		rest, _ := io.ReadAll(notes)
		if err := recorder.Wait(); err != nil {
			t.Errorf("%s is not confirmed (%v)\n%s%s", level, err, verdict.String(), rest)
			return
		}
		t.Log(verdict.String())
		_ = os.RemoveAll(folder)
	})
	return through(given, address)
}

func program() string {
	if named := os.Getenv("ASSAY_PROGRAM"); named != "" {
		return named
	}
	return "assay"
}

// addressIn reads up to the line that says where the recorder listens.
func addressIn(notes *bufio.Reader) (address, said string) {
	for {
		line, err := notes.ReadString('\n')
		said += line
		if found := listening.FindStringSubmatch(line); found != nil {
			return found[1], said
		}
		if err != nil {
			return "", said
		}
	}
}

func through(database *url.URL, address string) string {
	there := *database
	there.Host = address
	options := there.Query()
	options.Set("sslmode", "disable") // the recorder is on this machine, and speaks no TLS
	there.RawQuery = options.Encode()
	return fmt.Sprint(&there)
}
