package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sheaf/internal/must"
)

// TestRebuildOfOlderAnalyzer checks that a store from an older analyzer is rebuilt without a
// question if files can restore all documents. An error names each document without a file.
func TestRebuildOfOlderAnalyzer(t *testing.T) {
	server := testServer(t, "postgres")
	schema := fmt.Sprintf("older_%d_%d", os.Getpid(), time.Now().Unix())
	conn := must.Get(pgx.Connect(t.Context(), server))
	t.Cleanup(func() {
		if _, err := conn.Exec(context.Background(), "DROP SCHEMA IF EXISTS "+schema+" CASCADE"); err != nil {
			t.Error(err)
		}
		_ = conn.Close(context.Background())
	})
	u := must.Get(url.Parse(server))
	q := u.Query()
	q.Set("schema", schema)
	u.RawQuery = q.Encode()
	t.Setenv("SHEAF_STORE", u.String())
	n := newNotes(t)
	n.run(t, "index")
	n.write(t, "b.md", "# B\n\nbears\n")
	n.run(t, "index")
	older := func() {
		t.Helper()
		must.Get(conn.Exec(t.Context(), "UPDATE "+schema+".setting SET value = 'sheaf-3 language=en' WHERE name "+
			"= 'analyzer'"))
	}
	older()
	if out, err := n.try("index", "--rebuild"); err != nil ||
		!strings.Contains(out, "2 documents") {
		t.Errorf("everything has a file: %v\n%s", err, out)
	}
	foreign := fmt.Sprintf("UPDATE %s.chunk SET id = 'other:x.md', doc = 'other:x.md' WHERE ord = (SELECT max(ord) "+
		"FROM %[1]s.chunk)", schema)
	must.Get(conn.Exec(t.Context(), foreign))
	older()
	if out, err := n.try("index", "--rebuild"); err == nil ||
		!strings.Contains(out, "removes 1 document that the files of this folder cannot bring back: other:x.md") {
		t.Errorf("a document of another n.folder: %v\n%s", err, out)
	}
}
