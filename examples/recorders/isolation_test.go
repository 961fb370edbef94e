// A test of isolation for `go test`: transactions at once, recorded, and decided by assay. Here a map under a lock stands for the database.
package recorder

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

func TestIsolation(t *testing.T) {
	assay, err := exec.LookPath("assay")
	if err != nil {
		t.Skip("assay is not on the path")
	}
	history := filepath.Join(t.TempDir(), "history.jsonl")
	rec, err := New(history, 0)
	if err != nil {
		t.Fatal(err)
	}
	var database = struct {
		sync.Mutex
		rows map[string]int
	}{rows: map[string]int{}}
	var workers sync.WaitGroup
	for w := 0; w < 4; w++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			session := rec.Session(fmt.Sprintf("worker %d", w))
			for i := 0; i < 50; i++ {
				from, to := fmt.Sprintf("account %d", (i+w)%3), fmt.Sprintf("account %d", (i+w+1)%3)
				txn := session.Begin()
				database.Lock()
				a, b := database.rows[from], database.rows[to]
				txn.Read(from, a)
				txn.Read(to, b)
				database.rows[from], database.rows[to] = a-1, b+1
				txn.Write(from, a-1)
				txn.Write(to, b+1)
				txn.Committing()
				database.Unlock()
				txn.Committed()
			}
			session.End()
		}()
	}
	workers.Wait()
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(assay, "check", history, "--level", "serializable").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out) // 1: violated, 2: not decided
	}
}
