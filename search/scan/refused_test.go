package scan_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model"
	"sheaf/model/hashed"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/search/scan"
	"sheaf/store"
	"sheaf/text/query"
)

// TestForbiddenFilesAreNoCandidates checks that files with a forbidden word are not candidates, even if
// they are many and match well.
func TestForbiddenFilesAreNoCandidates(t *testing.T) {
	files := map[string]string{"last/one.md": "a zebra\n"}
	for i := range 200 {
		files[fmt.Sprintf("a/%03d zebra.md", i)] = "zebra and horse with x, stones and the rest\n"
	}
	s := searcher(t, folder(t, files))
	many := ""
	for i := range 70 { // more words than a scan looks for
		many += fmt.Sprintf(" -no%c%c", 'a'+i/26, 'a'+i%26)
	}
	for _, text := range []string{
		"zebra horse -stone", `zebra horse -"the rest"`, "zebra horse -x", "zebra horse -stome~1", "zebra horse -sto*",
		"zebra horse -horse", "zebra (horse -stone)", "(zebra horse -stone) OR nothing",
		"zebra horse -(stone OR missing)", "zebra +(zebra -horse)", "zebra horse" + many + " -stone",
	} {
		for _, semantic := range []string{"0", "1"} {
			r := ask(t, s, text, search.Options{Parameters: map[string]string{"candidate_limit": "10", "semantic": semantic}})
			if got := ids(r); !slices.Equal(got, []string{"last/one.md#0"}) || r.Scanned.Candidates != 1 {
				t.Errorf("%s, semantic %s: got %v of %d candidates", text, semantic, got, r.Scanned.Candidates)
			}
			why, err := r.Scanned.WhyNot("vault:a/000 zebra.md")
			check.That(t, err == nil && strings.Contains(why, "leaves out"), "%s: why not: %q, %v", text, why, err)
		}
	}
	// With 30 allowed files, the scan finds the 25 that the limit allows.
	for i := range 30 {
		files[fmt.Sprintf("z/%02d.md", i)] = "a zebra\n"
	}
	r := ask(t, searcher(t, folder(t, files)), "zebra horse -stone",
		search.Options{Parameters: map[string]string{"candidate_limit": "25"}})
	check.That(t, r.Scanned.Candidates == 25 && len(r.Hits) == 25 &&
		slices.Contains(r.Notes, "6 further files hold words of the query and are not candidates"),
		"%d candidates, %d found, notes %q", r.Scanned.Candidates, len(r.Hits), r.Notes)
}

// TestCandidateOfOtherBranchStays checks that a file stays a candidate when one branch refuses it but another may find
// it.
func TestCandidateOfOtherBranchStays(t *testing.T) {
	root := folder(t, map[string]string{
		"sections.md": "# One\n\nzebra and stone\n\n# Two\n\n" + strings.Repeat("filler ", 30),
		"horse.md":    "horse and stone\n", "titled.md": "---\ntitle: stone\n---\nzebra\n",
	})
	two := must.Get(profile.Parse("two.yaml", []byte(`name: two
candidates: {scan: {files: 10, chunk_chars: 6000, memory_mb: 100, list_values: 10}}
branches:
  - {name: whole, retrieve: text, fields: {title: 1, body: 1}, limit: 10}
  - {name: body, retrieve: text, fields: {body: 1}, limit: 10}
fuse: {method: rrf, k: 60}
`), profile.Builtin))
	e := hashed.New(64)
	embed := func(ctx context.Context, texts []string) ([][]float32, error) {
		return e.Embed(ctx, model.Query, texts)
	}
	for _, c := range []struct {
		text    string
		profile *profile.Profile
		set     map[string]string
		want    int
	}{
		{"zebra -stone", tiered(t), map[string]string{"chunk_chars": "100"}, 0},
		{"zebra -stone", tiered(t), map[string]string{"chunk_chars": "100", "semantic": "1"}, 1}, // section Two is found
		// A search by meaning has no required words.
		{"zebra OR (horse -stone)", tiered(t), map[string]string{"semantic": "1"}, 3},
		{"zebra OR (horse -stone)", tiered(t), map[string]string{"semantic": "1", "semantic_weight": "0"}, 2},
		{"zebra -stone", two, nil, 1}, // the second branch does not search the title
	} {
		s := searcher(t, root)
		s.Embed = embed
		r := must.Get(s.Search(t.Context(), query.Parse(c.text, query.Options{Limit: 10}), c.profile,
			search.Options{Parameters: c.set}))
		check.Equal(t, r.Scanned.Candidates, c.want, "%s, %v: candidates, results %v", c.text, c.set, ids(r))
	}
}

// picky is a model that refuses texts with the word "stone".
type picky struct{ hashed.Embedder }

func (p picky) Embed(ctx context.Context, purpose model.Purpose, texts []string) ([][]float32, error) {
	if strings.Contains(strings.Join(texts, "\n"), "stone") {
		return nil, errors.New("too hard")
	}
	return p.Embedder.Embed(ctx, purpose, texts)
}

// TestOneFileWithoutVectors checks that a file that the model refuses does not stop vectors of other files.
func TestOneFileWithoutVectors(t *testing.T) {
	s := must.Get(scan.New(scan.Options{Root: folder(t,
		map[string]string{"a.md": "alpha\n", "b.md": "alpha stone\n", "c.md": "alpha\n"}), Tree: "vault",
		Analyzer: english(t), Embedder: picky{hashed.New(64)}}))
	r := must.Get(s.Scan(t.Context(), search.ScanRequest{Queries: []string{"alpha"}, Words: sheaf.Match{Text: "alpha"},
		Vectors: true,
		Limits:  profile.Scan{Files: 10, ChunkChars: 6000, MemoryBytes: 20 << 20, MaxVectors: 9}}))
	vector := make([]float32, 64)
	vector[0] = 1
	hits, err := r.Backend.Retrieve(t.Context(),
		store.Request{Limit: 10, Vector: &store.VectorRequest{Field: store.VectorBody, Vector: vector}})
	if err != nil || len(hits) != 2 || !slices.ContainsFunc(r.Warnings, func(w string) bool {
		return strings.Contains(w, "b.md: too hard")
	}) {
		t.Errorf("%d of 3 sections have vectors, warnings %q: %v", len(hits), r.Warnings, err)
	}
}
