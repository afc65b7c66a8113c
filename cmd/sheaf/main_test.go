package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"sheaf/collection"
	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/internal/offheap"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sheaf": main})
}

// concurrentScripts are the scripts in which a server or several processes work at the same time.
var concurrentScripts = []string{"mcp", "serve", "together", "watch"}

// TestScripts runs every script in testdata/script with the real command, each in its own home
// folder. Short tests run only concurrentScripts: the gate runs short tests with the race detector, and all
// scripts without it.
func TestScripts(t *testing.T) {
	dir, files := filepath.Join("testdata", "script"), []string(nil)
	if testing.Short() {
		for _, name := range concurrentScripts {
			files = append(files, filepath.Join(dir, name+".txtar"))
		}
		dir = ""
	}
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		Files:               files,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("SHEAF_UPDATE_SCRIPTS") != "",
		Setup:               privateHome,
		Cmds:                scriptCommands,
		Condition: func(name string) (bool, error) {
			switch name {
			case "unprivileged": // no permission stops root, so root must be able to become another user
				return canBeNobody(), nil
			case "tmpfs":
				return canMount(), nil
			case "postgres", "opensearch", "weaviate", "transformer": // true if the address of this test server is set
				return os.Getenv("SHEAF_TEST_"+strings.ToUpper(name)) != "", nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
	})
}

// privateHome gives a script its own home folder and clears the environment variables for colors
// and settings.
func privateHome(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, ".home")
	for name, value := range map[string]string{
		"HOME":            home,
		"USERPROFILE":     home,
		"XDG_DATA_HOME":   filepath.Join(home, "data"),
		"XDG_CONFIG_HOME": filepath.Join(home, "config"),
		"XDG_STATE_HOME":  filepath.Join(home, "state"),
		"XDG_CACHE_HOME":  filepath.Join(home, "cache"),
		"NO_COLOR":        "",
		"POSTGRES":        os.Getenv("SHEAF_TEST_POSTGRES"),
		"OPENSEARCH":      strings.TrimPrefix(os.Getenv("SHEAF_TEST_OPENSEARCH"), "http://"),
		"WEAVIATE":        strings.TrimPrefix(os.Getenv("SHEAF_TEST_WEAVIATE"), "http://"),
		"TRANSFORMER":     os.Getenv("SHEAF_TEST_TRANSFORMER"),
		// STAMP and SCHEMA name places on servers, because servers keep the data of earlier runs.
		"STAMP":          fmt.Sprintf("script-%d-%d", os.Getpid(), time.Now().Unix()),
		"SCHEMA":         fmt.Sprintf("script_%d_%d", os.Getpid(), time.Now().Unix()),
		"CLICOLOR_FORCE": "",
		// With the race detector, a process sleeps for a second at its end.
		"GORACE": "atexit_sleep_ms=0",
	} {
		env.Setenv(name, value)
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	// The next run reads files with a fresh modification time again: they may have changed within the clock's
	// resolution. Scripts therefore begin with older files.
	past := time.Now().Add(-time.Hour)
	return filepath.WalkDir(env.WorkDir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, past, past))
	})
}

// TestProgramAndCommandMakeSameIndex checks that a Go program and the command make the same index. Each leaves the
// other's index unchanged.
func TestProgramAndCommandMakeSameIndex(t *testing.T) {
	n := newNotes(t)
	// A file that changed a moment ago is read again, since a second change may have the same time.
	hourAgo := time.Now().Add(-time.Hour)
	must.Do(t, os.Chtimes(filepath.Join(n.folder, "a.md"), hourAgo, hourAgo))
	search := func() {
		t.Helper()
		c := must.Get(collection.Open(n.folder, collection.WithIndex(n.index)))
		defer c.Close()
		a, err := c.Search(t.Context(), "commit")
		must.That(t, err == nil && len(a.Warnings) == 0, "%+v, %v", a, err)
	}
	state := func() (generation uint64, docs int) {
		_, s := opened(t, n.folder, n.index, openOptions{Refresh: true})
		defer s.Close()
		return s.View.Generation(), s.View.Docs()
	}
	search()
	made, docs := state()
	check.That(t, docs != 0, "the program indexed nothing")
	search()
	if now, n := state(); now != made || n != docs {
		t.Errorf("generation %d with %d documents, before %d with %d", now, n, made, docs)
	}
}

// TestSuggestionsForOtherCommandNames checks the suggestions for command names of other programs. Each suggested
// command exists, and no Sheaf command has such a name.
func TestSuggestionsForOtherCommandNames(t *testing.T) {
	root := new(app).command()
	for theirs, ours := range otherNames {
		words := strings.Fields(ours)
		if cmd, rest, err := root.Find(words); err != nil || cmd == root ||
			len(rest) > 0 && cmd.Flag(strings.TrimPrefix(rest[0], "--")) == nil {
			t.Errorf("%s: %q: %v, %v", theirs, ours, rest, err)
		}
		cmd, _, _ := root.Find(strings.Fields(theirs))
		check.That(t, cmd == root, "%s is %q", theirs, cmd.CommandPath())
	}
}

// TestClosedPipeIsNoError checks that a reader that closes the pipe early causes no error.
func TestClosedPipeIsNoError(t *testing.T) {
	r, w, err := os.Pipe()
	must.Do(t, err)
	defer w.Close()
	must.Do(t, r.Close())
	_, err = io.WriteString(w, "text")
	check.That(t, isUnread(err), "write to a closed pipe: %v", err)
	check.That(t, !isUnread(nil) && !isUnread(os.ErrPermission), "another fault, or none, is taken for that")
}

// TestLimitMemory checks that indexing lowers the collector's limit to the rest of the allowed
// memory, and restores the limit afterwards.
func TestLimitMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	limit := func() int64 { return debug.SetMemoryLimit(-1) }
	const files, some = 10 << 20, 20 << 20
	update, restore := (&app{streams: quiet()}).showIndexing()
	var list offheap.List[byte]
	defer list.Free()
	list.Grow(some)
	update(ingest.Progress{AllBytes: files})
	if got, want := limit(), files+indexMemory-offheap.Beside(); got != want {
		t.Errorf("limit %d with %d bytes taken beside the heap, want %d", got, some, want)
	}
	list.Grow(files + indexMemory)
	update(ingest.Progress{AllBytes: files})
	if got, want := limit(), int64(files+indexMemory)-offheap.Beside(); got != max(want, (files+indexMemory)/2) {
		t.Errorf("limit %d with more taken than allowed, want half", got)
	}
	restore()
	check.That(t, limit() == before, "limit %d afterwards, want %d", limit(), before)
}
