package onyx_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sheaf"
	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/search/onyx"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/store/memory"
	"sheaf/store/opensearch"
	"sheaf/store/storekit"
	"sheaf/text/analysis"
)

// stores returns the indexes of local, and one on each configured server that Onyx supports.
func stores(t *testing.T, now func() time.Time) map[string]*onyx.Index {
	t.Helper()
	out := local(t, now)
	a := must.Get(analysis.New(analysis.Options{Language: "en"}))
	for _, d := range []opensearch.Dialect{opensearch.OpenSearch, opensearch.Elasticsearch} {
		url := os.Getenv("SHEAF_TEST_" + strings.ToUpper(d.String()))
		if url == "" {
			t.Logf("no %s: SHEAF_TEST_%s is not set", d, strings.ToUpper(d.String()))
			continue
		}
		o := opensearch.Options{Options: storekit.Options{URL: url, Analyzer: a,
			Vectors: []store.VectorField{{Name: store.VectorBody, Model: "m", Dims: 2}}}, Dialect: d,
			Index: fmt.Sprintf("onyx-%d-%d", os.Getpid(), rand.Uint32())}
		b := must.Get(opensearch.Open(ctx, o))
		t.Cleanup(func() {
			if err := errors.Join(b.Close(), opensearch.Drop(ctx, o)); err != nil {
				t.Error(err)
			}
		})
		out[d.String()] = onyx.New(b, contents(), now)
	}
	return out
}

// contents returns empty contents in memory.
func contents() *onyx.Contents { return &onyx.Contents{FS: vfs.NewMem(), Dir: "/contents"} }

// local returns an empty index over every store that needs no server.
func local(t *testing.T, now func() time.Time) map[string]*onyx.Index {
	t.Helper()
	a := must.Get(analysis.New(analysis.Options{Language: "en"}))
	engine := must.Get(embedded.Open(embedded.Options{FS: vfs.NewMem(), Dir: "/index", Analyzer: a,
		Vectors: []store.VectorField{{Name: store.VectorBody, Model: "m", Dims: 2}}}))
	t.Cleanup(func() { _ = engine.Close() })
	return map[string]*onyx.Index{
		"memory":   onyx.New(memory.New(a), contents(), now),
		"embedded": onyx.New(engine, contents(), now),
	}
}

func write(t *testing.T, x *onyx.Index, docs ...onyx.Document) []onyx.Written {
	t.Helper()
	return must.Get(x.Write(context.Background(), docs))
}

func vector(x, y float32) []store.Vectors {
	return []store.Vectors{{Name: store.VectorBody, Passages: [][]float32{{x, y}}}}
}

func ids(r sheaf.Ranking) []sheaf.ID {
	out := []sheaf.ID{}
	for _, h := range r {
		out = append(out, h.ID)
	}
	return out
}

var (
	ctx      = context.Background()
	everyone = onyx.Filters{AnyAccess: true, AnyTenant: true}
	cat      = sheaf.Match{Text: "cat"}
)

func ptr[T any](v T) *T { return &v }

func TestCreateOrVerify(t *testing.T) {
	for name, x := range stores(t, nil) {
		want := onyx.Settings{Model: "m", Dims: 2}
		for range 3 {
			check.NoError(t, x.Create(ctx, want), "%s", name)
		}
		check.Is(t, x.Create(ctx, onyx.Settings{Model: "other", Dims: 2}), sheaf.ErrInvalid, "%s: another model", name)
		check.Is(t, x.Create(ctx, onyx.Settings{Model: "m", Dims: 3}), sheaf.ErrInvalid, "%s: other dimensions", name)
		check.Is(t, x.Create(ctx, onyx.Settings{Dims: -1}), sheaf.ErrInvalid, "%s", name)
		bad := onyx.Document{ID: "t:a", Chunks: []onyx.Chunk{{Text: "x",
			Vectors: []store.Vectors{{Name: store.VectorBody, Passages: [][]float32{{1, 0, 0}}}}}}}
		check.Is(t, must.Err(x.Write(ctx, []onyx.Document{bad})), sheaf.ErrInvalid, "%s: vectors of 3 dimensions", name)
	}
}

