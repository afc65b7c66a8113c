package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store/opensearch"
	"sheaf/store/storekit"
	"sheaf/store/weaviate"
)

// right is a right on a server and a request that needs it. path is a regular expression.
type right struct{ name, method, path string }

// doc/stores.md names these rights. Each request of the program needs one of them.
var (
	elasticRights = []right{
		{"read", "POST", `/[^/]+/_(search|msearch|count)`},
		{"view_index_metadata", "GET", `/[^/_][^/]*(/_mapping|/_alias|/_settings/.*)?`},
		{"monitor", "GET", `/[^/]+/_stats/.*`},
		{"write", "POST", `/[^/]+/_bulk`},
		{"maintenance", "POST", `/[^/]+/_refresh`},
		{"create_index", "PUT", `/[^/]+`},
		{"delete_index", "DELETE", `/[^/]+`},
		{"cluster monitor", "GET", `/_(cluster|nodes|cat|license)(/.*)?`},
	}
	weaviateRights = []right{
		{"read_collections", "GET", `/v1/(schema|meta)`},
		{"read_data", "POST", `/v1/graphql(/batch)?`},
		{"create_data and update_data", "POST", `/v1/batch/objects`},
		{"delete_data", "DELETE", `/v1/batch/objects`},
		{"create_collections", "POST", `/v1/schema`},
		{"delete_collections", "DELETE", `/v1/schema/[^/]+`},
	}
)

// gate is a proxy that refuses each request whose right is not granted.
type gate struct {
	t      *testing.T
	rights []right

	mu      sync.Mutex
	granted []string
	used    map[string]bool // rights that requests needed
}

