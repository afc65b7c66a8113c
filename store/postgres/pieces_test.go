package postgres_test

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/postgres"
	"sheaf/store/storetest"
)

// slow returns the address of a proxy to the server that pauses for each 64 KiB.
func slow(t *testing.T, to string, pause time.Duration) string {
	t.Helper()
	u := must.Get(url.Parse(to))
	p := proxy{pause: pause}
	u.Host = p.start(t, u.Host)
	return u.String()
}

// TestLongLoad checks that writing one document may take longer than the timeout if the server
// takes each piece in time. It runs with row-level security and without.
func TestLongLoad(t *testing.T) {
	const timeout = 2 * time.Second
	for _, wall := range []bool{false, true} {
		o := options(t)
		to := o.URL
		o.URL, o.RowSecurity, o.Timeout = slow(t, to, 8*time.Millisecond), wall, timeout
		st := must.Get(postgres.Open(t.Context(), o))
		passages := make([][]float32, 20_000)
		for i := range passages {
			passages[i] = make([]float32, 256)
			passages[i][i%256] = 1
		}
		batch := storetest.One("t:big", "x")
		batch.Chunks[0].Vectors = []store.Vectors{{Name: "body", Passages: passages}}
		began := time.Now()
		check.NoError(t, st.Write(t.Context(), batch), "after %v", time.Since(began))
		took := time.Since(began)
		check.That(t, took >= timeout, "took %v: too short to show anything", took)
		if stats, err := st.Stats(t.Context()); err != nil || stats.Vectors != len(passages) {
			t.Errorf("%d vectors, %v: want %d", stats.Vectors, err, len(passages))
		}
		must.Do(t, st.Close())
	}
}

// TestSilentServer checks the error for a server that accepts a connection and never answers.
func TestSilentServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	defer listener.Close()
	o := postgres.Options{URL: "postgres://me@" + listener.Addr().String() + "/notes?sslmode=disable",
		Analyzer: storetest.Analyzer(t, "en"), Timeout: time.Second}
	_, err = postgres.Open(t.Context(), o)
	check.That(t, errors.Is(err, sheaf.ErrUnavailable) &&
		strings.Contains(fmt.Sprint(err), "the server at 127.0.0.1:") && strings.Contains(err.Error(), "is that PostgreSQL?"),
		"%v", err)
}
