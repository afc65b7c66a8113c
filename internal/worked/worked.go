// Package worked reads worked examples of the reference systems for tests. A file has cases, and each case has an
// input and an output. The files are not in the repository. If a file is missing, its test is skipped.
package worked

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Case is one worked example: the input and the expected output of a function.
type Case[In, Want any] struct {
	Name string
	// Op names the function that the case is for. Only files for several functions have it.
	Op        string
	Input     In
	Expected  Want
	Tolerance float64
}

// Cases returns the cases of a file in order, at least one. An example of a file is "rrf_fusion.json". If the file is
// missing, Cases skips the test.
func Cases[In, Want any](t *testing.T, file string) []Case[In, Want] {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "..", "shared", "vectors", file))
	if os.IsNotExist(err) {
		t.Skipf("no %s: the vectors of the reference systems are not here", file)
	}
	if err != nil {
		t.Fatal(err)
	}
	var cases []Case[In, Want]
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if len(cases) == 0 {
		t.Fatalf("%s holds no case", file)
	}
	return cases
}

// Each runs f as a subtest for every case of a file.
func Each[In, Want any](t *testing.T, file string, f func(t *testing.T, in In, want Want)) {
	t.Helper()
	for _, c := range Cases[In, Want](t, file) {
		t.Run(c.Name, func(t *testing.T) { f(t, c.Input, c.Expected) })
	}
}

// root returns the folder of the repository, above the tested package.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the tested package")
		}
		dir = parent
	}
}
