package collection_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/model"
)

// awayModel is a remote model that fails while away is set.
type awayModel struct {
	model.Embedder
	away  *atomic.Bool
	texts *atomic.Int64
	// refuses is a word; the model fails for texts with it. "" means none.
	refuses string
}

// Embed implements model.Embedder.
func (m awayModel) Embed(ctx context.Context, purpose model.Purpose, texts []string) ([][]float32, error) {
	if m.away.Load() {
		return nil, errors.New("the model is away")
	}
	if m.refuses != "" && slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, m.refuses) }) {
		return nil, errors.New("the text is too long")
	}
	m.texts.Add(int64(len(texts)))
	return m.Embedder.Embed(ctx, purpose, texts)
}

// TestMissingVectorsOfGivenDocuments checks documents that were given without vectors: while the model was
// away, or with vectors for some chunks only. When the model is back, each gets its vectors once
// and keeps its version.
func TestMissingVectorsOfGivenDocuments(t *testing.T) {
	m := awayModel{away: &atomic.Bool{}, texts: &atomic.Int64{}}
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nA harbor.\n"}, func(o *collection.Options) {
		m.Embedder = o.Ingest.Embedder
		o.Ingest.Embedder, o.Model = m, nil
	})
	own := make([]float32, m.Dims())
	own[0] = 1
	m.away.Store(true)
	var before []string
	for _, ch := range []collection.Change{
		{ID: "api:text.md", Put: &collection.DocumentInput{Text: "# Boats\n\nA boat.\n", Access: []string{"public"}}},
		{ID: "api:chunks.md", Put: &collection.DocumentInput{Chunks: []collection.ChunkInput{{Text: "A ship.",
			Vectors: [][]float32{own}}, {Text: "A quay."}}}},
	} {
		stored, err := f.Collection.Write(t.Context(), access.Unrestricted(), []collection.Change{ch})
		if err != nil || stored[0].Pending != "vectors" {
			t.Fatalf("%+v, %v", stored, err)
		}
		before = append(before, stored[0].ETag)
	}
	pending := func() (list []collection.Pending) {
		st, err := reader(t, f, access.Unrestricted()).Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return st.Pending
	}
	recover := func() {
		if err := f.Collection.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if recover(); len(pending()) != 2 {
		t.Errorf("the model is away: %+v wait", pending())
	}
	m.away.Store(false)
	if recover(); len(pending()) != 0 {
		t.Errorf("the model is back: %+v wait", pending())
	}
	asked := m.texts.Load()
	if recover(); m.texts.Load() != asked {
		t.Errorf("the model is asked for %d texts when nothing waits", m.texts.Load()-asked)
	}
	for i, id := range []sheaf.ID{"api:text.md", "api:chunks.md"} {
		d, err := reader(t, f, access.Unrestricted()).Document(t.Context(), id)
		if err != nil || d.ETag != before[i] || d.Pending != "" {
			t.Errorf("%s: %+v, %v", id, d, err)
		}
	}
	if a := find(t, reader(t, f, access.Grant{Scopes: []access.Scope{access.ScopeSearch}}),
		collection.SearchRequest{Text: "boat"}); len(a.Results) != 1 {
		t.Errorf("%d results: who may see it is lost", len(a.Results))
	}
}

// TestDocumentThatModelRefuses checks a document that the model refuses. Other documents still get
// vectors, and retries of the refused one are rare.
func TestDocumentThatModelRefuses(t *testing.T) {
	m := awayModel{away: &atomic.Bool{}, texts: &atomic.Int64{}, refuses: "granite"}
	now := time.Now()
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nA harbor.\n"}, func(o *collection.Options) {
		m.Embedder = o.Ingest.Embedder
		o.Ingest.Embedder, o.Model, o.Now = m, nil, func() time.Time { return now }
	})
	m.away.Store(true)
	changes := []collection.Change{{ID: "api:refused.md", Put: &collection.DocumentInput{Text: "Of granite.\n"}}}
	for i := range 20 {
		changes = append(changes, collection.Change{ID: sheaf.ID(fmt.Sprintf("api:n%d.md", i)),
			Put: &collection.DocumentInput{Text: fmt.Sprintf("Of marble %d.\n", i)}})
	}
	if _, err := f.Collection.Write(t.Context(), access.Unrestricted(), changes); err != nil {
		t.Fatal(err)
	}
	m.away.Store(false)
	state := func() (waits int, generation uint64) {
		st, err := reader(t, f, access.Unrestricted()).Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(st.Pending), st.Generation
	}
	embed := collection.VectorLooks(f.Collection)
	const looks = 200
	tries := 0
	for range looks {
		_, before := state()
		now = now.Add(time.Minute)
		if err := embed(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, after := state(); after != before {
			tries++
		}
	}
	if waits, _ := state(); waits != 1 || tries < 3 || tries > 25 {
		t.Errorf("%d wait, and %d of %d looks indexed again", waits, tries, looks)
	}
}