// TestWriteAndDelete checks that a shrunk document leaves no old chunks, and what Delete returns.
func TestWriteAndDelete(t *testing.T) {
	for name, x := range stores(t, nil) {
		long := onyx.Document{ID: "t:a", Metadata: onyx.Metadata{Public: true},
			Chunks: []onyx.Chunk{{Text: "cat one"}, {Text: "cat two"}, {Text: "cat three"}}}
		w := write(t, x, long)
		check.That(t, !w[0].Existed, "%s: existed at first", name)
		long.Chunks = long.Chunks[:1]
		w = write(t, x, long, onyx.Document{ID: "t:b", Metadata: onyx.Metadata{Public: true},
			Chunks: []onyx.Chunk{{Text: "cat"}}})
		check.That(t, w[0].Existed && !w[1].Existed, "%s: %v", name, w)
		r, err := x.Keyword(ctx, cat, onyx.Filters{}, 10)
		check.That(t, err == nil && len(r) == 2, "%s: %v, %v", name, r, err)
		for _, want := range []int{1, 0} {
			n, err := x.Delete(ctx, "t:a")
			check.That(t, err == nil && n == want, "%s: deleted %d chunks, want %d: %v", name, n, want, err)
		}
		r, _ = x.Keyword(ctx, cat, onyx.Filters{}, 10)
		check.That(t, slices.Equal(ids(r), []sheaf.ID{"t:b#0"}), "%s: after deleting: %v", name, r)
		for _, docs := range [][]onyx.Document{{{ID: "no tree"}}, {{ID: "t:x"}, {ID: "t:x"}}} {
			check.Is(t, must.Err(x.Write(ctx, docs)), sheaf.ErrInvalid, "%s", name)
		}
	}
}

// TestUpdateMetadata checks that an update changes the metadata of a document at once, without new
// vectors. The old vectors still find the document.
func TestUpdateMetadata(t *testing.T) {
	for name, x := range stores(t, nil) {
		write(t, x, onyx.Document{ID: "t:a", Title: "Cats",
			Metadata: onyx.Metadata{Access: []string{"ann"}, Sets: []string{"x"}},
			Chunks:   []onyx.Chunk{{Text: "cat", Vectors: vector(1, 0)}}},
			onyx.Document{ID: "t:b", Metadata: onyx.Metadata{Public: true},
				Chunks: []onyx.Chunk{{Text: "cat", Vectors: vector(0, 1)}}})
		sees := func(f onyx.Filters) []sheaf.ID {
			r := must.Get(x.Semantic(ctx, store.VectorBody, []float32{1, 0}, f, 10))
			return ids(r)
		}
		ann, bob := onyx.Filters{Access: []string{"ann"}}, onyx.Filters{Access: []string{"bob"}}
		a, b := sees(ann), sees(bob)
		check.That(t, len(a) == 2 && len(b) == 1, "%s: ann sees %v, bob %v", name, a, b)
		missing, err := x.Update(ctx, []onyx.Update{{Documents: []sheaf.ID{"t:a", "t:none"}, Access: ptr([]string{"bob"})},
			{Documents: []sheaf.ID{"t:b", "t:none"}, Hidden: ptr(true)}})
		check.That(t, err == nil && slices.Equal(missing, []sheaf.ID{"t:none"}), "%s: %v, %v", name, missing, err)
		if a, b := sees(ann), sees(bob); len(a) != 0 || !slices.Equal(b, []sheaf.ID{"t:a#0"}) {
			t.Errorf("%s: after the update ann sees %v, bob %v", name, a, b)
		}
		// The update names no set, so the set stays. Administrators see hidden documents.
		check.Equal(t, len(sees(onyx.Filters{Access: []string{"bob"}, Scope: onyx.Scope{Sets: []string{"x"}}})), 1,
			"%s: the set is gone", name)
		admin := everyone
		admin.Hidden = true
		r, err := x.Keyword(ctx, cat, admin, 10)
		check.That(t, err == nil && len(r) == 2, "%s: administrators see %v, %v", name, r, err)
		missing, err = x.Update(ctx, nil)
		check.That(t, err == nil && missing == nil, "%s: nothing to do: %v, %v", name, missing, err)
	}
}

