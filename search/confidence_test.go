package search_test

import (
	"context"
	"math"
	"testing"

	"sheaf"
	"sheaf/eval/calibrate"
	"sheaf/inference/static/english"
	"sheaf/profile"
	words "sheaf/query"
	"sheaf/search"
)

func TestConfidence(t *testing.T) {
	s := searcher(animals())
	fit := &calibrate.Logistic{Bias: -1, Weights: []float64{2, 1, 3}}
	asked := ""
	s.Confidence = func(p *profile.Profile) *calibrate.Logistic { asked = p.Name; return fit }
	for _, limit := range []int{1, 3} {
		r := mustSearch(t, s, query("cat", limit), load(t, "sheaf"), search.Options{})
		if asked != "sheaf" || r.Answerable == nil || !*r.Answerable {
			t.Fatalf("profile %q, answerable %v", asked, r.Answerable)
		}
		h := r.Hits[0]
		if want := search.LevelOf(*h.Confidence); h.Level != want && h.Level != search.Low {
			t.Errorf("level %s of confidence %v", h.Level, *h.Confidence)
		}
		if h.Evidence == nil || h.Confidence == nil {
			t.Fatalf("the first answer has evidence %v and confidence %v", h.Evidence, h.Confidence)
		}
		e := *h.Evidence
		if e.Words <= 0 || e.Meaning <= 0 || e.Meaning > 1.0001 || e.Lead < 0 || e.Known != 1 {
			t.Errorf("evidence is %+v", e)
		}
		if want := 1 / (1 + math.Exp(1-2*min(e.Words, 2)-e.Meaning-3*e.Lead)); math.Abs(*h.Confidence-want) > 1e-12 {
			t.Errorf("confidence is %v, want %v", *h.Confidence, want)
		}
	}
	// What counts is the evidence: the answers wanted change nothing.
	one := mustSearch(t, s, query("cat", 1), load(t, "sheaf"), search.Options{})
	many := mustSearch(t, s, query("cat", 10), load(t, "sheaf"), search.Options{})
	if *one.Hits[0].Evidence != *many.Hits[0].Evidence {
		t.Errorf("evidence %+v for one answer, %+v for ten", one.Hits[0].Evidence, many.Hits[0].Evidence)
	}
	fit.Bias = -20
	if r := mustSearch(t, s, query("cat", 3), load(t, "sheaf"), search.Options{}); *r.Answerable || len(r.Hits) == 0 {
		t.Errorf("answerable is %v of %d hits that nothing speaks for", *r.Answerable, len(r.Hits))
	} else if r.Hits[0].Level != search.None {
		t.Errorf("level %s of a result that is no answer", r.Hits[0].Level)
	}
	s.Confidence = nil
	r, err := s.Search(context.Background(), query("cat", 3), load(t, "sheaf"), search.Options{Evidence: true})
	if err != nil || r.Answerable != nil || r.Hits[0].Confidence != nil || r.Hits[0].Evidence == nil {
		t.Errorf("without a fit: %v, answerable %v, %+v", err, r.Answerable, r.Hits[0])
	}
}

// A stage that looks at whole documents compares them by its own scores, in parts of
// the best of the fusion: where it adds nothing the lead is that without it.
func TestLeadOfWholeDocuments(t *testing.T) {
	lead := func(then string) float64 {
		p, err := profile.Parse("measured.yaml", []byte("name: measured\nabout: Words.\nbranches:\n  - {name: words, retrieve: text, fields: {body: 1}, limit: 100}\nfuse: {method: scores, norm: share, mean: sum}\nthen:\n"+then), profile.Builtin)
		if err != nil {
			t.Fatal(err)
		}
		r := mustSearch(t, searcher(animals()), query("cat dog", 3), p, search.Options{Evidence: true})
		if len(r.Hits) < 2 {
			t.Fatalf("%d hits", len(r.Hits))
		}
		return r.Hits[0].Evidence.Lead
	}
	without := lead("  - top: {n: 10}\n")
	if without <= 0 || without >= 1 {
		t.Fatalf("the lead is %v", without)
	}
	if with := lead("  - whole: {strength: 0, coverage: 0}\n  - top: {n: 10}\n"); math.Abs(with-without) > 1e-12 {
		t.Errorf("the lead is %v, and %v where whole documents add nothing", without, with)
	}
}

