package collection_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/index/catalog"
	"sheaf/ingest"
)

// TestReadyBeforeFirstRun checks that an unindexed collection is not ready before the first run if it
// will be watched, and is ready otherwise.
func TestReadyBeforeFirstRun(t *testing.T) {
	c := collectiontest.Unindexed(t, map[string]string{"a.md": "# A\n"}, nil)
	if err := c.Ready(t.Context()); err != nil {
		t.Errorf("nobody watches: %v", err)
	}
	said := func() bool {
		t.Helper()
		st, err := reader(t, c, access.Unrestricted()).Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		told := find(t, reader(t, c, access.Unrestricted()), collection.SearchRequest{Text: "a", Limit: 10}).Warnings
		if !slices.Equal(told, st.Warnings) {
			t.Errorf("the status says %q, an answer %q", st.Warnings, told)
		}
		return strings.Contains(strings.Join(told, "\n"), "for the first time")
	}
	if said() {
		t.Error("nobody watches, and answers say that there will be more")
	}
	c.WillWatch()
	if c.Ready(t.Context()) == nil {
		t.Error("ready before the first run")
	}
	if !said() {
		t.Error("an answer before the first run does not say that there will be more")
	}
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan struct{}, 8)
	ended := make(chan error, 1)
	go func() { ended <- c.Watch(ctx, func(*ingest.Report, error) { ran <- struct{}{} }) }()
	<-ran
	if err := c.Ready(t.Context()); err != nil {
		t.Errorf("after the first run: %v", err)
	}
	if said() {
		t.Error("after the first run answers say that there will be more")
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestStatusIndexing checks that the status counts all and indexed files during a run, for callers
// that see everything. The count never decreases. After the run, or after a fault, the status has
// no such counts.
func TestStatusIndexing(t *testing.T) {
	var c *collectiontest.Fixture
	var told []collection.Indexing
	var fault error
	var stop func()
	c = collectiontest.Unindexed(t, map[string]string{"a.md": "# A\n\none\n", "b.md": "# B\n\ntwo\n",
		"c.md": "# C\n\nthree\n"}, func(o *collection.Options) {
		o.Ingest.CommitBytes = 1 // every file causes a progress report
		o.Ingest.Progress = func(p ingest.Progress) {
			if p.AllFiles == 0 {
				return
			}
			if stop != nil {
				stop()
				return
			}
			for _, grant := range []access.Grant{access.Unrestricted(), {Tenant: access.All, Access: []string{"ann"}}} {
				r, err := c.For(grant)
				if err != nil {
					fault = err
					return
				}
				st, err := r.Status(context.Background())
				r.Close()
				switch whole := grant.Access[0] == access.All; {
				case err != nil:
					fault = err
				case whole && st.Indexing != nil:
					told = append(told, *st.Indexing)
				case whole:
					fault = errors.New("the status does not say how far the run is")
				case st.Indexing != nil:
					fault = fmt.Errorf("a caller from whom something is kept is told %+v", *st.Indexing)
				}
			}
		}
	})
	c.Index(t)
	if fault != nil {
		t.Fatal(fault)
	}
	if len(told) < 2 || told[0].Files != 0 || told[len(told)-1].Files != 3 ||
		!slices.IsSortedFunc(told, func(a, b collection.Indexing) int { return a.Files - b.Files }) {
		t.Errorf("told %+v", told)
	}
	for _, is := range told {
		if is.AllFiles != 3 || is.AllBytes != 29 {
			t.Errorf("of all it says %+v", is)
		}
	}
	ended := func(when string) {
		t.Helper()
		st, err := reader(t, c, access.Unrestricted()).Status(t.Context())
		if err != nil || st.Indexing != nil {
			t.Errorf("%s: %+v, %v", when, st.Indexing, err)
		}
	}
	ended("when it has ended")
	c.Write(t, "d.md", "# D\n\nfour\n")
	ctx, cancel := context.WithCancel(t.Context())
	stop = cancel
	if err := c.Watch(ctx, nil); err != nil {
		t.Fatal(err)
	}
	ended("when it was stopped")
}

// TestMissingFolder checks that the status names a missing folder, and that its indexed documents
// return with the folder.
func TestMissingFolder(t *testing.T) {
	away := filepath.Join(t.TempDir(), "disk")
	writeFile(t, filepath.Join(away, "b.md"), "# B\n\nA harbor.\n")
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nA harbor.\n"}, func(o *collection.Options) {
		o.Ingest.Trees = append(o.Ingest.Trees, catalog.Tree{Name: "disk", Root: away})
	})
	look := func(gone []string) {
		t.Helper()
		f.Index(t)
		r := reader(t, f, access.Unrestricted())
		st, err := r.Status(t.Context())
		if err != nil || st.Watch == nil || !slices.Equal(st.Watch.Gone, gone) || st.Documents != 2 {
			t.Errorf("%+v, %v: want %v gone", st, err, gone)
		}
		if n := len(find(t, r, collection.SearchRequest{Text: "harbor"}).Results); n != 2 && len(gone) == 0 {
			t.Errorf("%d found", n)
		}
	}
	look(nil)
	if err := os.Rename(away, away+".off"); err != nil {
		t.Fatal(err)
	}
	look([]string{away})
	if err := os.Rename(away+".off", away); err != nil {
		t.Fatal(err)
	}
	look(nil)
}