// TestKeywordQuery checks that a query matches title and content, as words and as phrases.
func TestKeywordQuery(t *testing.T) {
	q, ok := onyx.KeywordQuery("green tea").(sheaf.Bool)
	must.That(t, ok && len(q.Must)+len(q.MustNot) == 0, "the query is %+v", q)
	want := []sheaf.TextQuery{
		sheaf.Boost{Query: sheaf.Match{Text: "green tea", Field: sheaf.FieldTitle}, Factor: 0.1},
		sheaf.Boost{Query: sheaf.Phrase{Text: "green tea", Field: sheaf.FieldTitle, Slop: 1}, Factor: 0.2},
		sheaf.Boost{Query: sheaf.Match{Text: "green tea", Field: sheaf.FieldBody}, Factor: 1},
		sheaf.Boost{Query: sheaf.Phrase{Text: "green tea", Field: sheaf.FieldBody, Slop: 1}, Factor: 1.5},
	}
	check.List(t, q.Should, want, "any of")
}

// TestPublicToPrivate checks that a document that turns private disappears for others at once, and
// returns when it turns public. The flag Public is enough; no access list is needed.
func TestPublicToPrivate(t *testing.T) {
	for name, x := range stores(t, nil) {
		write(t, x, onyx.Document{ID: "t:a", Metadata: onyx.Metadata{Public: true},
			Chunks: []onyx.Chunk{{Text: "cat", Vectors: vector(1, 0)}}})
		for _, public := range []bool{true, false, true} {
			must.Get(x.Update(ctx, []onyx.Update{{Documents: []sheaf.ID{"t:a"}, Public: &public}}))
			for _, stranger := range []onyx.Filters{{}, {Access: []string{"bob"}}, {Access: []string{}}} {
				r := must.Get(x.Semantic(ctx, store.VectorBody, []float32{1, 0}, stranger, 10))
				check.Equal(t, len(r) == 1, public, "%s: %+v sees %v", name, stranger, ids(r))
			}
		}
	}
}

// TestOddNames checks that document names keep all their characters. Names stay distinct, and each
// document is found.
func TestOddNames(t *testing.T) {
	names := []sheaf.ID{"t:it's.md", "t:it_s.md", "t:its.md", `t:say "x".md`, "t:a#b.md", "t:größe.md", "t:gro\u0308ße.md"}
	for name, x := range stores(t, nil) {
		for _, id := range names {
			write(t, x, onyx.Document{ID: id, Title: string(id), Metadata: onyx.Metadata{Public: true},
				Chunks: []onyx.Chunk{{Text: "cat " + string(id), Vectors: vector(1, 0)}, {Text: "next", Vectors: vector(0, 1)}}})
		}
		for _, id := range names {
			found, err := x.Sections(ctx, []onyx.Section{{Document: id}}, onyx.Filters{})
			check.That(t, err == nil && len(found) == 2 && found[0].Document.ID == id &&
				found[0].Chunk.Text == "cat "+string(id) && found[1].Index == 1, "%s: %s: %+v, %v", name, id, found, err)
		}
	}
}

