package memory_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/memory"
	"sheaf/text/analysis"
)

// TestStoreForQueriesEqualsFullStore checks that a store for known queries gives the same hits,
// scores and explanations as a full store.
func TestStoreForQueriesEqualsFullStore(t *testing.T) {
	a := must.Get(analysis.New(analysis.Options{Language: "en", StopWords: true}))
	words := []string{"cat", "cats", "catalog", "category", "dog", "dogs", "the", "running", "run", "Runner", "HTTPServer",
		"café", "日本語", "本", "a-b", "x1"}
	word := rapid.SampledFrom(words)
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 0, 12).Draw(t, "words"), " ")
	})
	fields := []string{sheaf.FieldTitle, sheaf.FieldBody}
	var query func(depth int) *rapid.Generator[sheaf.TextQuery]
	query = func(depth int) *rapid.Generator[sheaf.TextQuery] {
		return rapid.Custom(func(t *rapid.T) sheaf.TextQuery {
			field := rapid.SampledFrom([]string{"", sheaf.FieldTitle}).Draw(t, "field")
			kinds := 4
			if depth > 0 {
				kinds = 6
			}
			switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
			case 0:
				return sheaf.Match{Text: text.Draw(t, "match") + " " + word.Draw(t, "word"), Field: field}
			case 1:
				return sheaf.Phrase{Text: word.Draw(t, "one") + " " + word.Draw(t, "two"), Field: field,
					Slop: rapid.IntRange(0, 2).Draw(t, "slop")}
			case 2:
				return sheaf.Prefix{Text: word.Draw(t, "prefix"), Field: field}
			case 3:
				return sheaf.Fuzzy{Text: word.Draw(t, "fuzzy"), Field: field, Distance: rapid.IntRange(1, 2).Draw(t, "distance")}
			case 4:
				return sheaf.Boost{Query: query(depth-1).Draw(t, "part"), Factor: 2}
			}
			parts := rapid.SliceOfN(query(depth-1), 0, 2)
			return sheaf.Bool{Must: parts.Draw(t, "must"), Should: parts.Draw(t, "should"), MustNot: parts.Draw(t, "not")}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		q := query(2).Draw(t, "query")
		full, partial := memory.New(a), memory.NewFor(a, q)
		var batch store.Batch
		var ids []sheaf.ID
		for i := range rapid.IntRange(0, 50).Draw(t, "chunks") { // below and above the limit for parallel analysis
			c := store.Chunk{ID: sheaf.ID(fmt.Sprintf("t:%02d", i)), Doc: sheaf.ID(fmt.Sprintf("t:%02d", i))}
			for _, f := range fields {
				c.Fields = append(c.Fields, store.Field{Name: f, Text: text.Draw(t, f)})
			}
			batch.Chunks, ids = append(batch.Chunks, c), append(ids, c.ID)
		}
		req := store.Request{Limit: 100, Text: &store.TextRequest{Query: q, K1: 1.2, B: 0.75,
			Fields:  []store.FieldWeight{{Name: fields[0], Weight: 3}, {Name: fields[1], Weight: 1}},
			Combine: store.Combine(rapid.IntRange(0, 2).Draw(t, "combine"))}}
		if req.Validate() != nil {
			t.Skip("no valid query")
		}
		var answers [2]sheaf.Ranking
		var reasons [2][]*sheaf.Explanation
		for i, st := range []*memory.Backend{full, partial} {
			must.Do(t, st.Write(context.Background(), batch))
			answers[i] = must.Get(st.Retrieve(context.Background(), req))
			reasons[i] = must.Get(st.Explain(context.Background(), req, ids))
		}
		if !reflect.DeepEqual(answers[0], answers[1]) {
			t.Fatalf("%#v:\nfull    %v\npartial %v", q, answers[0], answers[1])
		}
		for i := range ids {
			if a, b := reasons[0][i], reasons[1][i]; (a == nil) != (b == nil) || a != nil && a.Value != b.Value {
				t.Fatalf("%#v: %s is explained otherwise", q, ids[i])
			}
		}
	})
}

// BenchmarkEphemeralIndex measures an index for a single query: 1,000 chunks of 3.4 kB, with realistic word
// frequencies.
func BenchmarkEphemeralIndex(b *testing.B) {
	a := must.Get(analysis.New(analysis.Options{Language: "en"}))
	var batch store.Batch
	bytes := 0
	for i := range 1000 {
		var text strings.Builder
		for n := 0; text.Len() < 3400; n++ {
			x := uint64(i*1_000_003+n) * 0x9E3779B97F4A7C15 >> 40
			for m := x % (1 + x%5000); ; m /= 26 {
				text.WriteByte(byte('a' + m%26))
				if m < 26 {
					break
				}
			}
			text.WriteString("ing ")
		}
		bytes += text.Len()
		batch.Chunks = append(batch.Chunks, store.Chunk{ID: sheaf.ID(fmt.Sprint("t:", i)), Doc: sheaf.ID(fmt.Sprint("t:", i)),
			Fields: []store.Field{{Name: sheaf.FieldBody, Text: text.String()}}})
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		must.Do(b, memory.NewFor(a, sheaf.Match{Text: "bxing dring"}).Write(context.Background(), batch))
	}
}
