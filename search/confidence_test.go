package search_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	words "sheaf/text/query"

	"sheaf"
	"sheaf/eval/calibrate"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model/static/builtin"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/text/chunk"
)

// usual returns a calibration with numbers that are typical for judged data sets.
func usual() *search.Calibration {
	return &search.Calibration{
		Right:    calibrate.Logistic{Bias: -3.5, Weights: []float64{1.7, -1.1, 1.2, 5.6, -1.9, 0.8, -1.1}},
		Answered: calibrate.Logistic{Bias: -8.1, Weights: []float64{2.1, 6, 5.8, -0.2, 0, 2.5, -0.7}},
		Least:    0.17,
	}
}

// always returns a calibration that gives every result the same probabilities.
func always(bias, answered float64) *search.Calibration {
	none := make([]float64, len(new(search.Evidence).Features()))
	return &search.Calibration{Right: calibrate.Logistic{Bias: bias, Weights: none},
		Answered: calibrate.Logistic{Bias: answered, Weights: none}, Least: 0.5}
}

func calibrated(s *search.Searcher, c *search.Calibration) *search.Searcher {
	s.Confidence = func(*profile.Profile) *search.Calibration { return c }
	return s
}

// counting returns a searcher of a shelf in a store that counts, with an analyzer.
func counting(t *testing.T, s *shelf) *search.Searcher { return inEngine(t, s, "") }

func parsed(text string) sheaf.Query { return words.Parse(text, words.Options{Limit: 3}) }

// chunkCount is the number of chunks of the animals: one for each document and one for each section.
const chunkCount = 4 + 8

func rarity(chunks float64) float64 { return math.Log(1 + (chunkCount-chunks+0.5)/(chunks+0.5)) }

// TestConfidence checks that every result has the probability and level that the calibration gives for its
// evidence.
func TestConfidence(t *testing.T) {
	c := usual()
	s := searcher(animals())
	asked := ""
	s.Confidence = func(p *profile.Profile) *search.Calibration { asked = p.Name; return c }
	for _, limit := range []int{1, 3, 10} {
		r := mustSearch(t, s, query("cat", limit), load(t, "sheaf"), search.Options{})
		must.That(t, asked == "sheaf" && r.Answerable != nil && *r.Answerable && len(r.Hits) != 0,
			"profile %q, answerable %v, %d hits", asked, r.Answerable, len(r.Hits))
		for i, h := range r.Hits {
			must.That(t, h.Evidence != nil && h.Confidence != nil,
				"result %d has evidence %v and confidence %v", i+1, h.Evidence, h.Confidence)
			if e := h.Evidence; e.Score != h.Score || e.Meaning <= 0 || e.Meaning > 1.0001 || math.Abs(e.Lead) > 1 {
				t.Errorf("result %d, score %v: evidence %+v", i+1, h.Score, *e)
			}
			if want := c.Confidence(h.Evidence, true); *h.Confidence != want || h.Level != search.LevelOf(want) {
				t.Errorf("result %d: confidence %v, level %s, want %v", i+1, *h.Confidence, h.Level, want)
			}
		}
	}
	c.Least = 1
	r := mustSearch(t, s, query("cat", 10), load(t, "sheaf"), search.Options{})
	check.That(t, !*r.Answerable, "a query below the least probability is answerable")
	for i, h := range r.Hits {
		if h.Level != search.None || *h.Confidence >= 0.30 {
			t.Errorf("result %d of a query that is not answerable: %v, %s", i+1, *h.Confidence, h.Level)
		}
	}
	returnsNil := func(*profile.Profile) *search.Calibration { return nil }
	for _, none := range []func(*profile.Profile) *search.Calibration{nil, returnsNil} {
		s.Confidence = none
		r = mustSearch(t, s, query("cat", 3), load(t, "sheaf"), search.Options{Evidence: true})
		if h := r.Hits[0]; r.Answerable != nil || h.Confidence != nil || h.Level != "" || h.Evidence == nil {
			t.Errorf("without a calibration: answerable %v, %+v", r.Answerable, h)
		}
	}
}