// TestSections checks that sections come in document order, that a range includes both ends, and that filters apply.
func TestSections(t *testing.T) {
	for name, x := range stores(t, nil) {
		var chunks []onyx.Chunk
		for i := range 12 {
			chunks = append(chunks, onyx.Chunk{Text: fmt.Sprint("text ", i), Large: i == 5})
		}
		write(t, x, onyx.Document{ID: "t:a", Title: "A", Metadata: onyx.Metadata{Public: true}, Chunks: chunks},
			onyx.Document{ID: "t:secret", Chunks: chunks})
		found, err := x.Sections(ctx, []onyx.Section{{Document: "t:a", Min: ptr(3), Max: ptr(6)}, {Document: "t:secret"},
			{Document: "t:none"}, {Document: "t:a", Min: ptr(10)}, {Document: "t:a", Max: ptr(0)},
			{Document: "t:a", Min: ptr(7), Max: ptr(7)}}, onyx.Filters{})
		must.Do(t, err)
		var got []int
		for _, f := range found {
			got = append(got, f.Index)
			check.That(t, f.Document.Title == "A" && f.Chunk.Text == fmt.Sprint("text ", f.Index), "%s: %+v", name, f)
		}
		want := []int{3, 4, 6, 10, 11, 0, 7}
		check.That(t, slices.Equal(got, want), "%s: %v, want %v", name, got, want)
		for want, bad := range map[string]onyx.Section{
			"chunks 3..2: the range ends before it starts": {Document: "t:a", Min: ptr(3), Max: ptr(2)},
			"chunk -2: chunks count from 0":                {Document: "t:a", Min: ptr(-2)},
			"chunk -3: chunks count from 0":                {Document: "t:a", Min: ptr(1), Max: ptr(-3)},
			"document \"\": its ID must be TREE:NAME":      {Min: ptr(0)},
			"document \"a.md\": its ID must be TREE:NAME":  {Document: "a.md"},
		} {
			check.Fails(t, must.Err(x.Sections(ctx, []onyx.Section{{Document: "t:a"}, bad}, onyx.Filters{})), sheaf.ErrInvalid,
				want, "%s", name)
		}
		check.Fails(t, must.Err(x.Semantic(ctx, "text", []float32{1, 0}, onyx.Filters{}, 3)), sheaf.ErrInvalid,
			`vector field "text": must be "body" or "title"`, "%s: a field that is not there", name)
	}
}

func TestRandom(t *testing.T) {
	for name, x := range stores(t, nil) {
		var docs []onyx.Document
		for i := range 30 {
			docs = append(docs, onyx.Document{ID: sheaf.ID(fmt.Sprintf("t:%02d", i)), Metadata: onyx.Metadata{Public: i%2 == 0},
				Chunks: []onyx.Chunk{{Text: "x"}}})
		}
		write(t, x, docs...)
		first, err := x.Random(ctx, onyx.Filters{}, 5, 1)
		again, _ := x.Random(ctx, onyx.Filters{}, 5, 1)
		other, _ := x.Random(ctx, onyx.Filters{}, 5, 2)
		check.That(t, err == nil && len(first) == 5 && slices.Equal(first, again) && !slices.Equal(first, other),
			"%s: %v, %v, %v, %v", name, first, again, other, err)
		all, _ := x.Random(ctx, onyx.Filters{}, 100, 1)
		check.That(t, len(all) == 15, "%s: %d of 15 public chunks", name, len(all))
		check.Is(t, must.Err(x.Random(ctx, onyx.Filters{}, 0, 1)), sheaf.ErrInvalid, "%s", name)
	}
}