// A query of filters or of what to leave out alone has no words to be sure about:
// what it lists is what it asked for, all of it or nothing.
func TestConfidenceNeedsWords(t *testing.T) {
	s := searcher(animals())
	s.Confidence = func(*profile.Profile) *calibrate.Logistic { return &calibrate.Logistic{Bias: -20} }
	for _, text := range []string{"tag:nosuch", "-tag:nosuch", "-zebra", "path:cats.md"} {
		r := mustSearch(t, s, words.Parse(text, words.Options{Limit: 3}), load(t, "sheaf"), search.Options{})
		if r.Answerable != nil {
			t.Errorf("%s: answerable is %v", text, *r.Answerable)
		}
	}
	in := func(field string) sheaf.TextQuery { return sheaf.Match{Text: "cat", Field: field} }
	for _, c := range []struct {
		words sheaf.TextQuery
		sure  bool
	}{
		{in(sheaf.FieldPath), true},
		{sheaf.Bool{Should: []sheaf.TextQuery{in(sheaf.FieldPath), in(sheaf.FieldPath)}}, true},
		{sheaf.Bool{Must: []sheaf.TextQuery{in(sheaf.FieldPath)}, MustNot: []sheaf.TextQuery{in("")}}, true},
		{sheaf.Bool{Must: []sheaf.TextQuery{in(sheaf.FieldPath)}, Should: []sheaf.TextQuery{in("")}}, false},
		{in(sheaf.FieldTitle), false},
	} {
		r := mustSearch(t, s, sheaf.Query{Text: "path:cat", Words: c.words, Meaning: "cat", Limit: 3}, load(t, "sheaf"), search.Options{})
		if (r.Answerable == nil) != c.sure {
			t.Errorf("%v: answerable is %v", c.words, r.Answerable)
		}
	}
}

// What a name or a rare word is worth alone holds whatever else says little; of
// several of a name each is worth its share, and only the first answer counts.
func TestConfidenceOfNamesAndRareWords(t *testing.T) {
	doubt := &calibrate.Logistic{Bias: -20}
	sure := &calibrate.Logistic{Bias: 20}
	for _, c := range []struct {
		e     search.Evidence
		fit   *calibrate.Logistic
		first bool
		want  search.Level
	}{
		{search.Evidence{}, doubt, true, search.None},
		{search.Evidence{Named: 1}, doubt, true, search.High},
		{search.Evidence{Named: 2}, doubt, true, search.Medium},
		{search.Evidence{Named: 20}, doubt, true, search.None},
		{search.Evidence{Named: 20, Holds: 1}, doubt, true, search.High},
		{search.Evidence{Holds: 5}, doubt, true, search.Low},
		{search.Evidence{Named: 1, Holds: 1}, doubt, false, search.None},
		{search.Evidence{Named: 20}, sure, true, search.High},
	} {
		if got := search.LevelOf(c.e.Confidence(c.fit, c.first)); got != c.want {
			t.Errorf("%+v, first %v: %s, want %s", c.e, c.first, got, c.want)
		}
	}
}

func TestLevels(t *testing.T) {
	for _, c := range []struct {
		confidence float64
		want       search.Level
	}{{1, search.High}, {0.75, search.High}, {0.7, search.Medium}, {0.45, search.Medium}, {0.2, search.Low}, {0.15, search.Low}, {0.1, search.None}, {0, search.None}} {
		if got := search.LevelOf(c.confidence); got != c.want {
			t.Errorf("%v is %s, want %s", c.confidence, got, c.want)
		}
	}
}

