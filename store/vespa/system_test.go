package vespa

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	builtin "sheaf/model/static/english"
	cut "sheaf/text/chunk"
	parse "sheaf/text/query"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/store/storetest"
)

// documentation returns a copy of this repository's doc folder, with files of different ages.
func documentation(t *testing.T, now time.Time) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "doc")
	must.Do(t, os.CopyFS(root, os.DirFS(filepath.Join("..", "..", "doc"))))
	n := 0
	must.Do(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		n++
		modified := now.AddDate(0, 0, -37*n)
		return os.Chtimes(path, modified, modified)
	}))
	return root
}

// TestSystem checks the profile onyx-vespa over the documentation of this repository. No package registry has Vespa's
// content node, so the engine replaces it: Vespa's global phase ranks the engine's hits. It must give each chunk the
// score, and all chunks the order, of this program.
func TestSystem(t *testing.T) {
	j := classes(t)
	dir := written(t, testOptions(t))
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	embedder := must.Get(builtin.New())
	c := must.Get(catalog.Open(vfs.Disk{}, t.TempDir(), catalog.Options{}))
	st := must.Get(embedded.Open(embedded.Options{Dir: t.TempDir(), Analyzer: storetest.Analyzer(t, "en"),
		Vectors: []store.VectorField{
			{Name: store.VectorBody, Model: embedder.Model(), Dims: embedder.Dims()},
			{Name: store.VectorTitle, Model: embedder.Model(), Dims: embedder.Dims()}}}))
	t.Cleanup(func() { _, _ = st.Close(), c.Close() })
	_, err := ingest.Run(t.Context(), ingest.Options{Catalog: c, Backend: st,
		Trees: []catalog.Tree{{Name: "doc", Root: documentation(t, now)}}, Embedder: embedder,
		Chunk: cut.Options{Chunker: "window", Window: cut.WindowOptions{Size: 192, TitlePrefix: true, MetadataSuffix: true}}})
	must.Do(t, err)
	view := c.View()
	t.Cleanup(view.Close)
	searcher := &search.Searcher{Backend: st, Facts: view, Now: func() time.Time { return now },
		Embed: func(ctx context.Context, texts []string) ([][]float32, error) {
			return embedder.Embed(ctx, model.Query, texts)
		}}
	p := must.Get(profile.Load("onyx-vespa", profile.Builtin))
	plan := must.Get(p.Plan(1000, nil))
	r := testOptions(t).Ranking
	inputs := map[string]float64{"alpha": r.Alpha, "title_content_ratio": r.Ratio, "decay_factor": r.Decay}
	must.Equal(t, len(plan.Main.Branches), 4, "branches")
	for _, text := range []string{"reciprocal rank fusion", "how does a crash lose nothing?", "titles"} {
		found, err := searcher.Search(t.Context(), parse.Parse(text, parse.Options{Limit: 1000, Now: now}), p,
			search.Options{Trace: true})
		must.That(t, err == nil && !found.Degraded && len(found.Hits) >= 100, "%s: %d hits, %v", text, len(found.Hits), err)
		docs, number := node(view, found.Trace)
		got := globally(t, j, dir, now.Unix(), inputs, docs)
		must.Equal(t, len(got.Order), len(found.Hits), "%s: chunks that Vespa ranks", text)
		for i, h := range found.Hits {
			s := got.Scores[docs[number[h.ID]].ID]
			check.That(t, math.Abs(s-h.Score) <= 1e-9, "%s: score of %s: %v by Vespa, %v here", text, h.ID, s, h.Score)
			if other := got.Order[i]; other != docs[number[h.ID]].ID && math.Abs(got.Scores[other]-h.Score) > 1e-9 {
				t.Errorf("%s: place %d is %s by Vespa, %s here", text, i+1, other, h.ID)
			}
		}
	}
}

// node returns a content node's answer for each chunk of the second phase, and the index of each. Indexes serve as
// IDs, because Vespa's class reads names as URIs.
func node(view *catalog.View, trace []search.Snapshot) (out []signals, at map[sheaf.ID]int) {
	at = map[sheaf.ID]int{}
	for _, s := range trace {
		words := strings.HasSuffix(s.Branch, "-words") && s.Step == "retrieve"
		meaning := strings.HasSuffix(s.Branch, "-vector") && s.Step != "retrieve"
		if s.First || !words && !meaning {
			continue
		}
		for _, h := range s.Ranking {
			i, ok := at[h.ID]
			if !ok {
				i = len(out)
				at[h.ID] = i
				one := signals{ID: fmt.Sprint(i)}
				if c, ok := view.Chunk(h.ID); ok {
					if date, ok := view.Date(c.Doc); ok {
						seconds := date.Time.Unix()
						one.Updated = &seconds
					}
				}
				out = append(out, one)
			}
			switch s.Branch {
			case "content-vector":
				out[i].ContentVector = h.Score
			case "title-vector":
				out[i].TitleVector = h.Score
			case "content-words":
				out[i].ContentWords = h.Score
			case "title-words":
				out[i].TitleWords = h.Score
			}
		}
	}
	return out, at
}
