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
	"sheaf/backend"
	"sheaf/chunk"
	"sheaf/internal/worked"
	"sheaf/onyx"
)

// window is a range of seconds since 1970.
type window [2]*int64

func (w window) times() onyx.Window {
	var out onyx.Window
	if w[0] != nil {
		out.Start = time.Unix(*w[0], 0)
	}
	if w[1] != nil {
		out.End = time.Unix(*w[1], 0)
	}
	return out
}

func TestVectorsFilters(t *testing.T) {
	type document struct {
		ID               sheaf.ID
		Public, Hidden   bool
		ACL              []string
		Tenant, Source   string
		Sets, Tags       []string
		Projects         []int
		Personas, Nodes  []int
		Created, Updated *int64
	}
	type in struct {
		Now     int64
		Docs    []document
		Filters struct {
			ACL        *[]string
			Hidden     bool `json:"include_hidden"`
			Tenant     *string
			Sources    []string
			Tags       []string
			Sets       []string
			ForcedSets []string `json:"forced_sets"`
			Persona    *int
			Nodes      []int
			Documents  []sheaf.ID `json:"doc_ids"`
			Created    window     `json:"created_range"`
			Updated    window     `json:"updated_range"`
		}
	}
	worked.Each(t, "onyx_filters.json", func(t *testing.T, in in, want []sheaf.ID) {
		f := in.Filters
		filters := onyx.Filters{AnyTenant: f.Tenant == nil, AnyAccess: f.ACL == nil, Hidden: f.Hidden, Sources: f.Sources, Tags: f.Tags, Sets: f.Sets,
			ForcedSets: f.ForcedSets, Nodes: f.Nodes, Created: f.Created.times(), Updated: f.Updated.times()}
		if f.Tenant != nil {
			filters.Tenant = *f.Tenant
		}
		if f.ACL != nil {
			filters.Access = *f.ACL
		}
		if f.Persona != nil {
			filters.Personas = []int{*f.Persona}
		}
		for _, id := range f.Documents {
			filters.Documents = append(filters.Documents, "t:"+id)
		}
		var docs []onyx.Document
		for _, d := range in.Docs {
			doc := onyx.Document{ID: "t:" + d.ID, Chunks: []onyx.Chunk{{Text: "word"}}, Metadata: onyx.Metadata{Tenant: d.Tenant, Public: d.Public, Access: d.ACL, Hidden: d.Hidden,
				Source: d.Source, Sets: d.Sets, Tags: d.Tags, Projects: d.Projects, Personas: d.Personas, Nodes: d.Nodes}}
			if d.Created != nil {
				doc.Created = time.Unix(*d.Created, 0)
			}
			if d.Updated != nil {
				doc.Updated = time.Unix(*d.Updated, 0)
			}
			docs = append(docs, doc)
		}
		for name, x := range stores(t, func() time.Time { return time.Unix(in.Now, 0) }) {
			if _, err := x.Write(context.Background(), docs); err != nil {
				t.Fatal(err)
			}
			ranking, err := x.Keyword(context.Background(), sheaf.Match{Text: "word"}, filters, 100)
			if err != nil {
				t.Fatal(err)
			}
			got := []sheaf.ID{}
			for _, h := range ranking {
				got = append(got, sheaf.ID(strings.TrimSuffix(strings.TrimPrefix(string(h.ID), "t:"), "#0")))
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s finds %v, want %v", name, got, want)
			}
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
		w := window{in.Start, in.End}.times()
		f := onyx.Filters{AnyAccess: true, AnyTenant: true, Created: w}
		if in.Field == "updated_at" {
			f.Created, f.Updated = onyx.Window{}, w
		}
		filter, err := f.Filter(time.Unix(in.Now, 0))
		if err != nil {
			t.Fatal(err)
		}
		unbounded, _ := onyx.Filters{AnyAccess: true, AnyTenant: true}.Filter(time.Unix(in.Now, 0))
		if clause := len(filter.(sheaf.And)) > len(unbounded.(sheaf.And)); clause != want.Clause {
			t.Errorf("a clause: %v, want %v", clause, want.Clause)
		}
		if got := filter.Match(&backend.Chunk{}); got != want.Undated {
			t.Errorf("undated documents are let through: %v, want %v", got, want.Undated)
		}
	})
}

// The score of words is the sum of four clauses, each times its weight.
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
		if len(q.Should) != len(clauses) || len(q.Must)+len(q.MustNot) > 0 || in.Least != 1 {
			t.Fatalf("%+v", q)
		}
		var score float64
		for i, name := range clauses {
			factor := q.Should[i].(sheaf.Boost).Factor
			if factor != in.Boosts[name] {
				t.Errorf("%s weighs %v, want %v", name, factor, in.Boosts[name])
			}
			score += factor * in.Scores[name]
		}
		if hit := score > 0; hit != want.Hit || math.Abs(score-want.Score) > 1e-9 {
			t.Errorf("score %v, want %v", score, want.Score)
		}
	})
	// What a store makes of it is that sum.
	for name, x := range stores(t, nil) {
		write(t, x, onyx.Document{ID: "t:a", Title: "Several words", Chunks: []onyx.Chunk{{Text: "There are several words here, and several other words."}}, Metadata: onyx.Metadata{Public: true}})
		whole := score(t, x, onyx.KeywordQuery("several words"))
		var sum float64
		for _, part := range onyx.KeywordQuery("several words").(sheaf.Bool).Should {
			sum += part.(sheaf.Boost).Factor * score(t, x, part.(sheaf.Boost).Query)
		}
		if whole == 0 || math.Abs(whole-sum) > 1e-6*whole {
			t.Errorf("%s: the whole scores %v, its parts %v", name, whole, sum)
		}
	}
}

// score is that of the only document, by fields of weight 1.
func score(t *testing.T, x *onyx.Index, q sheaf.TextQuery) float64 {
	t.Helper()
	r, err := x.Plain(context.Background(), q, onyx.Filters{}, 1)
	if err != nil || len(r) != 1 {
		t.Fatalf("%v, %v", r, err)
	}
	return r[0].Score
}

// The vectors hold objects, whose members have an order that Go's maps lose: it
// is read from the text.
func TestVectorsMetadataSuffix(t *testing.T) {
	worked.Each(t, "onyx_metadata_suffix.json", func(t *testing.T, in json.RawMessage, want struct {
		Semantic, Keyword string
		Tags              []string `json:"filter_tags"`
	}) {
		var metadata []chunk.Metadata
		dec := json.NewDecoder(strings.NewReader(string(in)))
		if _, err := dec.Token(); err != nil {
			t.Fatal(err)
		}
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				t.Fatal(err)
			}
			var value any
			if err := dec.Decode(&value); err != nil {
				t.Fatal(err)
			}
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
		if semantic != want.Semantic || keyword != want.Keyword {
			t.Errorf("%q and %q, want %q and %q", semantic, keyword, want.Semantic, want.Keyword)
		}
		if tags := onyx.Tags(metadata); !slices.Equal(tags, want.Tags) {
			t.Errorf("tags %q, want %q", tags, want.Tags)
		}
	})
}
