package collection_test

import (
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/index/catalog"
)

// TestTasksInOrder checks that the later of two accepted tasks wins. It covers a clock that was set
// back, another process that runs the tasks, and a process that accepts the second task before it
// finds the first.
func TestTasksInOrder(t *testing.T) {
	id := sheaf.DocumentID(catalog.FreeTree, "d.md")
	for name, test := range map[string]struct {
		later      time.Duration // time from the first to the second task, by the clock
		restarts   bool          // between the tasks
		restartsBy bool          // after both tasks
	}{
		"in one process":                     {later: time.Second},
		"the clock was set back":             {later: -time.Hour},
		"found by another process":           {later: time.Second, restartsBy: true},
		"set back, and another process":      {later: -time.Hour, restartsBy: true},
		"accepted before the first is found": {later: time.Second, restarts: true},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			f := collectiontest.Open(t, nil, func(o *collection.Options) { o.Now = func() time.Time { return now } })
			c := f.Collection
			again := func() {
				t.Helper()
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
				var err error
				if c, err = collection.New(f.Options); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = c.Close() })
			}
			var last *collection.Task
			for i, text := range []string{"first", "second"} {
				var err error
				if last, err = c.Submit(t.Context(), access.Unrestricted(), "me",
					[]collection.Change{{ID: id, Put: &collection.DocumentInput{Text: text}}}); err != nil {
					t.Fatal(err)
				}
				if now = now.Add(test.later); i == 0 && test.restarts {
					again()
				}
			}
			if test.restartsBy {
				again()
			}
			end := collectiontest.Working(t, c)
			for waiting := true; waiting; {
				task, err := c.Task(access.Unrestricted(), "me", last.ID)
				waiting = err != nil || task.State == collection.TaskWaiting ||
					len(c.Tasks(access.Unrestricted(), "me", collection.TaskWaiting, 10)) > 0 ||
					len(c.Tasks(access.Unrestricted(), "me", collection.TaskDone, 10)) < 2
			}
			end()
			view := f.Options.Catalog.View()
			defer view.Close()
			if text, err := view.Text(id); err != nil || string(text) != "second" {
				t.Errorf("%q, %v: want that of the task that was accepted last", text, err)
			}
		})
	}
}