// TestConfidenceChangesNothingElse checks that results, scores and explanations do not depend on a calibration.
func TestConfidenceChangesNothingElse(t *testing.T) {
	for _, o := range []search.Options{{}, {Explain: true}, {Trace: true},
		{Parameters: map[string]string{"meaning": "0.5"}}} {
		for _, text := range []string{"cat", "cat dog zebra", "cat OR zebra", "zebra", `"cat"`, "tag:nosuch", ""} {
			plain := mustSearch(t, counting(t, animals()), parsed(text), load(t, "sheaf"), o)
			judged := mustSearch(t, calibrated(counting(t, animals()), usual()), parsed(text), load(t, "sheaf"), o)
			judged.Answerable, judged.Took, plain.Took = nil, nil, nil
			for i := range judged.Hits {
				judged.Hits[i].Confidence, judged.Hits[i].Level, judged.Hits[i].Evidence = nil, "", nil
			}
			check.That(t, reflect.DeepEqual(plain, judged), "%q, %+v:\n%+v\nwithout a calibration\n%+v", text, o, judged, plain)
		}
	}
}

// TestConfidenceRepeats checks that the same query has the same evidence on every run and for every limit.
func TestConfidenceRepeats(t *testing.T) {
	for _, text := range []string{"cat", "cat dog stone", "cat OR 4712", "cat zebra 4712"} {
		var want []search.Evidence
		for run := range 10 {
			q := parsed(text)
			q.Limit = 1 + run%4
			r := mustSearch(t, calibrated(counting(t, animals()), usual()), q, load(t, "sheaf"), search.Options{})
			for i, h := range r.Hits {
				if i == len(want) {
					want = append(want, *h.Evidence)
				} else if *h.Evidence != want[i] {
					t.Fatalf("%s, run %d, result %d: %+v, want %+v", text, run, i+1, *h.Evidence, want[i])
				}
			}
		}
	}
}

// TestLead checks that the lead compares a document with the best other one, before stages drop hits.
func TestLead(t *testing.T) {
	search3 := func(text, then string) []search.Hit {
		p := parse(t, "name: measured\nabout: Words.\nbranches:\n"+
			"  - {name: words, retrieve: text, fields: {body: 1}, limit: 100}\n"+
			"fuse: {method: scores, norm: share, mean: sum}\nthen:\n"+then)
		return mustSearch(t, searcher(animals()), query(text, 10), p, search.Options{Evidence: true}).Hits
	}
	all := search3("cat dog", "  - top: {n: 100}\n")
	best := map[sheaf.ID]float64{}
	for _, h := range all {
		best[h.Doc] = max(best[h.Doc], h.Score)
	}
	must.That(t, len(best) == 3 && len(all) > len(best), "%d hits of %d documents", len(all), len(best))
	for i, h := range all {
		other := 0.0
		for doc, score := range best {
			if doc != h.Doc {
				other = max(other, score)
			}
		}
		if want := best[h.Doc] - other; math.Abs(h.Evidence.Lead-want) > 1e-12 {
			t.Errorf("result %d of %s: lead %v, want %v", i+1, h.Doc, h.Evidence.Lead, want)
		}
	}
	for _, then := range []string{"  - top: {n: 1}\n", "  - top: {n: 2}\n", "  - per_document: 1\n",
		"  - per_document: 1\n  - top: {n: 1}\n"} {
		for _, h := range search3("cat dog", then) {
			i := slices.IndexFunc(all, func(other search.Hit) bool { return other.ID == h.ID })
			check.Equal(t, h.Evidence.Lead, all[i].Evidence.Lead, "%q: lead of %s", then, h.ID)
		}
	}
	alone := search3("meat", "  - top: {n: 10}\n")
	check.That(t, len(alone) == 1 && alone[0].Evidence.Lead == 0.2, "the lead of a document without others is %v",
		alone[0].Evidence.Lead)
}

// TestUnknownWords checks that words in no chunk count by rarity, and that words with a digit count separately.
func TestUnknownWords(t *testing.T) {
	cat, unknown := rarity(4), rarity(0) // four chunks contain "cat"
	for _, c := range []struct {
		text            string
		unseen, numbers float64
	}{
		{"cat", 0, 0},
		{"cat zebra", unknown / (cat + unknown), 0},
		{"cat 4712", unknown / (cat + unknown), unknown / (cat + unknown)},
		{"cat zebra 4712", 2 * unknown / (cat + 2*unknown), unknown / (cat + 2*unknown)},
		{"cat zebra zebra", 2 * unknown / (cat + 2*unknown), 0},
		{"cat a4", unknown / (cat + unknown), unknown / (cat + unknown)},
		{"cat OR zebra", unknown / (cat + unknown), 0},
		{"cat -zebra -4712", 0, 0},
	} {
		r := mustSearch(t, counting(t, animals()), parsed(c.text), load(t, "sheaf"), search.Options{Evidence: true})
		must.That(t, len(r.Hits) != 0, "%s: nothing found", c.text)
		for _, h := range r.Hits {
			if e := h.Evidence; math.Abs(e.Unseen-c.unseen) > 1e-12 || math.Abs(e.Numbers-c.numbers) > 1e-12 {
				t.Errorf("%s: unseen %v, numbers %v, want %v and %v", c.text, e.Unseen, e.Numbers, c.unseen, c.numbers)
			}
		}
	}
	uncounted := mustSearch(t, searcher(animals()), parsed("cat 4712"), load(t, "sheaf"), search.Options{Evidence: true})
	e := uncounted.Hits[0].Evidence
	check.That(t, e.Unseen == 0 && e.Numbers == 0, "of a store that cannot count: %+v", e)
}

