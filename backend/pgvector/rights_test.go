package pgvector_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"sheaf"
	"sheaf/backend"
	"sheaf/backend/backendtest"
	"sheaf/backend/pgvector"
)

// TestExamineRights: a user who may not write to the tables of another is told which
// rights to ask for, and with these it writes.
func TestExamineRights(t *testing.T) {
	o := options(t)
	b := stores().Open(t, o)
	defer b.Close()
	vectors := []backend.Vectors{{Name: "body", Passages: [][]float32{{1, 0}}}}
	batch := backendtest.One("t:a", "x")
	batch.Chunks[0].Vectors = vectors
	if err := b.Write(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	weak := o
	weak.URL = role(t, o)
	rights := func() error {
		t.Helper()
		for _, f := range pgvector.Examine(t.Context(), weak) {
			if f.Check == "rights" {
				return f.Err
			}
		}
		return errors.New("nothing is said of rights")
	}
	admin, err := pgx.Connect(t.Context(), o.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(t.Context())
	for _, want := range []string{"run GRANT USAGE, CREATE ON SCHEMA", "the user may not read and write chunk, "} {
		err := rights()
		if !errors.Is(err, sheaf.ErrInvalid) || !strings.Contains(fmt.Sprint(err), want) {
			t.Fatalf("%v: want %q", err, want)
		}
		if store, err := pgvector.Open(t.Context(), weak); err == nil {
			err = store.Write(t.Context(), backendtest.One("t:b", "x"))
			if !errors.Is(err, sheaf.ErrInvalid) || !strings.Contains(fmt.Sprint(err), "sheaf doctor says which rights to grant") {
				t.Errorf("a write without rights: %v", err)
			}
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}
		_, advice, _ := strings.Cut(err.Error(), "run ")
		if strings.HasPrefix(advice, "GRANT USAGE") {
			advice, _, _ = strings.Cut(advice, ";") // one step at a time
		}
		if _, err := admin.Exec(t.Context(), advice); err != nil {
			t.Fatalf("%s: %v", advice, err)
		}
	}
	if err := rights(); err != nil {
		t.Error(err)
	}
	store, err := pgvector.Open(t.Context(), weak)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	batch = backendtest.One("t:b", "x")
	batch.Chunks[0].Vectors = vectors
	if err := store.Write(t.Context(), batch); err != nil {
		t.Error(err)
	}
}

// TestPrepared: an administrator keeps pgvector in a schema of its own, and makes the one of
// the store, for a user who may make none, whose name needs quotes. What doctor says to run is
// taken by the server as it is.
func TestPrepared(t *testing.T) {
	admin, err := pgx.Connect(t.Context(), server(t))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	run := func(sql string) {
		t.Helper()
		if _, err := admin.Exec(context.Background(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	name := fmt.Sprintf("Some One-%d", os.Getpid())
	id := pgx.Identifier{name}.Sanitize()
	run("CREATE ROLE " + id + " LOGIN")
	defer run("DROP ROLE " + id)
	run("CREATE DATABASE " + id)
	defer run("DROP DATABASE " + id + " WITH (FORCE)")
	u, err := url.Parse(server(t))
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	inside, err := pgx.Connect(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close(context.Background())
	if _, err := inside.Exec(t.Context(), "CREATE SCHEMA \"The Extensions\"; CREATE EXTENSION vector SCHEMA \"The Extensions\""); err != nil {
		t.Fatal(err)
	}
	u.User = url.User(name)
	o := pgvector.Options{URL: u.String(), Schema: "user", Analyzer: backendtest.Analyzer(t, "en"), Vectors: []backend.VectorField{{Name: "body", Model: "m", Dims: 2}}}
	advice := func(check string) string {
		t.Helper()
		for _, f := range pgvector.Examine(t.Context(), o) {
			if f.Check == check && f.Err != nil {
				_, run, _ := strings.Cut(f.Err.Error(), "run ")
				return run
			}
		}
		t.Fatal("no fault of ", check)
		return ""
	}
	if _, err := inside.Exec(t.Context(), strings.TrimSuffix(advice("rights"), `, or make the schema "user" for it`)+"; REVOKE CREATE ON DATABASE "+id+" FROM "+id); err != nil {
		t.Error(err)
	}
	if _, err := inside.Exec(t.Context(), `CREATE SCHEMA "user" AUTHORIZATION `+id); err != nil {
		t.Fatal(err)
	}
	if _, err := pgvector.Open(t.Context(), o); !errors.Is(err, sheaf.ErrInvalid) || !strings.Contains(fmt.Sprint(err), `run GRANT USAGE ON SCHEMA "The Extensions" TO `+id) {
		t.Error(err)
	}
	if _, err := inside.Exec(t.Context(), advice("extension")); err != nil {
		t.Fatal(err)
	}
	everybodys := o
	everybodys.Schema = "public"
	if _, err := pgvector.Open(t.Context(), everybodys); !errors.Is(err, sheaf.ErrInvalid) || !strings.Contains(fmt.Sprint(err), "name another schema") {
		t.Errorf("a store in public: %v", err)
	}
	store, err := pgvector.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	batch := backendtest.One("t:a", "x")
	batch.Chunks[0].Vectors = []backend.Vectors{{Name: "body", Passages: [][]float32{{1, 0}}}}
	if err := store.Write(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	found, err := store.Retrieve(t.Context(), backend.Request{Vector: &backend.VectorRequest{Field: "body", Vector: []float32{1, 0}}, Limit: 1})
	if err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
}

// TestForgetfulPooler: behind a pooler that leaves out where the tables are, none are made
// where its connection looks, and doctor says so too.
func TestForgetfulPooler(t *testing.T) {
	o := options(t)
	pooler := overheard{ignored: "search_path"}
	o.URL = pooler.between(t, o.URL)
	store, err := pgvector.Open(t.Context(), o)
	if err == nil {
		_ = store.Close()
	}
	findings := pgvector.Examine(t.Context(), o)
	for _, err := range []error{err, findings[len(findings)-1].Err} {
		if !errors.Is(err, sheaf.ErrUnsupported) || !strings.Contains(fmt.Sprint(err), "pooler") {
			t.Errorf("%v, want one that names the pooler", err)
		}
	}
	if said := strings.Join(pooler.take(), "; "); strings.Contains(said, "CREATE SCHEMA") || strings.Count(said, "search_path") != 2 {
		t.Errorf("something is made, or asked again: %s", said)
	}
}

// saying is an address with one more option.
func saying(t *testing.T, address, option, value string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set(option, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// TestPoolOptions: what an address says of the pool is for no server, also where one
// connection is enough.
func TestPoolOptions(t *testing.T) {
	o := options(t)
	o.URL = saying(t, o.URL, "pool_max_conns", "2")
	store, err := pgvector.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	errs := []error{store.Close()}
	for _, f := range pgvector.Examine(t.Context(), o) {
		errs = append(errs, f.Err)
	}
	if err := errors.Join(append(errs, pgvector.Drop(t.Context(), o.URL, o.Schema))...); err != nil {
		t.Error(err)
	}
}

// TestExamineCopy: rights are good for nothing on a server that takes no writes.
func TestExamineCopy(t *testing.T) {
	o := options(t)
	if err := stores().Open(t, o).Close(); err != nil {
		t.Fatal(err)
	}
	o.URL = saying(t, o.URL, "default_transaction_read_only", "on")
	for _, f := range pgvector.Examine(t.Context(), o) {
		if f.Err != nil || f.Check == "rights" && !strings.Contains(f.Found, "takes no writes") {
			t.Errorf("%+v", f)
		}
	}
}
