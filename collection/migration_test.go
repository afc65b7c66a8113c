package collection_test

import (
	"encoding/hex"
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

// older makes the folder of an earlier version with documents, tasks and answers. One task waits,
// and one batch is unfinished.
func older(t *testing.T, index string) {
	t.Helper()
	if err := os.CopyFS(index, os.DirFS(filepath.Join("testdata", "older"))); err != nil {
		t.Fatal(err)
	}
}

// olderDay is the day of the answers of the earlier version.
var olderDay = time.Date(2026, 11, 29, 7, 0, 0, 0, time.UTC)

// TestFilesOfEarlierVersionMove checks that documents, tasks and answers of an earlier version move to the new
// file, without unacknowledged ones.
func TestFilesOfEarlierVersionMove(t *testing.T) {
	f := collectiontest.Open(t, nil, func(o *collection.Options) { o.Now = func() time.Time { return olderDay } })
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
	want := strings.Fields("api:b1.md api:b2.md api:d1.md api:d2.md api:d3.md api:t1.md api:t2.md")
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
	var key collection.Key
	for part, text := range map[*[32]byte]string{
		&key.Name:    "c8e974d672f5e329d16b2dd0943a2b20ad9cbd603d299d7ef1827ac166161539",
		&key.Request: "34ef882dd262c045ff165e84eadb3e606d889cad40f6e0425bdc7b442b5929aa"} {
		if _, err := hex.Decode(part[:], []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	again, err := f.Collection.Write(collection.WithKey(t.Context(), key), access.Unrestricted(),
		[]collection.Change{{ID: "api:d1.md", Put: &collection.DocumentInput{Text: "Another."}}})
	if err != nil || len(again) != 1 || again[0].ETag != `"cf4bc0ef30b841102094eaca4e1dedd0-69d98233"` ||
		!again[0].Created {
		t.Errorf("a request with a key that was answered before: %+v, %v", again, err)
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