// TestQueryInAnotherLanguage searches English notes in English and in Russian. Unknown Russian
// words do not make a query unanswerable, but an unknown number does.
func TestQueryInAnotherLanguage(t *testing.T) {
	root := t.TempDir()
	notes := []string{"undo a commit", "bake bread", "repair a bicycle", "plant tomatoes", "read a map", "tune a guitar",
		"brew coffee", "write a letter", "paint a wall", "sail a boat", "train a dog", "build a fire"}
	for i, note := range notes {
		text := fmt.Sprintf("# How to %s\n\nSome advice for people who want to %s, step by step.\n", note, note)
		must.Do(t, os.WriteFile(filepath.Join(root, fmt.Sprintf("%d.md", i)), []byte(text), 0o600))
	}
	e := must.Get(builtin.New())
	s := indexed(t, root, e, chunk.Options{}, "the engine", openEngine)
	s.SetModel(e, s.Analyzer, 2*len(notes))
	p := load(t, "sheaf")
	s = calibrated(s, search.ShippedCalibration(p, e.Model()))
	yes, no := "answerable", "not answerable"
	for _, c := range []struct {
		text, answerable string
		foreign          bool
	}{
		{"how do I bake bread", yes, false},
		{"the medieval castles of Bohemia", no, false},
		{"bkae braed", no, false}, // misspelt words are in no known language
		{"как испечь хлеб", "not known", true},
		{"как починить велосипед", "not known", true},
		{"квитанция 4712", no, true},
		{"zzzzqqq", no, false},
	} {
		r := mustSearch(t, s, parsed(c.text), p, search.Options{Evidence: true})
		got := "not known"
		if r.Answerable != nil {
			got = map[bool]string{true: yes, false: no}[*r.Answerable]
		}
		check.Equal(t, got, c.answerable, "%s", c.text)
		for _, h := range r.Hits {
			if e := h.Evidence; e.Foreign != c.foreign || c.foreign && e.Unseen != e.Numbers {
				t.Errorf("%s: %+v, want foreign %v", c.text, e, c.foreign)
			}
		}
	}
}

// TestConfidenceNeedsWords checks that a query of filters alone has no confidence, because its
// results match the filters exactly.
func TestConfidenceNeedsWords(t *testing.T) {
	s := calibrated(searcher(animals()), always(-20, -20))
	for _, text := range []string{"tag:nosuch", "-tag:nosuch", "-zebra", "path:cats.md", "", "?!"} {
		r := mustSearch(t, s, parsed(text), load(t, "sheaf"), search.Options{})
		if r.Answerable != nil {
			t.Errorf("%s: answerable is %v", text, *r.Answerable)
		}
		for _, h := range r.Hits {
			if h.Confidence != nil || h.Level != "" {
				t.Errorf("%s: confidence %v of %s", text, *h.Confidence, h.ID)
			}
		}
	}
	in := func(field string) sheaf.TextQuery { return sheaf.Match{Text: "cat", Field: field} }
	for _, c := range []struct {
		words   sheaf.TextQuery
		without bool
	}{
		{in(sheaf.FieldPath), true},
		{sheaf.Bool{Should: []sheaf.TextQuery{in(sheaf.FieldPath), in(sheaf.FieldPath)}}, true},
		{sheaf.Bool{Must: []sheaf.TextQuery{in(sheaf.FieldPath)}, MustNot: []sheaf.TextQuery{in("")}}, true},
		{sheaf.Bool{Must: []sheaf.TextQuery{in(sheaf.FieldPath)}, Should: []sheaf.TextQuery{in("")}}, false},
		{in(sheaf.FieldTitle), false},
	} {
		q := sheaf.Query{Text: "path:cat", Words: c.words, Meaning: "cat", Limit: 3}
		r := mustSearch(t, calibrated(counting(t, animals()), always(-20, -20)), q, load(t, "sheaf"), search.Options{})
		check.Equal(t, r.Answerable == nil, c.without, "%v: without an answer to answerable", c.words)
	}
}

