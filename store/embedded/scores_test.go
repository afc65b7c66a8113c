package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"sheaf"
	"sheaf/store"
	"sheaf/store/embedded"
)

// TestScores checks that Scores returns for given chunks the exact scores of Retrieve, in every
// segment, with filters and after deletions.
func TestScores(t *testing.T) {
	ctx := context.Background()
	st := open(t, embedded.Options{Dir: t.TempDir()})
	rng := rand.New(rand.NewPCG(3, 4))
	vocabulary := []string{"cat", "dog", "bird", "fish", "cow"}
	id := func(i int) sheaf.ID { return sheaf.ID(fmt.Sprintf("t:n%d.md", i)) }
	const chunks = 400
	for from := 0; from < chunks; from += 100 {
		var b store.Batch
		for i := from; i < from+100; i++ {
			text := ""
			for range 1 + rng.IntN(6) {
				text += vocabulary[rng.IntN(len(vocabulary))] + " "
			}
			b.Chunks = append(b.Chunks, store.Chunk{ID: id(i), Doc: id(i),
				Fields:  []store.Field{{Name: sheaf.FieldBody, Text: text}},
				Columns: []store.Column{{Name: sheaf.ColumnTag, Values: []sheaf.Value{sheaf.TextValue(fmt.Sprint("tag", i%3))}}}})
		}
		if err := st.Write(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	var gone []sheaf.ID
	for i := 0; i < chunks; i += 7 {
		gone = append(gone, id(i))
	}
	if err := st.Delete(ctx, gone); err != nil {
		t.Fatal(err)
	}
	matched := 0
	for range 50 {
		var ids []sheaf.ID
		for _, i := range rng.Perm(chunks + 20)[:1+rng.IntN(chunks)] { // some are unknown
			ids = append(ids, id(i))
		}
		var reqs []store.Request
		for _, q := range []sheaf.TextQuery{sheaf.Match{Text: "cat"}, sheaf.Phrase{Text: "dog bird"},
			sheaf.Match{Text: "cat fish cow"}, sheaf.Match{Text: "nowhere"},
			sheaf.Bool{Must: []sheaf.TextQuery{sheaf.Match{Text: "cat"}},
				MustNot: []sheaf.TextQuery{sheaf.Match{Text: "dog"}}}} {
			req := store.Request{Limit: len(ids), Within: ids,
				Text: &store.TextRequest{Query: q, Fields: []store.FieldWeight{{Name: sheaf.FieldBody, Weight: 1}}, K1: 1.2,
					B: 0.75}}
			if rng.IntN(2) == 0 {
				req.Filter = sheaf.In{Column: sheaf.ColumnTag, Values: []sheaf.Value{sheaf.TextValue("tag1")}}
			}
			reqs = append(reqs, req)
		}
		got, err := st.Scores(ctx, reqs, ids)
		if err != nil {
			t.Fatal(err)
		}
		for i, req := range reqs {
			ranking, err := st.Retrieve(ctx, req)
			if err != nil {
				t.Fatal(err)
			}
			want := map[sheaf.ID]float64{}
			for _, h := range ranking {
				want[h.ID] = h.Score
			}
			matched += len(want)
			for k, id := range ids {
				if got[i][k] != want[id] {
					t.Fatalf("request %d, %s scores %v, want %v", i, id, got[i][k], want[id])
				}
			}
		}
	}
	if matched < 1000 {
		t.Errorf("only %d matches", matched)
	}
	if _, err := st.Scores(ctx, []store.Request{{Limit: 1}}, nil); !errors.Is(err, sheaf.ErrInvalid) {
		t.Errorf("a request about nothing: %v", err)
	}
}
