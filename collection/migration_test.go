package collection_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/collection/intake"
)

// older makes the folder of an earlier version with documents, tasks and answers. One task waits.
func older(t *testing.T, index string) {
	t.Helper()
	if err := os.CopyFS(index, os.DirFS(filepath.Join("testdata", "older"))); err != nil {
		t.Fatal(err)
	}
}

// TestFilesOfEarlierVersionMove checks that documents and tasks of an earlier version move to the new file.
func TestFilesOfEarlierVersionMove(t *testing.T) {
	f := collectiontest.Open(t, nil, nil)
	older(t, f.Options.Intake)
	kept, err := collection.WasGiven(f.Options.Intake)
	if err != nil || !kept("api:d1.md") || kept("api:none.md") {
		t.Errorf("before a process takes them over: %v", err)
	}
	done := workUntil(t, f.Collection, func() bool {
		return len(f.Tasks(access.Unrestricted(), "", collection.TaskDone, 9)) == 2
	})
	var ids []string
	err = intake.Open(f.Options.Intake).View(func(tx *intake.Tx) error {
		for id := range tx.Hashes() {
			ids = append(ids, string(id))
		}
		return nil
	})
	want := strings.Fields("api:b1.md api:b2.md api:d1.md api:d2.md api:d3.md api:k0.md api:k1.md " +
		"api:t1.md api:t2.md")
	if slices.Sort(ids); err != nil || !slices.Equal(ids, want) {
		t.Errorf("given are %v, %v; want %v", ids, err, want)
	}
	r := reader(t, f, access.Unrestricted())
	for id, tag := range map[sheaf.ID]string{"api:d1.md": "cf4bc0ef30b841102094eaca4e1dedd0",
		"api:b2.md": "8380b841315e665bb6e22377a5b7ea69"} {
		d, err := r.Document(t.Context(), id)
		if err != nil || !strings.Contains(d.ETag, tag) {
			t.Errorf("%s: %+v, %v: want the version %s", id, d, err, tag)
		}
	}
	for _, name := range []string{"documents", "tasks", "answers.jsonl"} {
		if _, err := os.Stat(filepath.Join(f.Options.Intake, name)); !os.IsNotExist(err) {
			t.Errorf("%s is there: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(f.Options.Intake, "moved-1", name)); err != nil {
			t.Error(err)
		}
	}
	done()
}

// workUntil makes a collection apply accepted changes until so returns true.
func workUntil(t *testing.T, c *collection.Collection, so func() bool) (end func()) {
	t.Helper()
	end = collectiontest.Working(t, c)
	for deadline := time.Now().Add(time.Minute); c.Ready(t.Context()) != nil || !so(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it is not done: %v", c.Ready(t.Context()))
		}
	}
	return end
}