// TestConfidenceOfOddQueries checks that probabilities are between 0 and 1 for unusual queries.
func TestConfidenceOfOddQueries(t *testing.T) {
	for _, text := range []string{"", " ", "a", "1", "?", "cat", strings.Repeat("cat ", 1000),
		strings.Repeat("zebra ", 999) + "cat", numerals(1000), "-cat", `""`, "()", "OR", "日本語"} {
		for _, s := range []*search.Searcher{searcher(animals()), counting(t, animals())} {
			r := mustSearch(t, calibrated(s, usual()), sheaf.Query{Text: text, Words: sheaf.Match{Text: text}, Limit: 10},
				load(t, "sheaf"), search.Options{Evidence: true})
			for i, h := range r.Hits {
				for k, f := range h.Evidence.Features() {
					check.That(t, !math.IsNaN(f) && !math.IsInf(f, 0), "%.20q, result %d: feature %d is %v", text, i+1, k, f)
				}
				if h.Confidence != nil && !(*h.Confidence >= 0 && *h.Confidence <= 1) {
					t.Errorf("%.20q, result %d: confidence %v", text, i+1, *h.Confidence)
				}
			}
		}
	}
	nan, infinite := math.NaN(), math.Inf(1)
	for _, e := range []search.Evidence{{}, {Score: nan, Words: nan, Meaning: nan, Lead: nan, Unseen: nan, Numbers: nan},
		{Score: infinite, Words: infinite, Lead: -infinite, Length: math.MaxInt}} {
		p := usual().Confidence(&e, true)
		check.That(t, p >= 0 && p <= 1, "%+v: confidence %v", e, p)
	}
}

// numerals returns a text of n distinct numbers.
func numerals(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("7", 1+i%9) + strings.Repeat("1", 1+i/9) + " ")
	}
	return b.String()
}

// TestAnswerable checks that the probability decides, but an unknown number always makes a query
// unanswerable.
func TestAnswerable(t *testing.T) {
	sure, unsure := always(0, 20), always(0, -20)
	for _, c := range []struct {
		c    *search.Calibration
		e    search.Evidence
		want bool
	}{
		{sure, search.Evidence{}, true},
		{sure, search.Evidence{Unseen: 1}, true},
		{sure, search.Evidence{Unseen: 0.24, Numbers: 0.24}, true},
		{sure, search.Evidence{Unseen: 0.26, Numbers: 0.26}, false},
		{sure, search.Evidence{Unseen: 0.9, Numbers: 0.1}, false}, // half of the idf without unseen words
		{sure, search.Evidence{Unseen: 0.4, Numbers: 0.1}, true},
		{unsure, search.Evidence{Score: 1.5, Words: 1, Meaning: 1, Lead: 1}, false},
		{usual(), search.Evidence{Score: 1, Words: 0.9, Meaning: 0.8, Lead: 0.3, Length: 3}, true},
		{usual(), search.Evidence{Score: 0.3, Words: 0.1, Meaning: 0.2, Length: 3, Unseen: 0.8}, false},
	} {
		check.Equal(t, c.c.Answerable(&c.e), c.want, "%+v: answerable", c.e)
	}
}

// TestUnknownNumberLowersConfidence checks that a query with an unknown number gets no result of medium or high
// confidence.
func TestUnknownNumberLowersConfidence(t *testing.T) {
	sure := always(20, 20)
	check.Equal(t, sure.Confidence(&search.Evidence{Unseen: 0.1, Numbers: 0.1}, true), 0.5,
		"confidence with an unseen number")
	p := sure.Confidence(&search.Evidence{Unseen: 0.1}, true)
	check.That(t, p >= 0.99, "confidence %v with an unseen word, want more than 0.99", p)
}

func TestLevels(t *testing.T) {
	for confidence, want := range map[float64]search.Level{1: search.High, 0.85: search.High, 0.8499: search.Medium,
		0.60: search.Medium, 0.5999: search.Low, 0.30: search.Low, 0.2999: search.None, 0: search.None} {
		check.Equal(t, search.LevelOf(confidence), want, "%v", confidence)
	}
}

