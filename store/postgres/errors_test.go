package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/storetest"
)

// TestServerErrors checks that an error of the server gets a category and advice, and keeps its
// message. The cases: refused users, servers that stop, poolers, missing databases, and timeouts of
// the server that are shorter than Sheaf's.
func TestServerErrors(t *testing.T) {
	const stops = "repeat this; what was not committed is not written"
	entry := `no pg_hba.conf entry for host "127.0.0.1", user "sheaf", database "postgres", `
	for _, c := range []struct {
		code, message string
		want          error
		says          string
	}{
		{"28000", entry + "no encryption", store.ErrKeptOut, "sslmode=require"},
		{"28000", entry + "SSL encryption", store.ErrKeptOut, "add a line there"},
		{"28000", `role "nobody" is not permitted to log in`, store.ErrKeptOut, "check user and password"},
		{"28000", "connection requires a valid client certificate", store.ErrKeptOut, "store_cert_file"},
		{"57P01", "terminating connection", sheaf.ErrUnavailable, stops},
		{"57P02", "terminating connection", sheaf.ErrUnavailable, stops},
		{"57P03", "terminating connection", sheaf.ErrUnavailable, stops},
		{"08006", "terminating connection", sheaf.ErrUnavailable, stops},
		{"08P01", "no", sheaf.ErrUnavailable, "pooler"},
		{"42P05", "no", sheaf.ErrUnsupported, "pooler"},
		{"26000", "no", sheaf.ErrUnsupported, "pooler"},
		{"57P04", "no", sheaf.ErrUnavailable, "make the database again"},
		{"55P03", "no", sheaf.ErrUnavailable, "lock_timeout"},
		{"25P03", "no", sheaf.ErrUnavailable, "idle_in_transaction_session_timeout"},
		{"25P04", "no", sheaf.ErrUnavailable, "transaction_timeout"},
	} {
		err := fail("write 488 chunks", &pgconn.PgError{Severity: "FATAL", Code: c.code, Message: c.message})
		text := fmt.Sprint(err)
		check.That(t, errors.Is(err, c.want) && strings.Contains(text, c.says) && strings.Contains(text, c.message) &&
			strings.Contains(text, "488 chunks"), "%v: want one that says %q", err, c.says)
	}
}

// TestUnreachedServer checks that the error gives one cause once, although the driver tries with TLS and without.
func TestUnreachedServer(t *testing.T) {
	_, err := connect(t.Context(), "postgres://u@127.0.0.1:1/x")
	text := fmt.Sprint(fail("connect", err))
	check.Equal(t, strings.Count(text, "dial error: "), 1, "%s", text)
}

