package http_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	httpdoor "sheaf/door/http"
)

// A task of which the store took a part, and whose end was not kept because the process ended
// between, ends the same when the next one looks: what was made is not made twice, the rest is tried
// once more.
func TestTaskRefusedOnce(t *testing.T) {
	var crash func(*testing.T)
	s := startOf(t, collectiontest.Open(t, notes, func(o *collection.Options) {
		o.Backend = picky{o.Backend}
		crash = copies(o)
	}), nil)
	s.get(t, "PUT", "/v1/documents/api:old.md", `{"text": "Apples."}`, &struct{}{})
	var answer httpdoor.BatchAnswer
	s.get(t, "POST", "/v1/documents", `{"async": true, "documents": [{"id": "api:old.md", "delete": true}, {"id": `+
		`"api:new.md", "text": "Cherries.", "if_none_match": "*"}, {"id": "api:other.md", "text": "Plums, heavy.", `+
		`"if_none_match": "*"}]}`, &answer)
	first := workUntilDone(t, s.fixture.Options, answer.Task.ID)
	crash(t) // it is as it was just before its end was kept
	again := workUntilDone(t, s.fixture.Options, answer.Task.ID)
	if first.State != collection.TaskFailed || !strings.Contains(first.Error, "2 of 3 changes are made") ||
		again.State != first.State || again.Error != first.Error {
		t.Errorf("first %+v, looked at again %+v", first, again)
	}
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
	var task *collection.Task
	eventually(t, "the task ends", func() bool {
		task, err = c.Task(access.Unrestricted(), "", id)
		return err == nil && task.State != collection.TaskWaiting
	})
	return *task
}

// Files of tasks and documents of an earlier version that cannot be read hold up nothing else:
// they are named and stay.
func TestUnreadableHoldsUpNothing(t *testing.T) {
	s := start(t, notes, nil)
	s.get(t, "PUT", "/v1/documents/api:a.md", `{"text": "Apples."}`, &collection.Stored{})
	var answer httpdoor.BatchAnswer
	s.get(t, "POST", "/v1/documents", `{"async": true, "documents": [{"id": "api:b.md", "text": "Bananas."}]}`, &answer)
	o := s.fixture.Options
	tasks, documents := filepath.Join(o.Intake, "tasks"), filepath.Join(o.Intake, "documents")
	if err := errors.Join(os.MkdirAll(tasks, 0o700), os.MkdirAll(documents, 0o700)); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		filepath.Join(tasks, "0000000000000000-half.json"):             `{"id": "0000000000000000-ha`,
		filepath.Join(tasks, "0000000000000000-other.json"):            `{"id": "0000000000000000-another"}`,
		filepath.Join(documents, strings.Repeat("0", 32)+"-half.json"): `{"id": "api:c.md", "docu`,
		filepath.Join(documents, strings.Repeat("1", 32)+
			"-none.json"): `{"id": "api:d.md", "document": {"text": "Dates."}}`,
		filepath.Join(documents, "batch.begun"): `[{"id": "api:a`,
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
	eventually(t, "the task is done", func() bool { return len(found(t, s, "bananas")) > 0 })
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
}