// newGate returns a gate for the server at an address, and the host and port of the gate.
func newGate(t *testing.T, server string, rights []right) (g *gate, host string) {
	t.Helper()
	to := must.Get(url.Parse(server))
	g = &gate{t: t, rights: rights}
	pass := httputil.NewSingleHostReverseProxy(to)
	pass.ErrorLog = log.New(io.Discard, "", 0) // a search with enough answers cancels its other requests
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, ok := g.lets(r.Method, r.URL.Path); !ok {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			if strings.HasPrefix(r.URL.Path, "/v1/") {
				fmt.Fprintf(w, `{"error":[{"message":"insufficient permissions: %s"}]}`, name)
			} else {
				fmt.Fprintf(w, `{"error":{"type":"security_exception","reason":"unauthorized: %s"},"status":403}`, name)
			}
			return
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return g, strings.TrimPrefix(s.URL, "http://")
}

// lets reports whether a request may pass, and which right it needs.
func (g *gate) lets(method, path string) (name string, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.rights {
		if r.method == method && regexp.MustCompile("^"+r.path+"$").MatchString(path) {
			g.used[r.name] = true
			return r.name, slices.Contains(g.granted, r.name)
		}
	}
	g.t.Errorf("doc/stores.md names no right for the request %s %s", method, path)
	return "", false
}

// grant replaces the granted rights, and clears the needed ones.
func (g *gate) grant(names ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.granted, g.used = names, map[string]bool{}
}

// needed returns the rights that were needed since grant.
func (g *gate) needed() (names []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for name := range g.used {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// TestRights checks that the rights in doc/stores.md are enough to search, serve and index. With one right less, the
// program fails and names the right. A read-only server sends no request that writes.
func TestRights(t *testing.T) {
	place := fmt.Sprintf("rights-%d-%d", os.Getpid(), time.Now().Unix())
	for _, kind := range []string{"opensearch", "elasticsearch"} {
		t.Run(kind, func(t *testing.T) {
			server := testServer(t, kind)
			dialect := opensearch.OpenSearch
			if kind == "elasticsearch" {
				dialect = opensearch.Elasticsearch
			}
			t.Cleanup(func() {
				err := opensearch.Drop(context.Background(),
					opensearch.Options{Options: storekit.Options{URL: server}, Dialect: dialect, Index: place})
				check.That(t, err == nil, "%v", err)
			})
			testGate(t, server, kind, place, elasticRights, []string{"read", "view_index_metadata", "monitor"},
				[]string{"write", "maintenance"}, []string{"create_index"}, []string{"delete_index"})
		})
	}
	t.Run("weaviate", func(t *testing.T) {
		server, class := testServer(t, "weaviate"), strings.ToUpper(place[:1])+strings.ReplaceAll(place[1:], "-", "_")
		t.Cleanup(func() {
			err := weaviate.Drop(context.Background(), weaviate.Options{Options: storekit.Options{URL: server},
				Class: class})
			check.That(t, err == nil, "%v", err)
		})
		testGate(t, server, "weaviate", class, weaviateRights, []string{"read_collections", "read_data"},
			[]string{"create_data and update_data", "delete_data"}, []string{"create_collections"},
			[]string{"delete_collections"})
	})
	t.Run("postgres", testRoles)
}

// testServer returns the address of a server for tests.
func testServer(t *testing.T, kind string) string {
	t.Helper()
	variable := "SHEAF_TEST_" + strings.ToUpper(kind)
	if os.Getenv(variable) == "" {
		t.Skip(variable + " is not set; see scripts/servers/" + kind + ".sh")
	}
	return os.Getenv(variable)
}

func testGate(t *testing.T, server, kind, place string, rights []right, read, write, create, remove []string) {
	n := newNotes(t)
	g, host := newGate(t, server, rights)
	t.Setenv("SHEAF_STORE", kind+"://"+host+"/"+place)
	sheaf := n.succeeding(t)
	fails := func(missing string, args ...string) {
		t.Helper()
		out, err := n.try(args...)
		check.That(t, err != nil && strings.Contains(out, "the user lacks a right") && strings.Contains(out, missing),
			"%v without the right %s: %v\n%s", args, missing, err, out)
	}
	indexing := slices.Concat(read, write)

	g.grant(indexing...)
	fails(create[0], "index")
	g.grant(slices.Concat(indexing, create)...)
	for _, reads := range [][]string{{"check"}, {"serve", "--read-only", "--addr", "127.0.0.1:0"}} { // no index is made
		if out, err := n.try(reads...); err == nil || !strings.Contains(out, "hint: fill it: sheaf index") {
			t.Errorf("%v of a place that was never filled: %v\n%s", reads, err, out)
		}
	}
	needed := g.needed()
	check.That(t, !slices.Contains(needed, create[0]), "commands that only read need the rights %v", needed)
	g.grant(slices.Concat(read, create, write[1:])...)
	fails(write[0], "index")
	out, err := n.try("status")
	check.That(t, err == nil && strings.Contains(out, "1 new") && !strings.Contains(out, "model"),
		"status after a first run that broke off: %v\n%s", err, out)
	g.grant(slices.Concat(indexing, create)...)
	sheaf("1 document", "index")
	g.grant(indexing...)
	n.write(t, "b.md", "# B\n\nbears in the garden\n")
	sheaf("b.md", "search", "bears")
	n.write(t, "b.md", "# B\n\nbeavers in the garden\n")
	sheaf("b.md", "search", "beavers")
	must.Do(t, os.Remove(filepath.Join(n.folder, "b.md")))
	sheaf("1 removed", "index")
	for i, missing := range write {
		n.write(t, "b.md", fmt.Sprintf("# B\n\nbears, change %d\n", i))
		g.grant(slices.DeleteFunc(slices.Clone(indexing), func(name string) bool { return name == missing })...)
		fails(missing, "index")
		g.grant(indexing...)
		sheaf("2 documents", "index")
	}

	sheaf("2 documents", "index", "--rebuild") // in place, because the user may not empty the index
	sheaf("a.md", "search", "apples")

	g.grant(read...)
	out, err = n.try("index", "--rebuild", "--yes")
	check.That(t, err != nil && strings.Contains(out, "nothing was removed"), "rebuild: %v\n%s", err, out)
	sheaf("a.md", "search", "apples")
	if kind != "weaviate" { // Weaviate has no prefixes
		sheaf("a.md", "search", "appl*")
	}
	sheaf("2 documents", "check")
	for _, missing := range read {
		g.grant(slices.DeleteFunc(slices.Clone(read), func(name string) bool { return name == missing })...)
		fails(missing, "search", "apples")
	}
	g.grant(read...)
	t.Run("read only", func(t *testing.T) {
		address := n.serve(t, "--read-only")
		n.write(t, "c.md", "# C\n\ncamels\n")
		found(t, address, "apples", "a.md")
		waitFor(t, address+"/v1/status", func(status int, _ string) bool { return status == 200 })
		ready(t, address)
	})
	for _, name := range g.needed() {
		check.That(t, slices.Contains(read, name) || name == "cluster monitor",
			"serve --read-only sent a request that needs the right %s", name)
	}

	g.grant(slices.Concat(indexing, create)...)
	n.keepsAll(t)
	g.grant(slices.Concat(indexing, create, remove)...)
	sheaf("3 documents", "index", "--rebuild")
	if kind != "weaviate" {
		block(t, server, place, true)
		out, err = n.try("index", "--rebuild")
		check.That(t, err != nil && strings.Contains(out, "nothing was removed"), "rebuild: %v\n%s", err, out)
		block(t, server, place, false)
	}
	sheaf("3 documents", "check")
	out, err = n.try("doctor")
	check.That(t, err == nil && !strings.Contains(out, "FAULT"), "doctor: %v\n%s", err, out)
}

// keepsAll checks that a rebuild removes nothing when the user may not make the store again with another language.
func (n notes) keepsAll(t *testing.T) {
	t.Helper()
	t.Run("another language", func(t *testing.T) {
		t.Setenv("SHEAF_LANGUAGE", "de")
		out, err := n.try("index", "--rebuild", "--yes")
		check.That(t, err != nil && strings.Contains(out, "nothing was removed"), "rebuild: %v\n%s", err, out)
		n.succeeding(t)("a.md", "search", "apples")
	})
}

// block makes an index of a server read-only, or writable again.
func block(t *testing.T, server, index string, block bool) {
	t.Helper()
	body := fmt.Sprintf(`{"index.blocks.read_only": %t}`, block)
	req := must.Get(http.NewRequestWithContext(t.Context(), "PUT", server+"/"+index+"/_settings", strings.NewReader(body)))
	req.Header.Set("Content-Type", "application/json")
	answer := must.Get(http.DefaultClient.Do(req))
	must.Do(t, answer.Body.Close())
	must.That(t, answer.StatusCode == http.StatusOK, "block %s: %s", index, answer.Status)
}

// succeeding returns a function that runs a command, which must succeed and print a text.
func (n notes) succeeding(t *testing.T) func(want string, args ...string) {
	return func(want string, args ...string) {
		t.Helper()
		out, err := n.try(args...)
		must.That(t, err == nil && strings.Contains(out, want), "%v: %v, want %q\n%s", args, err, want, out)
	}
}

// testRoles makes one user who may index and one who may only search, with the SQL of doc/stores.md.
func testRoles(t *testing.T) {
	server := testServer(t, "postgres")
	admin := must.Get(pgx.Connect(t.Context(), server))
	schema := fmt.Sprintf("rights_%d_%d", os.Getpid(), time.Now().Unix())
	run := func(sql string) {
		t.Helper()
		_, err := admin.Exec(context.Background(),
			strings.NewReplacer("notes_writer", schema+"_writer", "notes_reader", schema+"_reader", "notes",
				schema).Replace(sql))
		check.That(t, err == nil, "%v %v", sql, err)
	}
	t.Cleanup(func() {
		run("DROP SCHEMA IF EXISTS notes CASCADE; DROP OWNED BY notes_reader; DROP ROLE notes_reader; DROP OWNED BY " +
			"notes_writer; DROP ROLE notes_writer")
		_ = admin.Close(context.Background())
	})
	as := func(user string) {
		u := must.Get(url.Parse(server))
		u.User = url.User(schema + "_" + user)
		q := u.Query()
		q.Set("schema", schema)
		u.RawQuery = q.Encode()
		t.Setenv("SHEAF_STORE", u.String())
	}
	n := newNotes(t)
	sheaf := n.succeeding(t)
	fails := func(want string, args ...string) {
		t.Helper()
		out, err := n.try(args...)
		check.That(t, err != nil && strings.Contains(out, want), "%v: %v, want %q\n%s", args, err, want, out)
	}

	run("CREATE ROLE notes_writer LOGIN; CREATE ROLE notes_reader LOGIN")
	as("writer")
	fails("the user needs the right to create a schema in this database", "index")
	run("CREATE SCHEMA notes AUTHORIZATION notes_writer")
	sheaf("1 document", "index")
	n.write(t, "b.md", "# B\n\nbears in the garden\n")
	sheaf("b.md", "search", "bears")
	sheaf("2 documents", "index", "--rebuild")

	as("reader")
	fails("permission denied for schema", "search", "apples")
	run("GRANT USAGE ON SCHEMA notes TO notes_reader")
	fails("permission denied for table setting", "search", "apples")
	run("GRANT SELECT ON ALL TABLES IN SCHEMA notes TO notes_reader")
	sheaf("a.md", "search", "apples")
	fails("nothing was removed", "index", "--rebuild")
	sheaf("2 documents", "check")
	t.Run("read only", func(t *testing.T) {
		address := n.serve(t, "--read-only")
		n.write(t, "c.md", "# C\n\ncamels\n")
		found(t, address, "apples", "a.md")
		ready(t, address)
	})
	fails("sheaf doctor says which rights to grant", "index")
	run("GRANT INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA notes TO notes_reader; " +
		"GRANT UPDATE ON ALL SEQUENCES IN SCHEMA notes TO notes_reader")
	n.keepsAll(t)

	as("writer")
	t.Setenv("SHEAF_EMBEDDER_USE", "none")
	sheaf("documents", "index", "--rebuild")
	t.Setenv("SHEAF_EMBEDDER_USE", "auto")
	t.Setenv("SHEAF_LANGUAGE", "de")
	sheaf("a.md", "search", "apples") // a person decides when a store on a server is made again
}
