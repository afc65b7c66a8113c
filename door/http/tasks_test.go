package http_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	httpdoor "sheaf/door/http"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestReasonOfFailedTask checks that a failed task tells its owner the reason if the task is at
// fault. Internal errors with file names go only to the log.
func TestReasonOfFailedTask(t *testing.T) {
	s, store := filling(t)
	store.fault = &fs.PathError{Op: "write", Path: "/secret/place", Err: syscall.EIO}
	submit := func(change string) string {
		var answer httpdoor.BatchAnswer
		s.get(t, "POST", "/v1/documents", `{"async": true, "documents": [`+change+`]}`, &answer)
		return answer.Task.ID
	}
	wrong, right := submit(`{"id": "api:none.md", "delete": true}`), submit(`{"id": "api:a.md", "text": "Apples."}`)
	o := s.fixture.Options
	var told []string
	o.Notice = func(err error) { told = append(told, err.Error()) }
	store.writes.Store(true)
	task := workUntilDone(t, o, wrong)
	check.That(t, strings.HasSuffix(task.Error, `nothing is called "api:none.md"`) &&
		!strings.Contains(strings.Join(told, "\n"), "none.md"), "%+v; the log says %q", task, told)
	task = workUntilDone(t, o, right)
	check.That(t, task.State == collection.TaskFailed && task.Error != "" && !strings.Contains(task.Error, "secret") &&
		strings.Contains(strings.Join(told, "\n"), "secret"), "%+v; the log says %q", task, told)
}

// TestTaskOfOtherProcess checks that the owner can read a task of another process or an earlier one at
// once. No worker has to run in this process.
func TestTaskOfOtherProcess(t *testing.T) {
	s := start(t, notes, nil)
	var answer httpdoor.BatchAnswer
	s.get(t, "POST", "/v1/documents", `{"async": true, "documents": [{"id": "api:a.md", "text": "Apples."}]}`, &answer)
	o := s.fixture.Options
	for _, state := range []string{collection.TaskWaiting, collection.TaskDone} {
		c := must.Get(collection.New(o))
		nobody := access.Grant{Scopes: []access.Scope{access.ScopeIngest}}
		task, err := c.Task(nobody, "local", answer.Task.ID)
		check.That(t, err == nil && task.State == state && (len(task.Results) == 1) == (state == collection.TaskDone),
			"%s: %+v, %v", state, task, err)
		list := c.Tasks(nobody, "local", state, 9)
		check.That(t, len(list) == 1 && list[0].ID == answer.Task.ID && len(list[0].Results) == 0, "%s: listed as %+v", state,
			list)
		for _, id := range []string{answer.Task.ID, "../tasks/" + answer.Task.ID, "0000000000000000-none", "\x00"} {
			task, err := c.Task(nobody, "another", id)
			check.That(t, errors.Is(err, sheaf.ErrNotFound), "%s for somebody else: %+v, %v", id, task, err)
		}
		check.Equal(t, len(c.Tasks(nobody, "another", "", 9)), 0, "%s: tasks of another caller", state)
		workUntilDone(t, o, answer.Task.ID)
	}
}

// batchDone returns a collection and its completed task that gave it 300 documents.
func batchDone(t *testing.T) (collection.Options, collection.Task) {
	t.Helper()
	s := start(t, notes, nil)
	var list []string
	for i := range 300 {
		list = append(list, fmt.Sprintf(`{"id": "api:many/%d.md", "text": "Dates number %d.\n"}`, i, i))
	}
	var answer httpdoor.BatchAnswer
	s.get(t, "POST", "/v1/documents", `{"documents": [`+strings.Join(list, ",")+`]}`, &answer)
	o := s.fixture.Options
	return o, workUntilDone(t, o, answer.Task.ID)
}

// TestResultsOfTasks checks that the results of a completed task survive a restart.
func TestResultsOfTasks(t *testing.T) {
	o, first := batchDone(t)
	must.That(t, len(first.Results) == 300 && first.Results[299].ETag != "", "%+v", first)
	c := must.Get(collection.New(o))
	working(t, c)
	task, err := c.Task(access.Unrestricted(), "", first.ID)
	check.That(t, err == nil && asJSON(t, task) == asJSON(t, first), "%+v, before %+v", task, first)
}

// TestLocationOfTask checks that Location leads to the task, also in another collection than the
// first. Pages of other origins may read it.
func TestLocationOfTask(t *testing.T) {
	other := collectiontest.Open(t, notes, func(o *collection.Options) { o.Name = "other & more" })
	s := start(t, notes, func(o *httpdoor.Options) {
		o.Collections, o.Origins = append(o.Collections, other.Collection), []string{"https://example.org"}
	})
	for _, coll := range []string{"", "?collection=notes", "?collection=other+%26+more"} {
		var answer httpdoor.BatchAnswer
		res := s.get(t, "POST", "/v1/documents"+coll, `{"async": true, "documents": [{"id": "api:a.md", "text": "Apples."}]}`,
			&answer, "Origin", "https://example.org")
		var task collection.Task
		if s.get(t, "GET", res.Header.Get("Location"), "", &task); task.ID != answer.Task.ID {
			t.Errorf("%s: at %s is %+v", coll, res.Header.Get("Location"), task)
		}
		check.Contains(t, res.Header.Get("Access-Control-Expose-Headers"), "Location")
	}
}

