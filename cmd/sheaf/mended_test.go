package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sheaf/cmd/sheaf/internal/collection"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/ingest"
	"sheaf/vfs"
)

// TestServeMends: a server that meets damage where it is not seen when an index is opened makes
// the index again, with what was given, and goes on.
func TestServeMends(t *testing.T) {
	for _, part := range []string{filepath.Join(collection.EngineDir(""), "*.seg"), filepath.Join(collection.CatalogDir(""), "catalog-0*")} {
		for _, watch := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, watched %v", filepath.ToSlash(part), watch), func(t *testing.T) { servesDamaged(t, part, watch) })
		}
	}
}

// TestReopeningMends: damage that is met is to be looked for when the index is opened again, until
// it could be; where it is met again at once that is an error.
func TestReopeningMends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &app{stderr: io.Discard, err: &terminal.Output{Writer: io.Discard}}
		damage := fmt.Errorf("read index: %w", vfs.ErrCorrupt)
		for i, steps := range [][]struct {
			after   time.Duration // that it works
			ends    error
			damaged bool // what it is opened with
		}{
			{{0, damage, false}, {0, vfs.ErrLocked, true}, {0, ingest.ErrMadeAnew, true}, {damagedRest, damage, false}, {0, nil, true}},
			{{damagedRest, damage, false}, {0, damage, true}},
		} {
			n := 0
			err := a.reopening(t.Context(), func(o openOptions, _ bool) error {
				step := steps[n]
				if n++; o.damaged != step.damaged {
					t.Errorf("%d: opened for the %d. time, damaged is %v", i, n, o.damaged)
				}
				time.Sleep(step.after)
				return step.ends
			})
			if want := steps[len(steps)-1].ends; n != len(steps) || !errors.Is(err, want) {
				t.Errorf("%d: opened %d times, %v", i, n, err)
			}
		}
	})
}

func servesDamaged(t *testing.T, part string, watch bool) {
	write, folder, _, index := notesFor(t)
	for i := range 40 {
		write(folder, fmt.Sprintf("n%d.md", i), fmt.Sprintf("# Note %d\n\nsome pears and %d plums\n", i, i))
	}
	t.Run("before", func(t *testing.T) {
		address := serving(t, folder, index)
		waitFor(t, address+"/v1/search?query=apples", func(_ int, body string) bool { return strings.Contains(body, "a.md") })
		req, err := http.NewRequest(http.MethodPut, address+"/v1/documents/api:g.md", strings.NewReader(`{"text": "given grapes", "access": ["public"]}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusCreated {
			t.Fatalf("given: %d, %v", res.StatusCode, err)
		}
	})
	files, err := filepath.Glob(filepath.Join(index, part))
	if err != nil || len(files) == 0 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := len(content) / 3; i < 2*len(content)/3; i++ {
			content[i] ^= 0xFF
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"--no-watch"}
	if watch {
		args = nil
	}
	address, aloud := servingAloud(t, folder, index, args...)
	for word, name := range map[string]string{"apples": "a.md", "plums+37": "n37.md", "grapes": "api:g.md"} {
		waitFor(t, address+"/v1/search?query="+word, func(_ int, body string) bool { return strings.Contains(body, name) })
	}
	said, err := os.ReadFile(aloud)
	if err != nil || !strings.Contains(string(said), "it is made again from the files") {
		t.Errorf("it says %q, %v", said, err)
	}
	if strings.Contains(string(said), "lost") || strings.Contains(string(said), "without source files") {
		t.Errorf("what was given is kept, and it says %q", said)
	}
	inAnotherProcess(t, "check", "--in", folder, "--index", index)
}
