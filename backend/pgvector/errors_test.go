package pgvector

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"sheaf"
	"sheaf/backend/backendtest"
)

// TestLetIn: who is not let in hears why, and is not told of passwords when it is the
// encryption that is missing.
func TestLetIn(t *testing.T) {
	for message, says := range map[string]string{
		`no pg_hba.conf entry for host "127.0.0.1", user "sheaf", database "postgres", no encryption`:  "sslmode=require",
		`no pg_hba.conf entry for host "127.0.0.1", user "sheaf", database "postgres", SSL encryption`: "add a line there",
		`role "nobody" is not permitted to log in`:                                                     "check user and password",
	} {
		err := fail("search", &pgconn.PgError{Severity: "FATAL", Code: "28000", Message: message})
		if text := fmt.Sprint(err); !errors.Is(err, sheaf.ErrInvalid) || !strings.Contains(text, says) || !strings.Contains(text, message) {
			t.Errorf("%v: want one that says %q", err, says)
		}
	}
}

// TestServerStops: a server that is stopped in the middle of something says what is written
// and what to do.
func TestServerStops(t *testing.T) {
	for _, code := range []string{"57P01", "57P02", "57P03", "08006"} {
		err := fail("write 488 chunks", &pgconn.PgError{Severity: "FATAL", Code: code, Message: "terminating connection due to administrator command"})
		if text := fmt.Sprint(err); !errors.Is(err, sheaf.ErrUnavailable) || !strings.Contains(text, "repeat this; what was not committed is not written") || !strings.Contains(text, "488 chunks") {
			t.Errorf("%s: %v", code, err)
		}
	}
}

// TestNoSuchHost: an address whose host does not exist names what to look at.
func TestNoSuchHost(t *testing.T) {
	_, err := Open(t.Context(), Options{URL: "postgres://me@nobody.invalid/notes", Analyzer: backendtest.Analyzer(t, "en")})
	if !errors.Is(err, sheaf.ErrUnavailable) || !strings.Contains(fmt.Sprint(err), "look at the host in the address") {
		t.Error(err)
	}
}

// TestMadeByOthers: tables and views of others are named, also those that are called as
// ours are.
func TestMadeByOthers(t *testing.T) {
	s := fresh(t, Options{Analyzer: backendtest.Analyzer(t, "en")})
	for i, made := range []string{
		"CREATE TABLE %s.setting (name text, value text); CREATE TABLE %[1]s.posting (x int)",
		"CREATE TABLE %s.setting (key text); CREATE TABLE %[1]s.posting (x int)",
		"CREATE VIEW %s.posting AS SELECT 1",
	} {
		o := s.o
		o.Schema = fmt.Sprintf("%s_%d", s.o.Schema, i)
		if _, err := s.pool.Exec(t.Context(), "CREATE SCHEMA "+o.Schema+"; "+fmt.Sprintf(made, o.Schema)); err != nil {
			t.Fatal(err)
		}
		other, err := Open(t.Context(), o)
		if err == nil {
			_ = other.Close()
		}
		if !errors.Is(err, sheaf.ErrInvalid) || !strings.Contains(fmt.Sprint(err), "the schema "+o.Schema+" is not ours, it holds posting") {
			t.Errorf("%s: %v", made, err)
		}
		if _, err := s.pool.Exec(t.Context(), "DROP SCHEMA "+o.Schema+" CASCADE"); err != nil {
			t.Error(err)
		}
	}
}
