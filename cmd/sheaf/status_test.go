package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheaf/collection"
)

// TestStatusOfGivenDocuments checks that status shows where given documents are, as they have no folder.
func TestStatusOfGivenDocuments(t *testing.T) {
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	a := newApp(os.Stdin, out, os.Stderr)
	trees := []collection.Tree{{Name: "notes", Root: "/notes"}, {Name: "api"}}
	(&session{app: a}).printStatus(&statusJSON{Trees: trees}, false, false)
	if err := a.flush(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil || !strings.HasPrefix(string(text), "folder     /notes\ngiven      api: (documents that came "+
		"without files)\n") {
		t.Errorf("%v\n%s", err, text)
	}
}