func TestCalibrationValid(t *testing.T) {
	for what, change := range map[string]func(c *search.Calibration){
		"weights of right":    func(c *search.Calibration) { c.Right.Weights = c.Right.Weights[1:] },
		"weights of answered": func(c *search.Calibration) { c.Answered.Weights = nil },
		"least above 1":       func(c *search.Calibration) { c.Least = 1.1 },
		"least below 0":       func(c *search.Calibration) { c.Least = -0.1 },
		"least":               func(c *search.Calibration) { c.Least = math.NaN() },
	} {
		c := usual()
		must.That(t, c.Valid(), "the calibration of the tests is not valid")
		change(c)
		check.That(t, !c.Valid(), "%s: %+v is valid", what, c)
	}
}

// TestAlternatives checks that a query of alternatives is answerable when the folder has one of them.
func TestAlternatives(t *testing.T) {
	s := calibrated(counting(t, animals()), always(-20, -20))
	for _, c := range []struct {
		text  string
		terms []string
		want  bool
	}{
		{"cat OR zebra", nil, true},
		{"cat OR zebra OR tapir OR okapi", nil, true},
		{"cat OR 4712", nil, true},
		{"(cat dog) OR zebra", nil, true},
		{"cat zebra tapir okapi", nil, false},
		{"zebra OR tapir", nil, false},
		{"cat 4712 OR cat 4714", nil, false},
		{"(cat 4712) OR (cat 4714)", nil, false},
		{"(cat zebra) OR tapir", nil, false},
		{"cat 4712", []string{"dog"}, false},
		{"zebra", []string{"cat"}, false},
	} {
		r := mustSearch(t, s, parsed(c.text), load(t, "sheaf"), search.Options{Terms: c.terms})
		if r.Answerable == nil || *r.Answerable != c.want {
			t.Errorf("%s with %v: answerable is %v, want %v", c.text, c.terms, *r.Answerable, c.want)
		}
	}
	uncounted := mustSearch(t, calibrated(searcher(animals()), always(-20, -20)), query("cat", 3), load(t, "sheaf"),
		search.Options{})
	check.That(t, !*uncounted.Answerable, "a query without alternatives is answerable")
}

// TestOneWord checks that a query of one word is answerable when the first result has the word. A
// rare code in a long text has little other evidence.
func TestOneWord(t *testing.T) {
	s := calibrated(counting(t, animals()), always(-20, -20))
	for text, want := range map[string]bool{"cat": true, "stone": true, "cat stone": false, "zebra": false, "4712": false,
		"cat zebra": false} {
		r := mustSearch(t, s, parsed(text), load(t, "sheaf"), search.Options{})
		check.Equal(t, *r.Answerable, want, "%s: answerable", text)
	}
}

// TestCalibrationBelongsToPipeline checks that a profile has a calibration because of what it
// computes, not because of its name. A changed pipeline has no confidence.
func TestCalibrationBelongsToPipeline(t *testing.T) {
	for _, c := range []struct {
		what string
		p    *profile.Profile
		want bool
	}{
		{"the default", load(t, "sheaf"), true},
		{"the default under another description", parse(t, "name: sheaf\nextends: sheaf\nabout: Mine.\n"), true},
		{"the default with a parameter as it is",
			parse(t, "name: mine\nextends: sheaf\nabout: Mine.\nparameters: {names: 0.35}\n"), true},
		{"another default of a parameter", parse(t, "name: sheaf\nextends: sheaf\nabout: Mine.\nparameters: {names: 0.9}\n"),
			false},
		{"another weight of a field", parse(t, "name: sheaf\nextends: sheaf\nabout: Mine.\nbranches:\n  words: {fields: "+
			"{title: 3}}\n"), false},
		{"other stages", parse(t, "name: sheaf\nextends: sheaf\nabout: Mine.\nthen: [{top: limit}]\n"), false},
		{"another profile", load(t, "rrf"), false},
	} {
		if got := search.ShippedCalibration(c.p, "sheaf-ml-1"); (got != nil) != c.want || got != nil && !got.Valid() {
			t.Errorf("%s: calibration %v, want %v", c.what, got, c.want)
		}
		got := search.ShippedCalibration(c.p, "another model")
		check.That(t, got == nil, "%s: calibration %v of another model", c.what, got)
	}
	s := calibrated(searcher(animals()), always(20, 20))
	for value, want := range map[string]bool{"": true, "0.35": true, "0.3": false} {
		o := search.Options{}
		if value != "" {
			o.Parameters = map[string]string{"names": value}
		}
		r := mustSearch(t, s, query("cat", 3), load(t, "sheaf"), o)
		if got := r.Hits[0].Confidence != nil; got != want || (r.Answerable != nil) != want {
			t.Errorf("names %q: confidence %v, answerable %v, want %v", value, got, r.Answerable != nil, want)
		}
	}
}