// TestProfiles checks that the profiles of both Onyx systems run on the index. Filters apply before
// a branch cuts its list, so they do not empty it.
func TestProfiles(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }
	for name, x := range stores(t, now) {
		var docs []onyx.Document
		for i := range 60 {
			docs = append(docs, onyx.Document{ID: sheaf.ID(fmt.Sprintf("t:%02d", i)), Title: "Cat",
				Metadata: onyx.Metadata{Public: true, Source: "web"},
				Chunks:   []onyx.Chunk{{Text: "cat cat cat", Vectors: vector(1, 0)}}})
		}
		docs = append(docs, onyx.Document{ID: "t:old", Title: "Note",
			Metadata: onyx.Metadata{Public: true, Source: "slack", Boost: 4, Updated: now().AddDate(-3, 0, 0)},
			Chunks:   []onyx.Chunk{{Text: "a cat", Vectors: vector(0.6, 0.8)}}})
		write(t, x, docs...)
		for _, p := range []string{"onyx-elastic", "onyx-vespa"} {
			loaded := must.Get(profile.Load(p, profile.Builtin))
			r, err := x.Search(ctx, sheaf.Query{Text: "cat", Words: cat, Limit: 5}, loaded,
				onyx.Filters{Sources: []string{"slack"}},
				func(context.Context, []string) ([][]float32, error) { return [][]float32{{1, 0}}, nil },
				search.Options{Explain: true})
			must.That(t, err == nil && len(r.Hits) == 1 && r.Hits[0].ID == "t:old#0" && !r.Degraded,
				"%s on %s: %+v, %v", p, name, r, err)
			if got := r.Hits[0].Explanation.Recombine(); got-r.Hits[0].Score > 1e-9 || r.Hits[0].Score-got > 1e-9 {
				t.Errorf("%s on %s: scores %v, its parts give %v", p, name, r.Hits[0].Score, got)
			}
		}
	}
}

// TestAccessOfCallers checks which documents a caller finds. A caller named "public" does not find
// private documents.
func TestAccessOfCallers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"ann", "bob", "public", ""})
		list := rapid.SliceOfN(name, 0, 3)
		a := must.Get(analysis.New(analysis.Options{}))
		x := onyx.New(memory.New(a), contents(), nil)
		var docs []onyx.Document
		for i := range 6 {
			docs = append(docs, onyx.Document{ID: sheaf.ID(fmt.Sprint("t:", i)), Chunks: []onyx.Chunk{{Text: "cat"}},
				Metadata: onyx.Metadata{Public: rapid.Bool().Draw(t, "public"), Access: list.Draw(t, "access"),
					Tenant: rapid.SampledFrom([]string{"", "one", "two"}).Draw(t, "tenant")}})
		}
		must.Get(x.Write(ctx, docs))
		f := onyx.Filters{Access: list.Draw(t, "asker"), Tenant: rapid.SampledFrom([]string{"", "one"}).Draw(t, "of")}
		r := must.Get(x.Keyword(ctx, cat, f, 10))
		var want []sheaf.ID
		for _, d := range docs {
			allowed := d.Public || slices.ContainsFunc(d.Access, func(n string) bool {
				return n != sheaf.AccessPublic && slices.Contains(f.Access, n)
			})
			if allowed && d.Tenant == f.Tenant {
				want = append(want, d.ID+"#0")
			}
		}
		got := ids(r)
		slices.Sort(got)
		must.That(t, slices.Equal(got, want), "%+v finds %v, want %v", f, got, want)
	})
}

// TestContents checks that a damaged file is an error, and that saved documents survive a crash.
func TestContents(t *testing.T) {
	disk := vfs.NewMem()
	f := &onyx.Contents{FS: disk, Dir: "/c"}
	must.Do(t, f.Save([]onyx.Document{{ID: "t:a", Title: "A",
		Chunks: []onyx.Chunk{{Text: "x", Vectors: vector(1, 0)}}}}))
	after := &onyx.Contents{FS: disk.Crash(7), Dir: "/c"}
	if d, ok, err := after.Load("t:a"); err != nil || !ok || d.Title != "A" || len(d.Chunks) != 1 ||
		d.Chunks[0].Vectors[0].Passages[0][0] != 1 {
		t.Errorf("after a crash: %+v, %v, %v", d, ok, err)
	}
	names, err := after.FS.List("/c")
	must.That(t, err == nil && len(names) == 1, "%v, %v", names, err)
	file := must.Get(after.FS.Create(filepath.Join("/c", names[0])))
	must.Get(file.Write([]byte("garbage that is long enough")))
	must.Do(t, file.Close())
	_, _, err = after.Load("t:a")
	check.That(t, errors.Is(err, sheaf.ErrCorrupt), "damage: %v", err)
	must.Do(t, after.Delete("t:a"))
	check.NoError(t, after.Delete("t:a"), "deleted twice")
}

