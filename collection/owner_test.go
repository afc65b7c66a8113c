package collection_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/collection/intake"
)

// TestOneProcessAcceptsDocuments checks that, of two processes with one index, only the first with Work accepts
// documents. The other accepts them after the first ends. Tasks run once.
func TestOneProcessAcceptsDocuments(t *testing.T) {
	a := collectiontest.Open(t, map[string]string{"a.md": "# A\n"}, nil)
	b := a.Beside(t)
	work := func(f *collectiontest.Fixture) (end func()) { return collectiontest.Working(t, f.Collection) }
	put := func(text string) []collection.Change {
		return []collection.Change{{ID: "api:given.md", Put: &collection.DocumentInput{Text: "# Given\n\n" + text + "\n"}}}
	}
	grant, words := access.Unrestricted(), map[string]string{"meaning": "0"}
	until := func(what string, try func() error) {
		t.Helper()
		for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
			err := try()
			if err == nil {
				return
			}
			if time.Since(began) > time.Minute {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
	write := func(f *collectiontest.Fixture, text string) error {
		_, err := f.Collection.Write(t.Context(), grant, put(text))
		return err
	}
	for _, f := range []*collectiontest.Fixture{a, b} { // without Work, both can write in turn
		if err := write(f, "harbor"); err != nil {
			t.Fatal(err)
		}
	}
	endA := work(a)
	until("the first one", func() error { return write(a, "ship") })
	endB := work(b)
	refused := write(b, "boat")
	if !errors.Is(refused, sheaf.ErrUnavailable) || !strings.Contains(refused.Error(), "another process") {
		t.Errorf("the second one writes: %v, want ErrUnavailable", refused)
	}
	if _, err := b.Submit(t.Context(), grant, "", put("boat")); !errors.Is(err, sheaf.ErrUnavailable) {
		t.Errorf("the second one takes a task: %v, want ErrUnavailable", err)
	}
	if r := reader(t, b, grant); len(find(t, r, collection.SearchRequest{Text: "ship", Parameters: words}).Results) != 1 {
		t.Error("the second one does not find what the first was given")
	}
	task, err := a.Submit(t.Context(), grant, "", put("canoe"))
	if err != nil {
		t.Fatal(err)
	}
	until("the task", func() error {
		if now, err := a.Task(grant, "", task.ID); err != nil || now.State != collection.TaskDone {
			return errors.Join(err, errors.New("it is not done"))
		}
		return nil
	})
	endA()
	until("the second one, later", func() error {
		if err := write(a, "kayak"); !errors.Is(err, sheaf.ErrUnavailable) {
			return fmt.Errorf("the first one writes after it: %v, want ErrUnavailable", err)
		}
		return nil
	})
	until("the second one, later", func() error { return write(b, "raft") })
	if now, err := b.Task(grant, "", task.ID); err != nil || now.State != collection.TaskDone {
		t.Errorf("the first one's task: %+v, %v", now, err)
	}
	endB()
	if r := reader(t, a, grant); len(find(t, r, collection.SearchRequest{Text: "raft", Parameters: words}).Results) != 1 {
		t.Error("what was written last is not found")
	}
}

// TestWritesFailOnDamagedIntake checks that writes fail and searches work while the file of given documents is damaged.
func TestWritesFailOnDamagedIntake(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nA harbor.\n"}, nil)
	if err := os.WriteFile(intake.Open(f.Options.Intake).Path(), bytes.Repeat([]byte("no file of bbolt"), 4096),
		0o600); err != nil {
		t.Fatal(err)
	}
	f.WillWork()
	workUntil(t, f.Collection, func() bool { return true })
	began := time.Now()
	_, err := f.Collection.Write(t.Context(), access.Unrestricted(),
		[]collection.Change{{ID: "api:a.md", Put: &collection.DocumentInput{Text: "Apples."}}})
	if took := time.Since(began); !errors.Is(err, intake.ErrDamaged) || took > 5*time.Second {
		t.Errorf("after %v: %v", took, err)
	}
}
