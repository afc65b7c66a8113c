package postgres_test

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
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/postgres"
	"sheaf/store/storetest"
)

// TestExamineRights checks that exactly the rights in the doctor's advice let a user search and index another's
// tables. Without any one of them the store refuses the operation, and the doctor names the missing grant.
func TestExamineRights(t *testing.T) {
	o := options(t)
	owner := stores().Open(t, o)
	defer owner.Close()
	batch := func(id string) store.Batch {
		out := storetest.One(id, "x")
		out.Chunks[0].Vectors = []store.Vectors{{Name: "body", Passages: [][]float32{{1, 0}}}}
		return out
	}
	must.Do(t, owner.Write(t.Context(), batch("t:a")))
	weak := o
	weak.URL = user(t, o)
	name := "user_" + o.Schema
	admin := must.Get(pgx.Connect(t.Context(), o.URL))
	defer admin.Close(context.Background())
	run := func(sql string) {
		t.Helper()
		_, err := admin.Exec(t.Context(), sql)
		must.That(t, err == nil, "%s: %v", sql, err)
	}
	reads := func() error {
		reader := weak
		reader.Access = store.ReadOnly
		st, err := postgres.Open(t.Context(), reader)
		if err != nil {
			return err
		}
		defer st.Close()
		if _, err := st.Stats(t.Context()); err != nil {
			return err
		}
		for _, req := range []store.Request{storetest.Words(sheaf.Match{Text: "x"}),
			{Limit: 1, Vector: &store.VectorRequest{Field: "body", Vector: []float32{1, 0}}}} {
			if found, err := st.Retrieve(t.Context(), req); err != nil || len(found) == 0 {
				return fmt.Errorf("%d hits: %w", len(found), err)
			}
		}
		return nil
	}
	writes := func() error {
		st, err := postgres.Open(t.Context(), weak)
		if err != nil {
			return err
		}
		defer st.Close()
		if err := st.Write(t.Context(), batch("t:b")); err != nil {
			return err
		}
		if err := st.Write(t.Context(), store.Batch{Replace: []sheaf.ID{"t:b"}}); err != nil {
			return err
		}
		if err := st.Empty(t.Context()); err != nil {
			return err
		}
		return st.Write(t.Context(), batch("t:a"))
	}
	says := func(want string) string {
		t.Helper()
		for _, f := range postgres.Examine(t.Context(), weak) {
			if f.Check == "rights" {
				must.That(t, errors.Is(f.Err, sheaf.ErrInvalid) && strings.Contains(fmt.Sprint(f.Err), want),
					"doctor: %v, want %q", f.Err, want)
				return f.Err.Error()
			}
		}
		t.Fatal("doctor says nothing of rights")
		return ""
	}
	refused := func(what string, err error, want string) {
		t.Helper()
		check.Fails(t, err, sheaf.ErrInvalid, want, "%s", what)
	}

	refused("searching without a right", reads(), "permission denied for schema "+o.Schema)
	advice := says("the user may not read the tables: to search run GRANT USAGE ON SCHEMA ")
	_, advice, _ = strings.Cut(advice, "to search run ")
	reading, writing, _ := strings.Cut(advice, "; to index also run ")
	run(reading)
	check.NoError(t, reads(), "searching with %s", reading)
	refused("indexing with the rights to search", writes(), "sheaf doctor says which rights to grant): ERROR: "+
		"permission denied for ")
	says("the user may search, and may not write chunk, chunk_ord, ")
	run(writing)
	check.NoError(t, writes(), "indexing with %s; %s", reading, writing)
	run("REVOKE USAGE ON SCHEMA " + o.Schema + " FROM " + name)
	refused("searching without USAGE", reads(), "permission denied for schema "+o.Schema)
	says("to search run GRANT USAGE ON SCHEMA ")
	run(reading)
	for _, c := range []struct{ right, of, says string }{
		{"SELECT", "TABLES", "to search run GRANT USAGE"}, {"INSERT", "TABLES", "may not write"},
		{"UPDATE", "TABLES", "may not write"},
		{"DELETE", "TABLES", "may not write"}, {"TRUNCATE", "TABLES", "may not write"},
		{"UPDATE", "SEQUENCES", "may not write chunk_ord, term_id_seq:"},
	} {
		run(fmt.Sprintf("REVOKE %s ON ALL %s IN SCHEMA %s FROM %s", c.right, c.of, o.Schema, name))
		refused("indexing without "+c.right+" on "+c.of, writes(), "permission denied for ")
		says(c.says)
		run(reading + "; " + writing)
	}
	must.Do(t, errors.Join(reads(), writes()))
}

