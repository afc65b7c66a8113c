package main

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sheaf/internal/must"
)

// notes is a folder of notes. Its index is outside the folder.
type notes struct {
	folder string // has a.md, with apples
	extra  string // has e.md, with elephants
	index  string
}

func newNotes(t *testing.T) notes {
	t.Helper()
	root := t.TempDir()
	n := notes{filepath.Join(root, "notes"), filepath.Join(root, "extra"), filepath.Join(root, "index")}
	n.write(t, "a.md", "# A\n\napples in the garden and more of the words\n")
	writeNote(t, n.extra, "e.md", "# E\n\nelephants\n")
	return n
}

// write writes a note.
func (n notes) write(t *testing.T, name, text string) {
	t.Helper()
	writeNote(t, n.folder, name, text)
}

func writeNote(t *testing.T, folder, name, text string) {
	t.Helper()
	must.Do(t, os.MkdirAll(folder, 0o755))
	must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
}

// try runs a command on the notes in another process. It returns both output streams.
func (n notes) try(args ...string) (string, error) {
	out, err := exec.Command("sheaf", append(args, "--in", n.folder, "--index", n.index)...).CombinedOutput()
	return string(out), err
}

// run is like try, but the command must succeed.
func (n notes) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := n.try(args...)
	must.That(t, err == nil, "%v: %v\n%s", args, err, out)
	return out
}

// serve runs sheaf serve until the test ends. It returns the address.
func (n notes) serve(t *testing.T, args ...string) string {
	t.Helper()
	return serving(t, n.folder, n.index, args...)
}

// found waits until the server at an address finds a note by a word.
func found(t *testing.T, address, word, name string) {
	t.Helper()
	waitFor(t, address+"/v1/search?query="+word, func(_ int, body string) bool { return strings.Contains(body, name) })
}

// ready waits until the server at an address can answer.
func ready(t *testing.T, address string) {
	t.Helper()
	waitFor(t, address+"/readyz", func(status int, _ string) bool { return status == http.StatusOK })
}

// page returns what a server answers at an address.
func page(t *testing.T, address string) string {
	t.Helper()
	res := must.Get(http.Get(address))
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	must.That(t, err == nil && res.StatusCode == http.StatusOK, "%s: %s: %v: %s", address, res.Status, err, body)
	return string(body)
}