// What has one of several alternatives is an answer, however little it has of the words
// of all.
func TestAnswersAlternatives(t *testing.T) {
	s := searcher(animals())
	s.Confidence = func(*profile.Profile) *calibrate.Logistic { return &calibrate.Logistic{Bias: -20} }
	for text, want := range map[string]bool{"cat OR zebra OR tapir OR okapi": true, "cat zebra tapir okapi": false, "zebra OR tapir": false} {
		r := mustSearch(t, s, words.Parse(text, words.Options{Limit: 3}), load(t, "sheaf"), search.Options{})
		if r.Answerable == nil || *r.Answerable != want {
			t.Errorf("%s: answerable is %v, want %v", text, r.Answerable, want)
		}
	}
}

// Whether a query has an answer is told by words and meaning, not by how many
// others are as good, where both are known; else by the confidence.
func TestAnswers(t *testing.T) {
	own, model := searcher(animals()), searcher(animals())
	e, err := english.New()
	if err != nil {
		t.Fatal(err)
	}
	model.SetModel(e, model.Analyzer, 1)
	for _, c := range []struct {
		s          *search.Searcher
		profile    string
		e          search.Evidence
		confidence float64
		want       bool
	}{
		{model, "sheaf", search.Evidence{Words: 0.4, Meaning: 0.5}, 0.01, true},
		{model, "sheaf", search.Evidence{Words: 0.3, Meaning: 0.3, Lead: 1}, 0.9, false},
		{model, "sheaf", search.Evidence{Words: 1.7}, 0.01, true},
		{model, "sheaf", search.Evidence{Words: 0.1, Meaning: 0.49}, 0.9, false},
		{model, "sheaf", search.Evidence{Words: 0.1, Meaning: 0.51}, 0.01, true},
		{model, "sheaf", search.Evidence{Named: 3}, 0.01, true},
		{model, "sheaf", search.Evidence{Holds: 1}, 0.01, true},
		{model, "rrf", search.Evidence{Words: 1}, 0.14, false},
		{own, "sheaf", search.Evidence{}, 0.15, true},
	} {
		if got := c.s.Answers(c.e, load(t, c.profile), c.confidence); got != c.want {
			t.Errorf("%s, %+v, %v: %v", c.profile, c.e, c.confidence, got)
		}
	}
}

// How sure answers are is known of what a profile computes, not of what it is called:
// neither one that changes the default under its name, nor a query that sets a
// parameter, is what it was learned of.
func TestConfidenceIsOfOnePipeline(t *testing.T) {
	parse := func(text string) *profile.Profile {
		p, err := profile.Parse("own.yaml", []byte(text), profile.Builtin)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, c := range []struct {
		what string
		p    *profile.Profile
		want bool
	}{
		{"the default", load(t, "sheaf"), true},
		{"the default under another description", parse("name: sheaf\nextends: sheaf\nabout: Mine.\n"), true},
		{"the default with a parameter as it is", parse("name: mine\nextends: sheaf\nabout: Mine.\nparameters: {meaning: 0.22}\n"), true},
		{"another default of a parameter", parse("name: sheaf\nextends: sheaf\nabout: Mine.\nparameters: {meaning: 0.9}\n"), false},
		{"another weight of a field", parse("name: sheaf\nextends: sheaf\nabout: Mine.\nbranches:\n  words: {fields: {title: 3}}\n"), false},
		{"other stages", parse("name: sheaf\nextends: sheaf\nabout: Mine.\nthen: [{top: limit}]\n"), false},
		{"another profile", load(t, "rrf"), false},
	} {
		if got := search.AverageConfidence(c.p, "sheaf-en-1") != nil; got != c.want {
			t.Errorf("%s: known %v, want %v", c.what, got, c.want)
		}
	}

	s := searcher(animals())
	s.Confidence = func(*profile.Profile) *calibrate.Logistic { return &calibrate.Logistic{Bias: 20} }
	for value, want := range map[string]bool{"": true, "0.4": true, "0.3": false} {
		o := search.Options{}
		if value != "" {
			o.Parameters = map[string]string{"whole": value}
		}
		r := mustSearch(t, s, query("cat", 3), load(t, "sheaf"), o)
		if got := r.Hits[0].Confidence != nil; got != want || (r.Answerable != nil) != want {
			t.Errorf("whole %q: confidence %v, answerable %v, want %v", value, got, r.Answerable != nil, want)
		}
	}
}