// TestPartlyRejectedTaskAfterCrash checks a task that the store took in part, whose process ended before it
// stored the outcome. The next process reaches the same outcome: it repeats no change that was
// made, and tries the others once more.
func TestPartlyRejectedTaskAfterCrash(t *testing.T) {
	var crash func(*testing.T)
	s := startOf(t, collectiontest.Open(t, notes, func(o *collection.Options) {
		o.Backend = collectiontest.Picky{Backend: o.Backend}
		crash = copies(o)
	}), nil)
	s.get(t, "PUT", "/v1/documents/api:old.md", `{"text": "Apples."}`, &struct{}{})
	var answer httpdoor.BatchAnswer
	s.get(t, "POST", "/v1/documents", `{"async": true, "documents": [{"id": "api:old.md", "delete": true}, {"id": `+
		`"api:new.md", "text": "Cherries.", "if_none_match": "*"}, {"id": "api:other.md", "text": "Plums, heavy.", `+
		`"if_none_match": "*"}]}`, &answer)
	first := workUntilDone(t, s.fixture.Options, answer.Task.ID)
	crash(t) // as before the outcome was stored
	again := workUntilDone(t, s.fixture.Options, answer.Task.ID)
	check.That(t, first.State == collection.TaskFailed && strings.Contains(first.Error, "2 of 3 changes are made") &&
		again.State == first.State && again.Error == first.Error, "first %+v, looked at again %+v", first, again)
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text := must.Get(json.Marshal(v))
	return string(text)
}

// workUntilDone runs the worker of a collection until a task has ended.
func workUntilDone(t *testing.T, o collection.Options, id string) collection.Task {
	t.Helper()
	c, err := collection.New(o)
	must.Do(t, err)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Work(ctx) }()
	defer func() {
		stop()
		check.NoError(t, <-done, "end of the work")
	}()
	var task *collection.Task
	eventually(t, "the task ends", func() bool {
		task, err = c.Task(access.Unrestricted(), "", id)
		return err == nil && task.State != collection.TaskWaiting
	})
	return *task
}

// TestUnreadableFilesBlockNothing checks that unreadable task and document files of an earlier version
// stay, are reported, and do not block others.
func TestUnreadableFilesBlockNothing(t *testing.T) {
	s := start(t, notes, nil)
	s.get(t, "PUT", "/v1/documents/api:a.md", `{"text": "Apples."}`, &collection.Stored{})
	var answer httpdoor.BatchAnswer
	s.get(t, "POST", "/v1/documents", `{"async": true, "documents": [{"id": "api:b.md", "text": "Bananas."}]}`, &answer)
	o := s.fixture.Options
	tasks, documents := filepath.Join(o.Intake, "tasks"), filepath.Join(o.Intake, "documents")
	must.Do(t, errors.Join(os.MkdirAll(tasks, 0o700), os.MkdirAll(documents, 0o700)))
	files := map[string]string{
		filepath.Join(tasks, "0000000000000000-half.json"):             `{"id": "0000000000000000-ha`,
		filepath.Join(tasks, "0000000000000000-other.json"):            `{"id": "0000000000000000-another"}`,
		filepath.Join(documents, strings.Repeat("0", 32)+"-half.json"): `{"id": "api:c.md", "docu`,
		filepath.Join(documents, strings.Repeat("1", 32)+
			"-none.json"): `{"id": "api:d.md", "document": {"text": "Dates."}}`,
	}
	for name, content := range files {
		must.Do(t, os.WriteFile(name, []byte(content), 0o600))
	}
	var told []string
	o.Notice = func(err error) { told = append(told, err.Error()) }
	c := must.Get(collection.New(o))
	working(t, c)
	eventually(t, "the task is done", func() bool { return len(found(t, s, "bananas")) > 0 })
	r := must.Get(c.For(access.Unrestricted()))
	defer r.Close()
	status := must.Get(r.Status(t.Context()))
	named := map[string]string{}
	for _, skip := range status.Skipped {
		named[skip.Path] = skip.Detail
	}
	for name, content := range files {
		check.That(t, strings.Contains(named[name], name) && strings.Contains(strings.Join(told, "\n"), name),
			"%s: status says %q, told %q", name, named[name], told)
		now, err := os.ReadFile(name)
		check.That(t, err == nil && string(now) == content, "%s: %q, %v", name, now, err)
	}
}
