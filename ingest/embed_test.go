package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"sheaf"
	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model"
	"sheaf/model/hashed"
	"sheaf/model/remember"
	"sheaf/store"
	"sheaf/text/chunk"
)

// fakeModel counts the texts it gets and fails while broken is set. If refused is set, fakeModel
// calls it for texts with granite. Texts with lacks, if lacks is set, get no vector.
type fakeModel struct {
	hashed.Embedder
	mu      sync.Mutex
	texts   int
	broken  error
	refused func() error
	lacks   string
}

func (m *fakeModel) Embed(ctx context.Context, p model.Purpose, texts []string) ([][]float32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil {
		return nil, m.broken
	}
	if m.refused != nil && strings.Contains(strings.Join(texts, "\n"), "Granite") {
		return nil, m.refused()
	}
	m.texts += len(texts)
	out, err := m.Embedder.Embed(ctx, p, texts)
	for i, text := range texts {
		if m.lacks != "" && strings.Contains(text, m.lacks) {
			out[i] = nil
		}
	}
	return out, err
}

// nearest returns the chunk nearest to a text.
func nearest(t *testing.T, w *world, m *fakeModel, text string) sheaf.ID {
	t.Helper()
	v := must.Get(m.Embedder.Embed(context.Background(), model.Query, []string{text}))
	r := must.Get(w.o.Backend.Retrieve(context.Background(),
		store.Request{Limit: 1, Vector: &store.VectorRequest{Field: store.VectorBody, Vector: v[0]}}))
	if len(r) == 0 {
		return ""
	}
	return r[0].ID
}

// TestEmbedding checks that a passage is embedded once, also when it moves to another file. If the
// model fails, words stay searchable, documents are pending, and the next run continues.
func TestEmbedding(t *testing.T) {
	w := newWorld(t)
	m := &fakeModel{Embedder: hashed.New(256)}
	kept := remember.New(m, filepath.Join(t.TempDir(), "vectors"))
	defer kept.Close()
	w.o.Embedder = kept
	w.write("a.md", "# Bread\n\nflour and water\n\n## Oven\n\nvery hot\n")
	w.write("long.md", "# Long\n\n"+strings.Repeat("filler words here ", 100)+"zebra crossing\n")
	r := w.run()
	must.That(t, r.Pending == 0 && r.EmbedError == "", "%+v", r)
	check.Equal(t, nearest(t, w, m, "Bread › Oven very hot"), "t:a.md#oven", "nearest to the oven")
	asked := m.texts
	must.Do(t, os.Rename(filepath.Join(w.root, "a.md"), filepath.Join(w.root, "b.md")))
	r = w.run()
	check.That(t, r.Renamed == 1 && m.texts == asked, "a rename asked for %d texts: %+v", m.texts-asked, r)
	check.Equal(t, nearest(t, w, m, "Bread › Oven very hot"), "t:b.md#oven", "nearest after the rename")

	m.broken = errors.New("the server is down")
	w.write("c.md", "# Cheese\n\nalpha holes\n")
	r = w.run()
	check.That(t, r.Added == 1 && r.Pending == 1 && strings.Contains(r.EmbedError, "down"), "broken: %+v", r)
	check.That(t, strings.Contains(state(t, w.o), "alpha t:c.md"), "words of a document without vectors are not found")
	r, err := ingest.Scan(context.Background(), w.o)
	check.That(t, err == nil && r.Pending == 1 && r.Changed == 1, "scan: %+v, %v", r, err)
	m.broken = nil
	r = w.run()
	check.That(t, r.Changed == 1 && r.Pending == 0, "mended: %+v", r)
	check.Equal(t, nearest(t, w, m, "Cheese alpha holes"), "t:c.md#cheese", "nearest to cheese")
	generation := w.generation()
	r = w.run()
	check.That(t, !r.Changes() && w.generation() == generation, "nothing changed: %+v", r)
}

// TestWrongVectors checks that words stay searchable after a model returns invalid vectors, as after a failure.
func TestWrongVectors(t *testing.T) {
	for what, spoil := range map[string]func(v []float32) []float32{
		"another length": func(v []float32) []float32 { return v[:3] },
		"zeros":          func(v []float32) []float32 { clear(v); return v },
		"no number":      func(v []float32) []float32 { v[0] = float32(math.NaN()); return v },
		"no unit":        func(v []float32) []float32 { v[0] += 9; return v },
	} {
		w := newWorld(t)
		w.o.Embedder = spoiled{hashed.New(256), spoil}
		w.write("c.md", "# Cheese\n\nalpha holes\n")
		if r := w.run(); r.Added != 1 || r.Pending != 1 || !strings.Contains(r.EmbedError, "length 1 and 256 dimensions") {
			t.Errorf("%s: %+v", what, r)
		}
		check.That(t, strings.Contains(state(t, w.o), "alpha t:c.md"), "%s: words are not found", what)
	}
}

