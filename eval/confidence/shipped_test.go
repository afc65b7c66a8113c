package confidence_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sheaf/eval/calibrate"
	"sheaf/internal/must"
	"sheaf/profile"
	"sheaf/search"
	words "sheaf/text/query"
)

// expected is the required result for a query.
type expected struct {
	query      string
	answerable bool
	high       bool // confidence of the first result
}

// folders are folders with queries that every shipped calibration must get right.
var folders = []struct {
	name    string
	files   map[string]string // nil for the documentation of this repository
	queries []expected
}{
	{"tickets", notes("Ticket 471%[2]d", "%[1]s. It was reported on Monday.", "The printer on the second floor jams",
		"The login page shows an empty window", "The export of invoices stops half way",
		"The search box loses the last letter", "The backup takes longer than one night",
		"The phone in the lobby does not ring"), []expected{
		{"ticket 4713", true, false},
		{"Ticket 4713", true, false},
		{"4713", true, false},
		{"ticket 4712", false, false},
		{"4712", false, false},
		{"what happened to ticket 4712", false, false},
		{"ticket #4712", false, false},
		{"ticket 4712 OR ticket 4720", false, false},
		{"ticket 4712 OR ticket 4713", true, false},
		{"ticket -4712", true, false},
		{"how do I bake sourdough bread", false, false},
		{"who won the football championship", false, false},
	}},
	{"people", notes("%[1]s", "Phone number of %[1]s: 555 010%[2]d. Lives in the town by the river.", "Alice Miller",
		"Bob Carter", "Carol Jones", "David Smith", "Erin Walker", "Frank Young"), []expected{
		{"Alice Miller", true, true},
		{"phone number of Alice Miller", true, false},
		{"Beeblebrox", false, false},
		{"Zaphod Beeblebrox", false, false},
		{"phone number of Zaphod Beeblebrox", false, false},
		{"where does Zaphod Beeblebrox live", false, false},
	}},
	{"programs", notes("Install %[1]s %[2]d", "Download %[1]s and run the installer.", "Python", "Perl", "Lua", "Erlang",
		"Haskell", "Prolog"), []expected{
		{"python3 install", true, false}, // the folder has the parts of the compound
		{"ruby4 install", false, false},
	}},
	{"versions", map[string]string{
		"error.md": "# Error E1001\n\nVersion 2.3.1 has CVE-2021-44228 in chapter 5.\n",
		"call.md":  "# Call +49 30 123456\n\nMail to anna@example.org about invoice 2021/17.\n",
		"room.md":  "# Room 18\n\nThe lamp of room 18 is broken.\n",
		"week.md":  "# Week 44\n\nMeeting about billing and hiring.\n",
		"tea.md":   "# Tea\n\nGreen tea needs 3 minutes.\n",
		"bus.md":   "# Bus\n\nThe bus to the harbor leaves at seven.\n",
	}, []expected{
		{"version 2.3.1", true, false},
		{"CVE-2021-44228", true, false},
		{"invoice 2021/17", true, false},
		{"version 2.3.2", false, false}, // the folder has all parts, in this and in other numbers
		{"chapter 6", false, false},
		{"CVE-2021-44229", false, false},
		{"invoice 2021/19", false, false},
	}},
	{"documentation", nil, []expected{
		{"Stores", true, true},
		{"How the index recovers from damage", true, false},
		{"a store that cannot count words", true, false},
		{"recipe for tomato soup with basil", false, false},
		{"symptoms of influenza in small children", false, false},
		{"cheap flights to Lisbon in summer", false, false},
	}},
}

// notes returns a note for each thing. title and text get the thing and its number, from 3 on.
func notes(title, text string, things ...string) map[string]string {
	files := map[string]string{}
	for i, thing := range things {
		files[fmt.Sprintf("%d.md", i)] = fmt.Sprintf("# "+title+"\n\n"+text+"\n", thing, i+3)
	}
	return files
}

// faults returns the mistakes of a calibration.
func faults(t *testing.T, c *search.Calibration) []string {
	t.Helper()
	var out []string
	for _, f := range folders {
		folder := pages
		if f.files != nil {
			folder = t.TempDir()
			for name, text := range f.files {
				must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
			}
		}
		s := openFolder(t, folder).Searcher
		s.Confidence = func(*profile.Profile) *search.Calibration { return c }
		for _, q := range f.queries {
			r, err := s.Search(t.Context(), words.Parse(q.query, words.Options{Limit: 5}), load(t, "sheaf"), search.Options{})
			must.Do(t, err)
			say := func(format string, args ...any) {
				out = append(out, f.name+": "+q.query+": "+fmt.Sprintf(format, args...))
			}
			if *r.Answerable != q.answerable {
				e := search.Evidence{}
				if len(r.Hits) > 0 {
					e = *r.Hits[0].Evidence
				}
				say("answerable is %v, by %+v", *r.Answerable, e)
			}
			for i, h := range r.Hits {
				switch {
				case !q.answerable && (h.Level != search.None || *h.Confidence >= 0.30):
					say("result %d has confidence %v, %s", i+1, *h.Confidence, h.Level)
				case i == 0 && q.high && h.Level != search.High:
					say("the first result has confidence %v, %s, by %+v", *h.Confidence, h.Level, *h.Evidence)
				}
			}
		}
	}
	return out
}

// TestShipped checks what users need. An exact title is high. A query about another subject, or with an unknown
// number or name, is not answerable. The rules of search ensure this for any typical calibration.
func TestShipped(t *testing.T) {
	for name, c := range map[string]*search.Calibration{
		"shipped": search.ShippedCalibration(load(t, "sheaf"), "sheaf-ml-1"),
		"typical": {
			Right:    calibrate.Logistic{Bias: -3.5, Weights: []float64{1.7, -1.1, 1.2, 5.6, -1.9, 0.8, -1.1}},
			Answered: calibrate.Logistic{Bias: -8.1, Weights: []float64{2.1, 6, 5.8, -0.2, 0, 2.5, -0.7}},
			Least:    0.17,
		},
	} {
		must.That(t, c != nil && c.Valid(), "the %s calibration is %+v", name, c)
		for _, fault := range faults(t, c) {
			t.Errorf("%s: %s", name, fault)
		}
	}
}
