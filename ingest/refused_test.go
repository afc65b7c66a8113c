package ingest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/model"
	"sheaf/model/hashed"
	"sheaf/store"
)

// slowly is a model that refuses texts with granite after 25 seconds and counts them.
type slowly struct {
	hashed.Embedder
	asked int
}

func (s *slowly) Embed(ctx context.Context, p model.Purpose, texts []string) ([][]float32, error) {
	if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "granite") }) {
		s.asked++
		time.Sleep(25 * time.Second)
		return nil, errors.New("no room")
	}
	return s.Embedder.Embed(ctx, p, texts)
}

// TestModelRefusesForLongTime checks that a run stops calling a model which refuses documents for a long time
// without a success between. Each document gets the fault as the reason for its missing vectors.
func TestModelRefusesForLongTime(t *testing.T) {
	for _, c := range []struct {
		texts string // one text for each document
		asked int    // expected calls with a refused text
	}{{"granite granite granite granite granite", 3}, {"granite granite pumice granite granite pumice granite", 5}} {
		synctest.Test(t, func(t *testing.T) {
			m := &slowly{Embedder: hashed.New(256)}
			r := &runner{o: &Options{Embedder: m}, report: &Report{}}
			for _, text := range strings.Fields(c.texts) {
				at := map[sheaf.ID]*sheaf.Chunk{"c": {ID: "c", Title: text}}
				err := r.embedChunks(t.Context(), &sheaf.Document{ID: "d"}, at, []store.Chunk{{ID: "c"}}, nil)
				check.That(t, (err != nil) == (text == "granite"), "%s: %v", text, err)
			}
			check.That(t, m.asked == c.asked && strings.HasSuffix(r.report.EmbedError, "no room"),
				"%s: asked for %d, want %d: %q", c.texts, m.asked, c.asked, r.report.EmbedError)
		})
	}
}
