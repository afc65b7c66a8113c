package storekit_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/storekit"
	"sheaf/text/analysis"
)

func english(t testing.TB) *analysis.Analyzer {
	return must.Get(analysis.New(analysis.Options{Language: "en"}))
}

func compile(t *testing.T, q sheaf.TextQuery) storekit.Plan {
	return storekit.Compile(english(t), &store.TextRequest{Query: q,
		Fields: []store.FieldWeight{{Name: "title", Weight: 2}, {Name: "body", Weight: 1}}})
}

// TestCompile checks one query for each kind of node.
func TestCompile(t *testing.T) {
	both, path := []int{0, 1}, []int{2}
	term := func(text string, factor float64) storekit.Node {
		return storekit.Term{Text: text, Fields: both, Factor: factor}
	}
	for _, c := range []struct {
		q    sheaf.TextQuery
		want storekit.Node
	}{
		{nil, storekit.Bool{}},
		{sheaf.Match{Text: "?!"}, storekit.Bool{}},
		{sheaf.Match{Text: "running shoes run"}, storekit.Bool{Should: []storekit.Node{term("run", 2), term("shoe", 1)}}},
		{sheaf.Match{Text: "run", Field: "path"},
			storekit.Bool{Should: []storekit.Node{storekit.Term{Text: "run", Fields: path, Factor: 1}}}},
		{sheaf.Boost{Query: sheaf.Match{Text: "run"}, Factor: 3}, storekit.Bool{Should: []storekit.Node{term("run", 3)}}},
		{sheaf.Phrase{Text: "running shoes", Slop: 2},
			storekit.Phrase{Tokens: []storekit.Token{{Text: "run"}, {Text: "shoe", Position: 1}}, Slop: 2, Fields: both,
				Factor: 1}},
		{sheaf.Phrase{Text: "running"}, storekit.Bool{Should: []storekit.Node{term("run", 1)}}},
		{sheaf.Prefix{Text: "Runn"}, storekit.Bool{Must: []storekit.Node{storekit.Expand{Text: "runn", Forms: true,
			Fields: both, Factor: 1}}}},
		{sheaf.Fuzzy{Text: "shoos shoos", Distance: 1},
			storekit.Bool{Must: []storekit.Node{storekit.Expand{Text: "shoos", Distance: 1, Forms: true, Fields: both,
				Factor: 2}}}},
		{sheaf.Match{Text: "猫"}, storekit.Bool{Should: []storekit.Node{storekit.Expand{Text: "猫", Fields: both, Factor: 1}}}},
		{sheaf.Bool{}, storekit.Bool{Must: []storekit.Node{}, Should: []storekit.Node{}, MustNot: []storekit.Node{},
			All: true}},
	} {
		got := compile(t, c.q).Root
		check.That(t, reflect.DeepEqual(got, c.want), "%#v:\n got %#v\nwant %#v", c.q, got, c.want)
	}
	got := compile(t, sheaf.Match{Text: "x", Field: "path"}).Fields
	check.That(t, len(got) == 3 && got[2] == (store.FieldWeight{Name: "path", Weight: 1}),
		"fields %v: the one that the query names must stand behind those of the request", got)
	n := 0
	storekit.Walk(compile(t, sheaf.Bool{Must: []sheaf.TextQuery{sheaf.Match{Text: "a b"}},
		MustNot: []sheaf.TextQuery{sheaf.Match{Text: "c"}}}).Root, func(storekit.Node) { n++ })
	check.Equal(t, n, 6, "nodes walked")
}

func TestWeight(t *testing.T) {
	form := storekit.FormMark
	for _, c := range []struct {
		e    storekit.Expand
		term string
		want float64
	}{
		{storekit.Expand{Text: "run", Forms: true}, "runner", 1},
		{storekit.Expand{Text: "run", Forms: true}, form + "running", 1},
		{storekit.Expand{Text: "run"}, form + "running", 0},
		{storekit.Expand{Text: "run", Forms: true}, "rum", 0},
		{storekit.Expand{Text: "token", Distance: 2, Forms: true}, "token", 1},
		{storekit.Expand{Text: "tokne", Distance: 1, Forms: true}, "token", 0.5}, // a swap is one edit
		{storekit.Expand{Text: "token", Distance: 2, Forms: true}, form + "tokens", 0.5},
		{storekit.Expand{Text: "token", Distance: 2, Forms: true}, "toke", 0.5},
		{storekit.Expand{Text: "token", Distance: 2, Forms: true}, "tok", 1.0 / 3},
		{storekit.Expand{Text: "token", Distance: 1, Forms: true}, "tok", 0},
		{storekit.Expand{Text: "東京", Distance: 1, Forms: true}, "東都", 0.5},
		{storekit.Expand{Text: "", Distance: 2, Forms: true}, "ab", 1.0 / 3},
	} {
		check.Equal(t, c.e.Weight(c.term), c.want, "%+v of %q", c.e, c.term)
	}
}

// TestAnalyze checks that the postings of a text are its tokens.
func TestAnalyze(t *testing.T) {
	a := english(t)
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 5))
	words := strings.Fields("running runs getUserName snake_case 東京都 naïve v1.2.3 C++ Get-Item well-known the of \xff " +
		"John's #tag")
	for range 200 {
		var text []string
		for range r.IntN(30) {
			text = append(text, words[r.IntN(len(words))])
		}
		got := storekit.Analyze(a, strings.Join(text, " "))
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
		must.That(t, got.Length == length && len(got.Postings) == len(want)+len(forms) &&
			slices.IsSortedFunc(got.Postings, func(a, b storekit.Posting) int { return strings.Compare(a.Term, b.Term) }),
			"seed %d: %q: %+v", seed, text, got)
		for _, p := range got.Postings {
			if form, ok := strings.CutPrefix(p.Term, storekit.FormMark); ok {
				must.That(t, p.Frequency == forms[form] && p.Positions == nil, "seed %d: %q: form %+v, want %d", seed, text, p,
					forms[form])
				continue
			}
			slices.Sort(want[p.Term])
			must.That(t, p.Frequency == len(p.Positions) && fmt.Sprint(p.Positions) == fmt.Sprint(want[p.Term]),
				"seed %d: %q: %+v, want positions %v", seed, text, p, want[p.Term])
		}
	}
}

// TestRefuses checks which requests a server with its own BM25 cannot score.
func TestRefuses(t *testing.T) {
	o := storekit.Options{K1: 1.2, B: 0.75}
	some := sheaf.Exists{Column: "tag"}
	for says, change := range map[string]func(r *store.Request){
		"":               func(r *store.Request) { r.Text.Combine, r.Filter = store.CombineBest, some },
		"k1 0.9":         func(r *store.Request) { r.Text.K1 = 0.9 },
		"and b 0.4":      func(r *store.Request) { r.Text.B = 0.4 },
		"combine: bm25f": func(r *store.Request) { r.Text.Combine = store.CombineBM25F },
		"statistics: candidates": func(r *store.Request) {
			r.Text.Statistics, r.Filter = store.StatisticsCandidates, some
		},
	} {
		req := store.Request{Text: &store.TextRequest{K1: 1.2, B: 0.75}}
		change(&req)
		got := o.Refuses(&req, "class")
		check.That(t, strings.Contains(got, says) && (got == "") == (says == ""), "%q, want %q", got, says)
	}
}
