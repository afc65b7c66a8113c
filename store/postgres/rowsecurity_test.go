package postgres_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"slices"
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

// private returns a chunk of a tenant that only the viewers in access may see.
func private(id, tenant string, access ...string) store.Chunk {
	c := storetest.Chunk(id, "body", "secret plans")
	values := []sheaf.Value{}
	for _, a := range access {
		values = append(values, sheaf.TextValue(a))
	}
	c.Columns = []store.Column{{Name: sheaf.ColumnAccess, Values: values}}
	if tenant != "" {
		c.Columns = append(c.Columns, store.Column{Name: sheaf.ColumnTenant, Values: []sheaf.Value{sheaf.TextValue(tenant)}})
	}
	c.Vectors = []store.Vectors{{Name: "body", Passages: [][]float32{{1, 0}}}}
	return c
}

// role makes a user who may read and cannot bypass row-level security, and returns its URL.
func role(t *testing.T, o postgres.Options) string {
	t.Helper()
	name := "user_" + o.Schema
	return user(t, o, "GRANT USAGE ON SCHEMA "+o.Schema+" TO "+name, "GRANT SELECT ON ALL TABLES IN SCHEMA "+o.Schema+
		" TO "+name)
}

// user makes a user with the rights that statements grant to user_SCHEMA, and returns its URL.
func user(t *testing.T, o postgres.Options, statements ...string) string {
	t.Helper()
	conn := must.Get(pgx.Connect(t.Context(), o.URL))
	name := "user_" + o.Schema
	for _, sql := range append([]string{"CREATE ROLE " + name + " LOGIN"}, statements...) {
		must.Get(conn.Exec(t.Context(), sql))
	}
	t.Cleanup(func() {
		_, _ = conn.Exec(context.Background(), "DROP OWNED BY "+name+" CASCADE")
		if _, err := conn.Exec(context.Background(), "DROP ROLE "+name); err != nil {
			t.Error(err)
		}
		_ = conn.Close(context.Background())
	})
	u := must.Get(url.Parse(o.URL))
	u.User = url.User(name)
	return u.String()
}

// TestRowSecurity checks that the server itself, without a filter, shows a viewer only the rows of
// visible documents. A connection without a viewer sees nothing.
func TestRowSecurity(t *testing.T) {
	o := options(t)
	o.RowSecurity = true
	owner := stores().Open(t, o)
	defer owner.Close()
	chunks := []store.Chunk{private("t:open", "", "public"), private("t:ann", "", "ann"), private("t:nobody", ""),
		private("t:acme", "acme", "public"), private("t:acme-ann", "acme", "ann", "it's, quoted"),
		private("t:zeta", "zeta", "ann")}
	must.Do(t, owner.Write(t.Context(), store.Batch{Chunks: chunks}))
	reader := o
	reader.URL, reader.Access = role(t, o), store.ReadOnly
	b := stores().Open(t, reader)
	defer b.Close()
	near := store.Request{Limit: 10, Vector: &store.VectorRequest{Field: "body", Vector: []float32{1, 0}}}
	for what, c := range map[string]struct {
		viewer store.Viewer
		want   string
	}{
		"everything": {store.Viewer{AnyTenant: true, AnyAccess: true},
			"t:acme t:acme-ann t:ann t:nobody t:open t:zeta"},
		"nobody":           {store.Viewer{}, "t:open"},
		"ann":              {store.Viewer{Access: []string{"ann"}}, "t:ann t:open"},
		"a tenant":         {store.Viewer{Tenant: "acme"}, "t:acme"},
		"ann of a tenant":  {store.Viewer{Tenant: "acme", Access: []string{"ann"}}, "t:acme t:acme-ann"},
		"quotes, a comma":  {store.Viewer{Tenant: "acme", Access: []string{"it's, quoted"}}, "t:acme t:acme-ann"},
		"no such tenant":   {store.Viewer{Tenant: "*"}, ""},
		"an operator":      {store.Viewer{AnyTenant: true, Access: []string{"*"}}, "t:acme t:open"},
		"any of its own":   {store.Viewer{Tenant: "acme", AnyAccess: true}, "t:acme t:acme-ann"},
		"ann, any tenants": {store.Viewer{AnyTenant: true, Access: []string{"ann"}}, "t:acme t:acme-ann t:ann t:open t:zeta"},
	} {
		ctx := store.WithViewer(t.Context(), c.viewer)
		for kind, req := range map[string]store.Request{"words": storetest.Words(sheaf.Match{Text: "secret"}),
			"vectors": near} {
			found := must.Get(b.Retrieve(ctx, req))
			n, err := b.(store.Counter).Count(ctx, req)
			if got := names(found); err != nil || got != c.want || n != len(found) {
				t.Errorf("%s, %s: %q and a count of %d, %v, want %q", what, kind, got, n, err, c.want)
			}
		}
	}
	withoutSetting(t, reader)
	// Deletion also removes rows of the table wall. The schema determines row-level security.
	must.Do(t, owner.Write(t.Context(), store.Batch{Replace: []sheaf.ID{"t:open"}}))
	check.Equal(t, storetest.Hits(t, owner, "secret"), 5, "chunks after a deletion")
	o.RowSecurity = false
	if _, err := postgres.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "rls=true") {
		t.Errorf("opened without the wall that it was made with: %v", err)
	}
}