// TestExamineAdviceIsAccepted checks that the server accepts the doctor's advice as printed. pgvector has its own
// schema. The administrator makes the store's schema, because the user may make none. The user's
// name needs quotes.
func TestExamineAdviceIsAccepted(t *testing.T) {
	admin := must.Get(pgx.Connect(t.Context(), server(t)))
	defer admin.Close(context.Background())
	run := func(sql string) {
		t.Helper()
		_, err := admin.Exec(context.Background(), sql)
		must.That(t, err == nil, "%s: %v", sql, err)
	}
	name := fmt.Sprintf("Some One-%d", os.Getpid())
	id := pgx.Identifier{name}.Sanitize()
	run("CREATE ROLE " + id + " LOGIN")
	defer run("DROP ROLE " + id)
	run("CREATE DATABASE " + id)
	defer run("DROP DATABASE " + id + " WITH (FORCE)")
	u := must.Get(url.Parse(server(t)))
	u.Path = "/" + name
	inside := must.Get(pgx.Connect(t.Context(), u.String()))
	defer inside.Close(context.Background())
	must.Get(inside.Exec(t.Context(), "CREATE SCHEMA \"The Extensions\"; CREATE EXTENSION vector SCHEMA \"The "+
		"Extensions\""))
	u.User = url.User(name)
	o := postgres.Options{URL: u.String(), Schema: "user", Analyzer: storetest.Analyzer(t, "en"),
		Vectors: []store.VectorField{{Name: "body", Model: "m", Dims: 2}}}
	advice := func(check string) string {
		t.Helper()
		for _, f := range postgres.Examine(t.Context(), o) {
			if f.Check == check && f.Err != nil {
				_, run, _ := strings.Cut(f.Err.Error(), "run ")
				return run
			}
		}
		t.Fatal("no fault of ", check)
		return ""
	}
	if _, err := inside.Exec(t.Context(), strings.TrimSuffix(advice("rights"), `, or make the schema "user" for it`)+
		"; REVOKE CREATE ON DATABASE "+id+" FROM "+id); err != nil {
		t.Error(err)
	}
	must.Get(inside.Exec(t.Context(), `CREATE SCHEMA "user" AUTHORIZATION `+id))
	check.Fails(t, must.Err(postgres.Open(t.Context(), o)), sheaf.ErrInvalid,
		`run GRANT USAGE ON SCHEMA "The Extensions" TO `+id, "Open")
	must.Get(inside.Exec(t.Context(), advice("extension")))
	everybodys := o
	everybodys.Schema = "public"
	check.Fails(t, must.Err(postgres.Open(t.Context(), everybodys)), sheaf.ErrInvalid,
		"name another schema", "a store in public")
	st := must.Get(postgres.Open(t.Context(), o))
	defer st.Close()
	batch := storetest.One("t:a", "x")
	batch.Chunks[0].Vectors = []store.Vectors{{Name: "body", Passages: [][]float32{{1, 0}}}}
	must.Do(t, st.Write(t.Context(), batch))
	found := must.Get(st.Retrieve(t.Context(), store.Request{Vector: &store.VectorRequest{Field: "body",
		Vector: []float32{1, 0}}, Limit: 1}))
	check.Equal(t, len(found), 1, "number of findings")
}

// TestPoolerThatDropsSearchPath checks that behind a pooler that drops search_path Open makes no tables. Open and the
// doctor name the pooler.
func TestPoolerThatDropsSearchPath(t *testing.T) {
	o := options(t)
	pooler := overheard{ignored: "search_path"}
	o.URL = pooler.between(t, o.URL)
	store, err := postgres.Open(t.Context(), o)
	if err == nil {
		_ = store.Close()
	}
	findings := postgres.Examine(t.Context(), o)
	for _, err := range []error{err, findings[len(findings)-1].Err} {
		check.Fails(t, err, sheaf.ErrUnsupported, "pooler", "refused")
	}
	said := strings.Join(pooler.take(), "; ")
	check.That(t, !strings.Contains(said, "CREATE SCHEMA") && strings.Count(said, "search_path") == 2,
		"something is made, or asked again: %s", said)
}

// saying returns an address with one more option.
func saying(t *testing.T, address, option, value string) string {
	t.Helper()
	u := must.Get(url.Parse(address))
	q := u.Query()
	q.Set(option, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// TestPoolOptions checks that pool options in an address are not sent to the server, even by single connections.
func TestPoolOptions(t *testing.T) {
	o := options(t)
	o.URL = saying(t, o.URL, "pool_max_conns", "2")
	store := must.Get(postgres.Open(t.Context(), o))
	errs := []error{store.Close()}
	for _, f := range postgres.Examine(t.Context(), o) {
		errs = append(errs, f.Err)
	}
	must.Do(t, errors.Join(append(errs, postgres.Drop(t.Context(), o.URL, o.Schema))...))
}

// TestExamineCopy checks that the doctor finds no fault of rights on a read-only server.
func TestExamineCopy(t *testing.T) {
	o := options(t)
	must.Do(t, stores().Open(t, o).Close())
	o.URL = saying(t, o.URL, "default_transaction_read_only", "on")
	for _, f := range postgres.Examine(t.Context(), o) {
		check.That(t, f.Err == nil && (f.Check != "rights" || strings.Contains(f.Found, "takes no writes")), "%+v", f)
	}
}
