package textplan_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/store"
	"sheaf/store/textplan"
	"sheaf/text/analysis"
)

func english(t testing.TB) *analysis.Analyzer {
	a, err := analysis.New(analysis.Options{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func compile(t *testing.T, q sheaf.TextQuery) textplan.Plan {
	return textplan.Compile(english(t), &store.TextRequest{Query: q, Fields: []store.FieldWeight{{Name: "title", Weight: 2}, {Name: "body", Weight: 1}}})
}

// TestCompile has one query for each kind of node.
func TestCompile(t *testing.T) {
	both, path := []int{0, 1}, []int{2}
	term := func(text string, factor float64) textplan.Node {
		return textplan.Term{Text: text, Fields: both, Factor: factor}
	}
	for _, c := range []struct {
		q    sheaf.TextQuery
		want textplan.Node
	}{
		{nil, textplan.Bool{}},
		{sheaf.Match{Text: "?!"}, textplan.Bool{}},
		{sheaf.Match{Text: "running shoes run"}, textplan.Bool{Should: []textplan.Node{term("run", 2), term("shoe", 1)}}},
		{sheaf.Match{Text: "run", Field: "path"}, textplan.Bool{Should: []textplan.Node{textplan.Term{Text: "run", Fields: path, Factor: 1}}}},
		{sheaf.Boost{Query: sheaf.Match{Text: "run"}, Factor: 3}, textplan.Bool{Should: []textplan.Node{term("run", 3)}}},
		{sheaf.Phrase{Text: "running shoes", Slop: 2}, textplan.Phrase{Tokens: []textplan.Token{{Text: "run"}, {Text: "shoe", Position: 1}}, Slop: 2, Fields: both, Factor: 1}},
		{sheaf.Phrase{Text: "running"}, textplan.Bool{Should: []textplan.Node{term("run", 1)}}},
		{sheaf.Prefix{Text: "Runn"}, textplan.Bool{Must: []textplan.Node{textplan.Expand{Text: "runn", Forms: true, Fields: both, Factor: 1}}}},
		{sheaf.Fuzzy{Text: "shoos shoos", Distance: 1}, textplan.Bool{Must: []textplan.Node{textplan.Expand{Text: "shoos", Distance: 1, Forms: true, Fields: both, Factor: 2}}}},
		{sheaf.Match{Text: "猫"}, textplan.Bool{Should: []textplan.Node{textplan.Expand{Text: "猫", Fields: both, Factor: 1}}}},
		{sheaf.Bool{}, textplan.Bool{Must: []textplan.Node{}, Should: []textplan.Node{}, MustNot: []textplan.Node{}, All: true}},
	} {
		if got := compile(t, c.q).Root; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%#v:\n got %#v\nwant %#v", c.q, got, c.want)
		}
	}
	if got := compile(t, sheaf.Match{Text: "x", Field: "path"}).Fields; len(got) != 3 || got[2] != (store.FieldWeight{Name: "path", Weight: 1}) {
		t.Errorf("fields %v: the one that the query names must stand behind those of the request", got)
	}
	n := 0
	textplan.Walk(compile(t, sheaf.Bool{Must: []sheaf.TextQuery{sheaf.Match{Text: "a b"}}, MustNot: []sheaf.TextQuery{sheaf.Match{Text: "c"}}}).Root, func(textplan.Node) { n++ })
	if n != 6 {
		t.Errorf("%d nodes walked, want 6", n)
	}
}

func TestWeight(t *testing.T) {
	form := textplan.FormMark
	for _, c := range []struct {
		e    textplan.Expand
		term string
		want float64
	}{
		{textplan.Expand{Text: "run", Forms: true}, "runner", 1},
		{textplan.Expand{Text: "run", Forms: true}, form + "running", 1},
		{textplan.Expand{Text: "run"}, form + "running", 0},
		{textplan.Expand{Text: "run", Forms: true}, "rum", 0},
		{textplan.Expand{Text: "token", Distance: 2, Forms: true}, "token", 1},
		{textplan.Expand{Text: "tokne", Distance: 1, Forms: true}, "token", 0.5}, // a swap is one edit
		{textplan.Expand{Text: "token", Distance: 2, Forms: true}, form + "tokens", 0.5},
		{textplan.Expand{Text: "token", Distance: 2, Forms: true}, "toke", 0.5},
		{textplan.Expand{Text: "token", Distance: 2, Forms: true}, "tok", 1.0 / 3},
		{textplan.Expand{Text: "token", Distance: 1, Forms: true}, "tok", 0},
		{textplan.Expand{Text: "東京", Distance: 1, Forms: true}, "東都", 0.5},
		{textplan.Expand{Text: "", Distance: 2, Forms: true}, "ab", 1.0 / 3},
	} {
		if got := c.e.Weight(c.term); got != c.want {
			t.Errorf("%+v of %q: %v, want %v", c.e, c.term, got, c.want)
		}
	}
}

// TestAnalyze: the postings of a text are its tokens.
func TestAnalyze(t *testing.T) {
	a := english(t)
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 5))
	words := strings.Fields("running runs getUserName snake_case 東京都 naïve v1.2.3 C++ Get-Item well-known the of \xff John's #tag")
	w := textplan.NewWriter(a)
	for range 200 {
		var text []string
		for range r.IntN(30) {
			text = append(text, words[r.IntN(len(words))])
		}
		got := w.Analyze(strings.Join(text, " "))
		want := map[string][]int32{}
		forms, length := map[string]int{}, 0
		for _, token := range a.Tokens(strings.Join(text, " ")) {
			if token.Form {
				forms[token.Term]++
				continue
			}
			want[token.Term] = append(want[token.Term], int32(token.Position))
			length++
		}
		if got.Length != length || len(got.Postings) != len(want)+len(forms) || !slices.IsSortedFunc(got.Postings, func(a, b textplan.Posting) int { return strings.Compare(a.Term, b.Term) }) {
			t.Fatalf("seed %d: %q: %+v", seed, text, got)
		}
		unsorted := w.Unsorted(strings.Join(text, " "))
		slices.SortFunc(unsorted.Postings, func(a, b textplan.Posting) int { return strings.Compare(a.Term, b.Term) })
		if !reflect.DeepEqual(unsorted, got) {
			t.Fatalf("seed %d: %q: unsorted %+v, sorted %+v", seed, text, unsorted, got)
		}
		for _, p := range got.Postings {
			if form, ok := strings.CutPrefix(p.Term, textplan.FormMark); ok {
				if p.Frequency != forms[form] || p.Positions != nil {
					t.Fatalf("seed %d: %q: form %+v, want %d", seed, text, p, forms[form])
				}
				continue
			}
			slices.Sort(want[p.Term])
			if p.Frequency != len(p.Positions) || fmt.Sprint(p.Positions) != fmt.Sprint(want[p.Term]) {
				t.Fatalf("seed %d: %q: %+v, want positions %v", seed, text, p, want[p.Term])
			}
		}
	}
}