// columnsOnly is a store that accepts only columns, and records them.
type columnsOnly struct {
	store.Backend
	changes []store.ColumnChange
}

func (c *columnsOnly) WriteColumns(_ context.Context, changes []store.ColumnChange) error {
	c.changes = append(c.changes, changes...)
	return nil
}

// TestListsOfCallersAreCopied checks that access rights do not change when a caller changes a list afterwards.
func TestListsOfCallersAreCopied(t *testing.T) {
	for name, x := range stores(t, nil) {
		access := []string{"user:ann"}
		write(t, x, onyx.Document{ID: "t:a", Title: "A", Metadata: onyx.Metadata{Access: access},
			Chunks: []onyx.Chunk{{Text: "cat"}}})
		access[0] = "user:eve"
		touch := func() {
			t.Helper()
			must.Get(x.Update(ctx, []onyx.Update{{Documents: []sheaf.ID{"t:a"}, Hidden: ptr(false)}}))
		}
		touch()
		sees := func(who string) bool {
			t.Helper()
			found := must.Get(x.Sections(ctx, []onyx.Section{{Document: "t:a"}}, onyx.Filters{Access: []string{who}}))
			r, err := x.Keyword(ctx, cat, onyx.Filters{Access: []string{who}}, 5)
			check.That(t, err == nil && len(r) == len(found),
				"%s: %s finds %d chunks and reads %d, %v", name, who, len(r), len(found), err)
			for i := range found {
				found[i].Document.Access[0] = "user:eve"
			}
			return len(found) > 0
		}
		check.That(t, sees("user:ann") && !sees("user:eve"), "%s: what was written changed", name)
		touch()
		check.That(t, sees("user:ann") && !sees("user:eve"), "%s: what was found changed", name)
		bob := []string{"user:bob"}
		must.Get(x.Update(ctx, []onyx.Update{{Documents: []sheaf.ID{"t:a"}, Access: &bob}}))
		bob[0] = "user:eve"
		touch()
		check.That(t, sees("user:bob") && !sees("user:eve"), "%s: what was updated changed", name)
		for _, boost := range []float64{math.NaN(), math.Inf(1)} {
			check.Is(t, must.Err(x.Write(ctx, []onyx.Document{{ID: "t:b", Metadata: onyx.Metadata{Boost: boost}}})),
				sheaf.ErrInvalid, "%s: boost %v", name, boost)
			check.Is(t, must.Err(x.Update(ctx, []onyx.Update{{Documents: []sheaf.ID{"t:a"}, Boost: &boost}})), sheaf.ErrInvalid,
				"%s: boost %v in an update", name, boost)
		}
	}
}

// TestUpdateColumns checks that a store that can change columns gets only column changes.
func TestUpdateColumns(t *testing.T) {
	a := must.Get(analysis.New(analysis.Options{Language: "en"}))
	st := &columnsOnly{Backend: memory.New(a)}
	x := onyx.New(st, contents(), nil)
	write(t, x, onyx.Document{ID: "t:a", Chunks: []onyx.Chunk{{Text: "one"}, {Text: "two"}}})
	st.Backend = nil // any other write panics
	boost := 2.0
	missing, err := x.Update(t.Context(),
		[]onyx.Update{{Documents: []sheaf.ID{"t:a", "t:b"}, Boost: &boost}})
	must.That(t, err == nil && len(missing) == 1, "missing %v, %v", missing, err)
	must.That(t, len(st.changes) == 2 && st.changes[1].Chunk == onyx.ChunkID("t:a", 1), "changes %+v", st.changes)
	c := store.Chunk{Columns: st.changes[0].Columns}
	got := c.Values(sheaf.PropertyColumn("boost"))
	check.That(t, len(got) == 1 && got[0] == sheaf.NumberValue(2), "votes are %v", got)
}
