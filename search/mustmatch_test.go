package search_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/search"
	"sheaf/store"
	"sheaf/store/memory"
	"sheaf/text/analysis"
	words "sheaf/text/query"
)

// askedStore counts requests by vector, and the chunks that these requests are limited to.
type askedStore struct {
	*memory.Backend
	vectors, within int
}

func (s *askedStore) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	if req.Vector != nil {
		s.vectors++
		s.within += len(req.Within)
	}
	return s.Backend.Retrieve(ctx, req)
}

// TestMustMatchByMeaning checks that a search by meaning ranks only chunks with the required
// words, even when many other chunks are nearer.
func TestMustMatchByMeaning(t *testing.T) {
	docs := map[string][]string{"far.md": {"Stone: the old wall of stone stone stone",
		"Tree: old walls of wood tree tree"}, "near.md": {"Cat: the old wall and its cat cat"}}
	for i := range 60 {
		docs[fmt.Sprintf("cat%02d.md", i)] = []string{"Cat: cat cat cat"}
	}
	notes := newShelf(docs)
	a := must.Get(analysis.New(analysis.Options{Language: "en"}))
	st := &askedStore{Backend: memory.New(a)}
	must.Do(t, st.Write(context.Background(), store.Batch{Chunks: notes.stored}))
	s := searcher(notes)
	s.Backend, s.Analyzer = st, a
	for _, tt := range []struct {
		text string
		want string
	}{
		{`cat "old wall"`, "t:near.md#Cat:1 t:far.md#Tree:2 t:far.md#Stone:3"},
		{`cat +wall -tree`, "t:near.md#Cat:1 t:far.md#Stone:2"},
		{`cat title:stone`, "t:far.md#Stone:1"},
		{`cat "no such wall"`, ""},
	} {
		st.vectors, st.within = 0, 0
		q := words.Parse(tt.text, words.Options{Limit: 5})
		got := ""
		for _, h := range mustSearch(t, s, q, load(t, "rrf"), search.Options{}).Hits {
			got += fmt.Sprintf(" %s:%d", h.ID, h.Legs[0].Rank)
		}
		if got != "" {
			got = got[1:]
		}
		if got != tt.want {
			t.Errorf("%s: found, with ranks by meaning, %s; want %s", tt.text, got, tt.want)
		}
	}
	// WhyNot explains why a chunk with a forbidden word is missing.
	for text, want := range map[string]string{
		`wall -tree`:           `text: the words of the query do not match it; it holds "tree", which the query leaves out`,
		`cat -tree -stone`:     `vector: it scores 0.1273 and holds "tree", which the query leaves out`,
		`cat -"walls of"`:      `holds "walls of", which the query leaves out`,
		`wall -title:tree`:     `holds "tree" in its title, which the query leaves out`,
		`+wall -(tree stump)`:  `it holds "tree", which the query leaves out`,
		`+cat -(+tree +stump)`: `does not match the required words`,
		`+cat -(tree -wood)`:   `does not match the required words`,
		`+cat (wall -wood*)`:   `it lacks "cat"; it holds "wood*", which the query leaves out`,
	} {
		a := must.Get(s.WhyNot(t.Context(), words.Parse(text, words.Options{Limit: 5}), load(t, "rrf"), search.Options{},
			"t:far.md#Tree"))
		if got := strings.Join(a.Reasons, "\n"); !strings.Contains(got, want) {
			t.Errorf("%s: %s\nwant %s", text, got, want)
		}
	}
}