// TestOneTextWithoutVector checks that a text which the model refuses, panics on or delays leaves only
// its own document without vectors. The error for a panic gives the model, the fault and its place.
func TestOneTextWithoutVector(t *testing.T) {
	for what, fail := range map[string]func() error{
		"embed t:b.md: it is too long":            func() error { return errors.New("it is too long") },
		"embed t:b.md: context deadline exceeded": func() error { return context.DeadlineExceeded },
		"embed t:b.md: model " + hashed.New(256).Model() + " panicked: no granite (embed_test.go:": func() error {
			panic("no granite")
		},
	} {
		m := &fakeModel{Embedder: hashed.New(256), refused: fail}
		for _, e := range []model.Embedder{m, windowModel{m}} {
			w := newWorld(t)
			w.o.Embedder, w.o.Workers = e, 1
			w.write("a.md", "# Bread\n\nflour\n")
			w.write("b.md", "# Granite\n\nhard\n")
			w.write("c.md", "# Cheese\n\nholes\n")
			r := w.run()
			check.That(t, r.Added == 3 && r.Pending == 1 && strings.HasPrefix(r.EmbedError, what), "%T: %+v", e, r)
			check.Equal(t, nearest(t, w, &fakeModel{Embedder: m.Embedder}, "Cheese holes"), "t:c.md#cheese",
				"%T: nearest to cheese", e)
		}
	}
}

// TestOnePassageWithoutVector checks that a passage without a vector leaves all other passages of its document their
// vectors. The report and the document say so, and the next run asks the model nothing.
func TestOnePassageWithoutVector(t *testing.T) {
	m := &fakeModel{Embedder: hashed.New(256), lacks: "Granite"}
	w := newWorld(t)
	w.o.Embedder = m
	w.write("a.md", "# Bread\n\nflour\n\n## Granite\n\nhard\n\n## Oven\n\nhot\n")
	r := w.run()
	must.That(t, r.Added == 1 && r.Pending == 0 && r.Warned == 1, "%+v", r)
	check.Equal(t, r.Warnings[0].Doc, "t:a.md", "document")
	check.Contains(t, r.Warnings[0].Message, `in 1 of 4 chunks, such as "Bread › Granite"`)
	check.Equal(t, nearest(t, w, m, "Bread › Oven hot"), "t:a.md#oven", "nearest to the oven")
	asked := m.texts
	r = w.run()
	check.That(t, m.texts == asked && !r.Changes(), "asked for %d texts: %+v", m.texts-asked, r)
}

// spoiled changes the last vector of each call.
type spoiled struct {
	hashed.Embedder
	spoil func([]float32) []float32
}

func (s spoiled) Embed(ctx context.Context, p model.Purpose, texts []string) ([][]float32, error) {
	out, err := s.Embedder.Embed(ctx, p, texts)
	if err == nil {
		out[len(out)-1] = s.spoil(out[len(out)-1])
	}
	return out, err
}

// windowModel is a fakeModel with the method for cheap windows.
type windowModel struct{ *fakeModel }

func (m windowModel) AppendWindows(ctx context.Context, dst []float32, heading, body string, starts []int, size,
	stride int) ([]float32, error) {
	v, err := m.Embed(ctx, model.Passage, []string{heading + "\n" + body})
	if err != nil {
		return nil, err
	}
	return append(dst, v[0]...), nil
}

