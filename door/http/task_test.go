package http_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	httpdoor "sheaf/door/http"
)

// TestTaskThatTheServerFails: why a task was given up is told to its owner when that is the
// task's own fault; what went wrong inside, with names of files, is for the log.
func TestTaskThatTheServerFails(t *testing.T) {
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
	if task := workUntilDone(t, o, wrong); !strings.HasSuffix(task.Error, `nothing is called "api:none.md"`) ||
		strings.Contains(strings.Join(told, "\n"), "none.md") {
		t.Errorf("%+v; the log is told %q", task, told)
	}
	if task := workUntilDone(t, o, right); task.State != collection.TaskFailed || task.Error == "" ||
		strings.Contains(task.Error, "secret") || !strings.Contains(strings.Join(told, "\n"), "secret") {
		t.Errorf("%+v; the log is told %q", task, told)
	}
}

// TestTaskOfAnother: a task that another process accepted, or the one before, is there for its
// owner at once, and not only when this process has found what there is to be done, if it does any.
func TestTaskOfAnother(t *testing.T) {
	s := start(t, notes, nil)
	var answer httpdoor.BatchAnswer
	s.get(t, "POST", "/v1/documents", `{"async": true, "documents": [{"id": "api:a.md", "text": "Apples."}]}`, &answer)
	o := s.fixture.Options
	for _, state := range []string{collection.TaskWaiting, collection.TaskDone} {
		c, err := collection.New(o)
		if err != nil {
			t.Fatal(err)
		}
		nobody := access.Grant{Scopes: []access.Scope{access.ScopeIngest}}
		task, err := c.Task(nobody, "local", answer.Task.ID)
		if err != nil || task.State != state || (len(task.Results) == 1) != (state == collection.TaskDone) {
			t.Errorf("%s: %+v, %v", state, task, err)
		}
		if list := c.Tasks(nobody, "local", state, 9); len(list) != 1 || list[0].ID != answer.Task.ID ||
			len(list[0].Results) != 0 {
			t.Errorf("%s: listed as %+v", state, list)
		}
		for _, id := range []string{answer.Task.ID, "../tasks/" + answer.Task.ID, "0000000000000000-none", "\x00"} {
			if task, err := c.Task(nobody, "another", id); !errors.Is(err, sheaf.ErrNotFound) {
				t.Errorf("%s for somebody else: %+v, %v", id, task, err)
			}
		}
		if list := c.Tasks(nobody, "another", "", 9); len(list) != 0 {
			t.Errorf("%s: listed for somebody else: %+v", state, list)
		}
		workUntilDone(t, o, answer.Task.ID)
	}
}

// batchDone is a collection after a task that gave it three hundred documents, and that task.
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

// TestResultsOfTasks: what became of the documents of a task that was done is there after a
// restart too.
func TestResultsOfTasks(t *testing.T) {
	o, first := batchDone(t)
	if len(first.Results) != 300 || first.Results[299].ETag == "" {
		t.Fatalf("%+v", first)
	}
	c, err := collection.New(o)
	if err != nil {
		t.Fatal(err)
	}
	working(t, c)
	if task, err := c.Task(access.Unrestricted(), "", first.ID); err != nil || asJSON(t, task) != asJSON(t, first) {
		t.Errorf("%+v, before %+v", task, first)
	}
}

// TestWhereATaskIs: the address of a task leads to it, also in a collection that is not the
// first one, and a web page of another origin may read it.
func TestWhereATaskIs(t *testing.T) {
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
		if exposed := res.Header.Get("Access-Control-Expose-Headers"); !strings.Contains(exposed, "Location") {
			t.Errorf("exposed are %s", exposed)
		}
	}
}