// TestOlderExtension checks that Open and Examine refuse a pgvector without iterative scans, because
// it loses hits silently. Open also refuses it for an existing store, and does not install it.
func TestOlderExtension(t *testing.T) {
	s := fresh(t, Options{Analyzer: storetest.Analyzer(t, "en")})
	name := s.o.Schema + "_older"
	if _, err := s.pool.Exec(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Skip("no right to make a database: ", err)
	}
	t.Cleanup(func() { _, _ = s.pool.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)") })
	u := must.Get(url.Parse(s.o.URL))
	o := s.o
	u.Path = name
	o.URL = u.String()
	store := must.Get(Open(t.Context(), o))
	if _, err := store.pool.Exec(t.Context(), "SET allow_system_table_mods = on; UPDATE pg_extension SET extversion = "+
		"'0.7.4' WHERE extname = 'vector'"); err != nil {
		t.Skip("no right to change catalogs: ", err)
	}
	must.Do(t, store.Close())
	_, opened := Open(t.Context(), o)
	refused := []error{opened, tooOld("available", new("0.6.2"))}
	for _, f := range Examine(t.Context(), o) {
		if f.Check == "extension" {
			refused = append(refused, f.Err)
		}
	}
	for _, err := range refused {
		check.Fails(t, err, sheaf.ErrUnsupported, "0.8 or newer is needed", "refused")
	}
	for _, version := range []string{"0.8.0", "0.10.1", "1.0", "next"} {
		must.Do(t, tooOld("installed", &version))
	}
}

// TestNoSuchHost checks the advice for an address with an unknown host.
func TestNoSuchHost(t *testing.T) {
	_, err := Open(t.Context(), Options{URL: "postgres://me@nobody.invalid/notes", Analyzer: storetest.Analyzer(t, "en")})
	check.Fails(t, err, sheaf.ErrUnavailable, "look at the host in the address", "refused")
}

// TestSchemaWithForeignTables checks that Open and Drop refuse a schema with foreign tables or views, whatever their
// names. The error names them.
func TestSchemaWithForeignTables(t *testing.T) {
	s := fresh(t, Options{Analyzer: storetest.Analyzer(t, "en")})
	for i, made := range []string{
		"CREATE TABLE %s.setting (name text, value text); CREATE TABLE %[1]s.posting (x int)",
		"CREATE TABLE %s.setting (key text); CREATE TABLE %[1]s.posting (x int)",
		"CREATE TABLE %s.setting (key text, value text); CREATE TABLE %[1]s.posting (x int)",
		"CREATE TABLE %s.setting (name text, value int); INSERT INTO %[1]s.setting VALUES ('a', 1); CREATE TABLE " +
			"%[1]s.posting (x int)",
		"CREATE TABLE %s.setting (name text, value text); INSERT INTO %[1]s.setting VALUES ('a', NULL); CREATE TABLE " +
			"%[1]s.posting (x int)",
		"CREATE VIEW %s.posting AS SELECT 1",
	} {
		o := s.o
		o.Schema = fmt.Sprintf("%s_%d", s.o.Schema, i)
		must.Get(s.pool.Exec(t.Context(), "CREATE SCHEMA "+o.Schema+"; "+fmt.Sprintf(made, o.Schema)))
		other, err := Open(t.Context(), o)
		if err == nil {
			_ = other.Close()
		}
		check.Fails(t, err, sheaf.ErrInvalid, "did not make the schema "+o.Schema+", which holds posting", "%s", made)
		check.Fails(t, Drop(t.Context(), o.URL, o.Schema), sheaf.ErrInvalid, "posting", "drop %s", made)
		if _, err := s.pool.Exec(t.Context(), "DROP SCHEMA "+o.Schema+" CASCADE"); err != nil {
			t.Error(err)
		}
	}
}

// TestExtensionObjectsStay checks that Open and Drop accept and keep objects of extensions.
func TestExtensionObjectsStay(t *testing.T) {
	s := fresh(t, Options{Analyzer: storetest.Analyzer(t, "en")})
	o := s.o
	o.Schema = s.o.Schema + "_x"
	if _, err := s.pool.Exec(t.Context(), "CREATE SCHEMA "+o.Schema+"; CREATE EXTENSION pg_stat_statements SCHEMA "+
		o.Schema); err != nil {
		t.Skip("the server has no extension pg_stat_statements: ", err)
	}
	other, err := Open(t.Context(), o)
	if err != nil {
		t.Error(err)
	} else {
		_ = other.Close()
	}
	must.Do(t, Drop(t.Context(), o.URL, o.Schema))
	var left []string
	// pg_stat_statements_info exists since version 14.
	if err := s.pool.QueryRow(t.Context(), "SELECT array_agg(relname::text ORDER BY relname) FROM pg_class WHERE "+
		"relnamespace = $1::regnamespace AND relname <> 'pg_stat_statements_info'", o.Schema).Scan(&left); err != nil ||
		fmt.Sprint(left) != "[pg_stat_statements]" {
		t.Errorf("%v are left: %v", left, err)
	}
	if _, err := s.pool.Exec(t.Context(), "DROP SCHEMA "+o.Schema+" CASCADE"); err != nil {
		t.Error(err)
	}
}

// TestDropKeepsForeignObjects checks that Drop keeps foreign objects in the schema. It refuses while
// foreign objects depend on the store's tables.
func TestDropKeepsForeignObjects(t *testing.T) {
	s := fresh(t, Options{Analyzer: storetest.Analyzer(t, "en")})
	run := func(sql string) {
		t.Helper()
		must.Get(s.pool.Exec(t.Context(), strings.ReplaceAll(sql, "SCHEMA_", s.o.Schema)))
	}
	run(`CREATE FUNCTION SCHEMA_.theirs() RETURNS int LANGUAGE sql AS 'SELECT 42';
		CREATE TYPE SCHEMA_.kind AS ENUM ('a'); CREATE SEQUENCE SCHEMA_.count;
		CREATE SCHEMA SCHEMA__2; CREATE TABLE SCHEMA__2.mine (k SCHEMA_.kind);
		CREATE VIEW SCHEMA__2.chunks AS SELECT id FROM SCHEMA_.chunk`)
	defer run("DROP SCHEMA SCHEMA__2 CASCADE; DROP SCHEMA SCHEMA_ CASCADE; CREATE SCHEMA SCHEMA_")
	check.Fails(t, Drop(t.Context(), s.o.URL, s.o.Schema), sheaf.ErrInvalid,
		"view "+s.o.Schema+"_2.chunks depends on table", "drop below a view")
	check.NoError(t, must.Err(s.Stats(t.Context())), "after a drop that failed")
	run("DROP VIEW SCHEMA__2.chunks")
	must.Do(t, Drop(t.Context(), s.o.URL, s.o.Schema))
	run("SELECT SCHEMA_.theirs(), nextval('SCHEMA_.count'), k FROM SCHEMA__2.mine")
	other := must.Get(Open(t.Context(), s.o))
	must.Do(t, other.Close())
}

// TestSchemaNames checks that a schema may be named by a word of SQL. A name that the server
// reserves is refused, with advice.
func TestSchemaNames(t *testing.T) {
	s := fresh(t, Options{Analyzer: storetest.Analyzer(t, "en")})
	o := s.o
	for _, o.Schema = range []string{"order", "user"} {
		other := must.Get(Open(t.Context(), o))
		if err := other.Write(t.Context(), storetest.One("t:a", "x")); err != nil || storetest.Hits(t, other, "x") != 1 {
			t.Error(err)
		}
		must.Do(t, errors.Join(other.Close(), Drop(t.Context(), o.URL, o.Schema)))
		if _, err := s.pool.Exec(t.Context(), "DROP SCHEMA "+quoted(o.Schema)); err != nil {
			t.Error(err)
		}
	}
	o.Schema = "pg_notes"
	check.Fails(t, must.Err(Open(t.Context(), o)), sheaf.ErrInvalid, "name another schema", "Open")
}

// TestCommitThatFails checks that after a refused commit each later call says that nothing is
// written.
func TestCommitThatFails(t *testing.T) {
	s := fresh(t, Options{Analyzer: storetest.Analyzer(t, "en")})
	must.Get(s.pool.Exec(t.Context(), `CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN RAISE EXCEPTION 'disk full' USING ERRCODE='53100'; END $$;
		CREATE TRIGGER no BEFORE UPDATE ON total FOR EACH ROW EXECUTE FUNCTION no()`))
	load := must.Get(s.Bulk(t.Context()))
	defer load.Close()
	c := storetest.Chunk("t:a", "body", "x")
	must.Do(t, load.Add(t.Context(), store.Batch{Replace: []sheaf.ID{c.Doc}, Chunks: []store.Chunk{c}}))
	first := load.Commit(t.Context())
	must.Get(s.pool.Exec(t.Context(), "DROP TRIGGER no ON total"))
	for _, err := range []error{first, load.Commit(t.Context()),
		load.Add(t.Context(), store.Batch{Chunks: []store.Chunk{c}})} {
		check.Fails(t, err, sheaf.ErrUnavailable, "nothing since the last commit was written: repeat the command", "refused")
	}
}