func names(r sheaf.Ranking) string {
	var out []string
	for _, h := range r {
		out = append(out, string(h.ID))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// withoutSetting checks that a connection that sets no viewer sees no row of any table with
// documents.
func withoutSetting(t *testing.T, o postgres.Options) {
	t.Helper()
	conn := must.Get(pgx.Connect(t.Context(), o.URL))
	defer func() { _ = conn.Close(context.Background()) }()
	for _, table := range []string{"chunk", "posting", "property", "vector_1", "wall"} {
		var n int
		err := conn.QueryRow(t.Context(), fmt.Sprintf("SELECT count(*) FROM %s.%s", o.Schema, table)).Scan(&n)
		check.That(t, err == nil && n == 0, "without the setting, %s shows %d rows, %v", table, n, err)
	}
	findings := postgres.Examine(t.Context(), o)
	i := slices.IndexFunc(findings, func(f store.Finding) bool { return f.Check == "row security" })
	check.That(t, i >= 0 && findings[i].Err == nil, "the doctor finds %v", findings)
}

// TestRowSecurityOfOwner checks that a user who cannot bypass row-level security can make the tables, write and
// delete.
func TestRowSecurityOfOwner(t *testing.T) {
	admin := must.Get(pgx.Connect(t.Context(), server(t)))
	name := fmt.Sprintf("writer_%d", os.Getpid())
	var database string
	must.Do(t, admin.QueryRow(t.Context(), "SELECT current_database()").Scan(&database))
	for _, sql := range []string{"CREATE EXTENSION IF NOT EXISTS vector SCHEMA public", "CREATE ROLE " + name + " LOGIN",
		"GRANT CREATE ON DATABASE " + database + " TO " + name} {
		must.Get(admin.Exec(t.Context(), sql))
	}
	t.Cleanup(func() { // runs after the schema is dropped
		for _, sql := range []string{"DROP OWNED BY " + name + " CASCADE", "DROP ROLE " + name} {
			if _, err := admin.Exec(context.Background(), sql); err != nil {
				t.Error(err)
			}
		}
		_ = admin.Close(context.Background())
	})
	o := options(t)
	u := must.Get(url.Parse(o.URL))
	u.User = url.User(name)
	o.URL, o.RowSecurity = u.String(), true
	b := stores().Open(t, o)
	defer b.Close()
	everything := store.WithViewer(t.Context(), store.Viewer{AnyTenant: true, AnyAccess: true})
	found := func(ctx context.Context, want string) {
		t.Helper()
		r, err := b.Retrieve(ctx, storetest.Words(sheaf.Match{Text: "secret"}))
		got := names(r)
		check.That(t, err == nil && got == want, "found %s, want %s, %v", got, want, err)
	}
	for range 2 { // the second write replaces the first
		must.Do(t, b.Write(t.Context(), store.Batch{Chunks: []store.Chunk{private("t:open", "", "public"),
			private("t:ann", "", "ann"), private("t:bob", "", "bob")}}))
		found(everything, "t:ann t:bob t:open")
		found(store.WithViewer(t.Context(), store.Viewer{Access: []string{"ann"}}), "t:ann t:open")
	}
	must.Do(t, b.Write(t.Context(), store.Batch{Replace: []sheaf.ID{"t:ann"}}))
	found(everything, "t:bob t:open")
	storetest.Healthy(t, postgres.Examine(t.Context(), o))
}
