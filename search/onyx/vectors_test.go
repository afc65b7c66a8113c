package onyx_test

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/internal/worked"
	"sheaf/search/onyx"
	"sheaf/search/onyx/onyxtest"
	"sheaf/store"
	"sheaf/text/chunk"
)

func TestVectorsFilters(t *testing.T) {
	onyxtest.EachFilter(t, "onyx_filters.json", func(t *testing.T, c onyxtest.Filtered, want []sheaf.ID) {
		for name, x := range local(t, func() time.Time { return c.Now }) {
			must.Get(x.Write(t.Context(), c.Documents))
			ranking := must.Get(x.Keyword(t.Context(), sheaf.Match{Text: onyxtest.Word}, c.Filters, 100))
			got := []sheaf.ID{}
			for _, h := range ranking {
				got = append(got, sheaf.ID(strings.TrimSuffix(string(h.ID), "#0")))
			}
			slices.Sort(got)
			check.List(t, got, want, "%s", name)
		}
	})
}

func TestVectorsUndated(t *testing.T) {
	type in struct {
		Field      string
		Now        int64
		Start, End *int64
	}
	worked.Each(t, "onyx_time_filter_undated.json", func(t *testing.T, in in, want struct {
		Clause  bool
		Undated bool `json:"include_undated"`
	}) {
		w := onyxtest.Window(in.Start, in.End)
		f := onyx.Filters{AnyAccess: true, AnyTenant: true, Created: w}
		if in.Field == "updated_at" {
			f.Created, f.Updated = onyx.Window{}, w
		}
		filter := must.Get(f.Filter(time.Unix(in.Now, 0)))
		unbounded, _ := onyx.Filters{AnyAccess: true, AnyTenant: true}.Filter(time.Unix(in.Now, 0))
		check.Equal(t, len(filter.(sheaf.And)) > len(unbounded.(sheaf.And)), want.Clause, "a clause")
		check.Equal(t, filter.Match(&store.Chunk{}), want.Undated, "undated documents pass")
	})
}

// TestVectorsKeywordScore checks that the score of words is the weighted sum of four clauses.
func TestVectorsKeywordScore(t *testing.T) {
	clauses := []string{"title_match", "title_phrase", "content_match", "content_phrase"}
	worked.Each(t, "onyx_opensearch_keyword_score.json", func(t *testing.T, in struct {
		Scores map[string]float64 `json:"unboosted_clause_scores"`
		Boosts map[string]float64
		Least  int `json:"minimum_should_match"`
	}, want struct {
		Hit   bool
		Score float64
	}) {
		q := onyx.KeywordQuery("several words").(sheaf.Bool)
		must.That(t, len(q.Should) == len(clauses) && len(q.Must)+len(q.MustNot) <= 0 && in.Least == 1, "%+v", q)
		var score float64
		for i, name := range clauses {
			factor := q.Should[i].(sheaf.Boost).Factor
			check.Equal(t, factor, in.Boosts[name], "weight of %s", name)
			score += factor * in.Scores[name]
		}
		hit := score > 0
		check.That(t, hit == want.Hit && math.Abs(score-want.Score) <= 1e-9, "score %v, want %v", score, want.Score)
	})
	// A store returns the same sum.
	for name, x := range stores(t, nil) {
		write(t, x, onyx.Document{ID: "t:a", Title: "Several words",
			Chunks:   []onyx.Chunk{{Text: "There are several words here, and several other words."}},
			Metadata: onyx.Metadata{Public: true}})
		whole := score(t, x, onyx.KeywordQuery("several words"))
		var sum float64
		for _, part := range onyx.KeywordQuery("several words").(sheaf.Bool).Should {
			sum += part.(sheaf.Boost).Factor * score(t, x, part.(sheaf.Boost).Query)
		}
		check.That(t, whole != 0 && math.Abs(whole-sum) <= 1e-6*whole,
			"%s: the whole scores %v, its parts %v", name, whole, sum)
	}
}

// score returns the score of the only document. Fields have the weight 1.
func score(t *testing.T, x *onyx.Index, q sheaf.TextQuery) float64 {
	t.Helper()
	r := must.Get(x.Plain(context.Background(), q, onyx.Filters{}, 1))
	must.Equal(t, len(r), 1, "number of results")
	return r[0].Score
}

// TestVectorsMetadataSuffix decodes the objects token by token, because Go's maps lose the order of members.
func TestVectorsMetadataSuffix(t *testing.T) {
	worked.Each(t, "onyx_metadata_suffix.json", func(t *testing.T, in json.RawMessage, want struct {
		Semantic, Keyword string
		Tags              []string `json:"filter_tags"`
	}) {
		var metadata []chunk.Metadata
		dec := json.NewDecoder(strings.NewReader(string(in)))
		must.Get(dec.Token())
		for dec.More() {
			name := must.Get(dec.Token())
			var value any
			must.Do(t, dec.Decode(&value))
			m := chunk.Metadata{Name: name.(string)}
			switch v := value.(type) {
			case string:
				m.Values = []string{v}
			case []any:
				for _, s := range v {
					m.Values = append(m.Values, s.(string))
				}
			}
			metadata = append(metadata, m)
		}
		semantic, keyword := chunk.MetadataSuffix(metadata)
		check.That(t, semantic == want.Semantic && keyword == want.Keyword,
			"%q and %q, want %q and %q", semantic, keyword, want.Semantic, want.Keyword)
		check.List(t, onyx.Tags(metadata), want.Tags, "tags")
	})
}
