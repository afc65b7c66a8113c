package http_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	httpdoor "sheaf/door/http"
)

// A task whose changes were made, and whose end was not kept because the process ended
// between, is done when the next one looks, whatever its own conditions say by then.
func TestTaskMadeOnce(t *testing.T) {
	for name, change := range map[string]string{
		"a new document": `{"id": "api:new.md", "text": "Cherries.", "if_none_match": "*"}`,
		"a version":      `{"id": "api:old.md", "text": "Cherries.", "if_match": TAG}`,
		"a deletion":     `{"id": "api:old.md", "delete": true}`,
		"several": `{"id": "api:old.md", "delete": true}, {"id": "api:new.md", "text": "Cherries.", ` +
			`"if_none_match": "*"}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, notes, nil)
			res, body := s.ask(t, "PUT", "/v1/documents/api:old.md", `{"text": "Apples."}`)
			if res.StatusCode != 201 {
				t.Fatalf("%d %s", res.StatusCode, body)
			}
			change := strings.ReplaceAll(change, "TAG", fmt.Sprintf("%q", res.Header.Get("ETag")))
			var answer httpdoor.BatchAnswer
			s.get(t, "POST", "/v1/documents", `{"async": true, "documents": [`+change+`]}`, &answer)
			first, again := doneTwice(t, s.fixture.Options, answer.Task.ID)
			if first.State != collection.TaskDone {
				t.Fatalf("%+v", first)
			}
			if again.State != collection.TaskDone || asJSON(t, again.Results) != asJSON(t, first.Results) {
				t.Errorf("first %+v, looked at again %+v", first, again)
			}
		})
	}
}

// So is one of which the store took a part: the rest is tried, and refused, once more.
func TestTaskRefusedOnce(t *testing.T) {
	var fixture *collectiontest.Fixture
	s := start(t, notes, func(o *httpdoor.Options) {
		fixture = collectiontest.Open(t, notes, func(o *collection.Options) { o.Backend = picky{o.Backend} })
		o.Collections = []*collection.Collection{fixture.Collection}
	})
	s.get(t, "PUT", "/v1/documents/api:old.md", `{"text": "Apples."}`, &struct{}{})
	var answer httpdoor.BatchAnswer
	s.get(t, "POST", "/v1/documents", `{"async": true, "documents": [{"id": "api:old.md", "delete": true}, {"id": `+
		`"api:new.md", "text": "Cherries.", "if_none_match": "*"}, {"id": "api:other.md", "text": "Plums, heavy.", `+
		`"if_none_match": "*"}]}`, &answer)
	first, again := doneTwice(t, fixture.Options, answer.Task.ID)
	if first.State != collection.TaskFailed || !strings.Contains(first.Error, "2 of 3 changes are made") ||
		again.State != first.State || again.Error != first.Error {
		t.Errorf("first %+v, looked at again %+v", first, again)
	}
}

// doneTwice has a task done, and again by a process that finds it as it was just before its end
// was kept.
func doneTwice(t *testing.T, o collection.Options, id string) (first, again collection.Task) {
	t.Helper()
	kept := map[string][]byte{} // as it is just before the end is kept
	o.Now = func() time.Time {
		entries, err := os.ReadDir(o.Tasks)
		if err != nil {
			t.Error(err)
		}
		clear(kept)
		for _, e := range entries {
			if kept[e.Name()], err = os.ReadFile(filepath.Join(o.Tasks, e.Name())); err != nil {
				t.Error(err)
			}
		}
		return time.Now()
	}
	first = workUntilDone(t, o, id)
	if err := errors.Join(os.RemoveAll(o.Tasks), os.MkdirAll(o.Tasks, 0o700)); err != nil {
		t.Fatal(err)
	}
	for name, content := range kept {
		if err := os.WriteFile(filepath.Join(o.Tasks, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o.Now = nil
	again = workUntilDone(t, o, id)
	if entries, err := os.ReadDir(o.Tasks); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	return first, again
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// workUntilDone has a collection do its tasks until this one has ended.
func workUntilDone(t *testing.T, o collection.Options, id string) collection.Task {
	t.Helper()
	c, err := collection.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Work(ctx) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("work ended with %v", err)
		}
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		task, err := c.Task(access.Unrestricted(), "", id)
		if err == nil && task.State != collection.TaskWaiting {
			return *task
		}
		if time.Now().After(deadline) {
			t.Fatalf("the task still waits: %+v, %v", task, err)
		}
	}
}

// Files of tasks and documents that cannot be read hold up nothing else: they are named
// and stay.
func TestUnreadableHoldsUpNothing(t *testing.T) {
	s := start(t, notes, nil)
	s.get(t, "PUT", "/v1/documents/api:a.md", `{"text": "Apples."}`, &collection.Stored{})
	var answer httpdoor.BatchAnswer
	s.get(t, "POST", "/v1/documents", `{"async": true, "documents": [{"id": "api:b.md", "text": "Bananas."}]}`, &answer)
	o := s.fixture.Options
	files := map[string]string{
		filepath.Join(o.Tasks, "0000000000000000-half.json"):             `{"id": "0000000000000000-ha`,
		filepath.Join(o.Tasks, "0000000000000000-other.json"):            `{"id": "0000000000000000-another"}`,
		filepath.Join(o.Documents, strings.Repeat("0", 32)+"-half.json"): `{"id": "api:c.md", "docu`,
		filepath.Join(o.Documents, strings.Repeat("1", 32)+
			"-none.json"): `{"id": "api:d.md", "document": {"text": "Dates."}}`,
	}
	for name, content := range files {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var told []string
	o.Notice = func(err error) { told = append(told, err.Error()) }
	c, err := collection.New(o)
	if err != nil {
		t.Fatal(err)
	}
	working(t, c)
	for deadline := time.Now().Add(time.Minute); len(found(t, s, "bananas")) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the task is not done")
		}
	}
	r, err := c.For(access.Unrestricted())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	status, err := r.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]string{}
	for _, skip := range status.Skipped {
		named[skip.Path] = skip.Detail
	}
	for name, content := range files {
		if !strings.Contains(named[name], name) || !strings.Contains(strings.Join(told, "\n"), name) {
			t.Errorf("%s: status says %q, told %q", name, named[name], told)
		}
		if now, err := os.ReadFile(name); err != nil || string(now) != content {
			t.Errorf("%s: %q, %v", name, now, err)
		}
	}
	if _, err := c.Task(access.Unrestricted(), "", "0000000000000000-half"); err == nil ||
		!strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("the task that cannot be read: %v", err)
	}
}

// TestUnfinishedFiles: what a process that was killed left of documents and tasks, their texts
// among it, does not stay.
func TestUnfinishedFiles(t *testing.T) {
	s := start(t, notes, nil)
	s.get(t, "PUT", "/v1/documents/api:a.md", `{"text": "Apples."}`, &collection.Stored{})
	var answer httpdoor.BatchAnswer
	s.get(t, "POST", "/v1/documents", `{"async": true, "documents": [{"id": "api:b.md", "text": "Bananas."}]}`, &answer)
	o := s.fixture.Options
	long := time.Now().Add(-time.Hour)
	var files []string
	for _, dir := range []string{o.Documents, o.Tasks} {
		file := filepath.Join(dir, ".new-123")
		if err := errors.Join(os.WriteFile(file, []byte(`{"id": "api:gone.md"`), 0o600),
			os.Chtimes(file, long, long)); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	if task := workUntilDone(t, o, answer.Task.ID); task.State != collection.TaskDone {
		t.Errorf("%+v", task)
	}
	for _, file := range files {
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there: %v", file, err)
		}
	}
	if len(found(t, s, "apples")) == 0 || len(found(t, s, "bananas")) == 0 {
		t.Error("documents are gone too")
	}
}