// TestMetadataSuffix checks that windows are embedded with their document's properties if the option is set, without
// access rights.
func TestMetadataSuffix(t *testing.T) {
	m := &fakeModel{Embedder: hashed.New(256)}
	for name, e := range map[string]model.Embedder{"texts": m, "windows": windowModel{m}} {
		for _, suffix := range []bool{false, true} {
			w := newWorld(t)
			w.o.Embedder = e
			w.o.Chunk = chunk.Options{Chunker: "window", Window: chunk.WindowOptions{MetadataSuffix: suffix}}
			w.write("a.md", "---\ncolor: crimson\naccess: [ann]\n---\nflour and water\n")
			w.write("b.md", "---\ncolor: turquoise\naccess: [bob]\n---\nflour and water\n")
			w.run()
			for query, want := range map[string]sheaf.ID{"crimson": "t:a.md#0", "turquoise": "t:b.md#0", "ann": "t:a.md#0"} {
				score := func(id sheaf.ID) float64 {
					v := must.Get(m.Embedder.Embed(t.Context(), model.Query, []string{query}))
					hits := must.Get(w.o.Backend.Retrieve(t.Context(),
						store.Request{Limit: 10, Vector: &store.VectorRequest{Field: store.VectorBody, Vector: v[0]}}))
					for _, h := range hits {
						if h.ID == id {
							return h.Score
						}
					}
					return 0
				}
				check.Equal(t, score(want) > 0.1, suffix && query != "ann",
					"%s, suffix %v: %q finds %s with %.3f", name, suffix, query, want, score(want))
			}
		}
	}
}

// TestMetadataSuffixIsFoundInBody checks that the field body finds the properties of windows, as the profiles
// onyx-elastic and bench need. It finds no access properties, and vectors come from the text without the suffix.
func TestMetadataSuffixIsFoundInBody(t *testing.T) {
	long := strings.Repeat("flour and water ", 40)
	for _, suffix := range []bool{false, true} {
		w := newWorld(t)
		w.o.Chunk = chunk.Options{Chunker: "window",
			Window: chunk.WindowOptions{Size: 60, Overlap: 10, MetadataSuffix: suffix}}
		w.write("a.md", "---\ncolor: crimson\nplaces: [Oslo, Bergen]\naccess: [ann]\ntags: [hue]\n---\n"+long+"\n")
		w.write("none.md", "crimson\n")
		w.write("plain.md", "nothing to add\n")
		w.run()
		for query, all := range map[string]bool{"crimson": true, "Bergen": true, "ann": false, "hue": false, "color": false} {
			windows := slices.DeleteFunc(found(t, w.o.Backend, sheaf.FieldBody, query), func(id sheaf.ID) bool {
				return !strings.HasPrefix(string(id), "t:a.md#")
			})
			check.Equal(t, len(windows) > 1, all && suffix, "suffix %v: %q finds the windows %v", suffix, query, windows)
		}
	}
}

// pieced stores the chunks it gets, and the largest number in one call.
type pieced struct {
	store.Backend
	most, all int
	batch     store.Batch
}

func (p *pieced) Bulk(context.Context) (store.BulkWriter, error) { return p, nil }

func (p *pieced) Add(_ context.Context, batch store.Batch) error {
	p.most, p.all = max(p.most, len(batch.Chunks)), p.all+len(batch.Chunks)
	p.batch.Replace = append(p.batch.Replace, batch.Replace...)
	p.batch.Chunks = append(p.batch.Chunks, batch.Chunks...)
	return nil
}

func (p *pieced) Commit(ctx context.Context) error {
	batch := p.batch
	p.batch = store.Batch{}
	return p.Write(ctx, batch)
}

func (p *pieced) Close() error { return nil }

// TestLongDocument checks that the chunks of a very long document are written without being in memory all at once.
func TestLongDocument(t *testing.T) {
	w := newWorld(t)
	w.write("long.md", strings.Repeat("# Part\n\nalpha\n\n## Below\n\nalpha\n\n", 5000))
	p := &pieced{Backend: w.o.Backend}
	w.o.Backend = p
	if r := w.run(); r.Chunks < 10_000 || p.all != r.Chunks || p.most > 1000 {
		t.Errorf("%d chunks, %d written, at most %d at once", r.Chunks, p.all, p.most)
	}
	w.sameAsClean("long")
}

// noBulk is a store without a bulk writer, like most servers.
type noBulk struct{ store.Backend }

// TestVectorsOfPieces checks that the pieces of a long document keep their vectors until one call
// writes all of them.
func TestVectorsOfPieces(t *testing.T) {
	w := newWorld(t)
	var text strings.Builder
	for i := range 600 {
		fmt.Fprintf(&text, "# Part %d\n\nword%d\n\n", i, i)
	}
	w.write("long.md", text.String())
	m := &fakeModel{Embedder: hashed.New(256)}
	w.o.Backend, w.o.Embedder = noBulk{w.o.Backend}, windowModel{m}
	w.run()
	for _, i := range []int{3, 400, 599} {
		want := sheaf.ID(fmt.Sprintf("t:long.md#part-%d", i))
		check.Equal(t, nearest(t, w, m, fmt.Sprintf("Part %d\nword%d", i, i)), want, "nearest to part %d", i)
	}
}
