package scan_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model/hashed"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/search/scan"
	"sheaf/store"
	"sheaf/text/analysis"
	"sheaf/text/query"
)

// folder creates a folder with these files.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "vault")
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Do(t, os.WriteFile(file, []byte(text), 0o644))
	}
	return root
}

func english(t testing.TB) *analysis.Analyzer {
	t.Helper()
	return must.Get(analysis.New(analysis.Options{Language: "en", StopWords: true}))
}

// searcher returns a searcher that scans a folder.
func searcher(t testing.TB, root string) *search.Searcher {
	t.Helper()
	s := must.Get(scan.New(scan.Options{Root: root, Analyzer: english(t), Embedder: hashed.New(64)}))
	return &search.Searcher{Scanner: s}
}

func tiered(t testing.TB) *profile.Profile {
	t.Helper()
	return must.Get(profile.Load("tiered", profile.Builtin))
}

// ask runs a typed query with the profile tiered.
func ask(t testing.TB, s *search.Searcher, text string, opt search.Options) *search.Result {
	t.Helper()
	return must.Get(s.Search(context.Background(), query.Parse(text, query.Options{Limit: 30}), tiered(t), opt))
}

func ids(r *search.Result) []string {
	out := []string{}
	for _, h := range r.Hits {
		out = append(out, strings.TrimPrefix(string(h.ID), "vault:"))
	}
	return out
}

// sections returns a note of n sections. Each is long enough for a chunk of its own.
func sections(n int, text string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "# Section %d\n\n%s\n\n%s\n\n", i, text, strings.Repeat("filler words of no interest. ", 150))
	}
	return b.String()
}

// TestPropertiesAreReplicated runs the example of the specification. Every chunk of a note has the note's properties:
// up to ten values of a list, without keys.
func TestPropertiesAreReplicated(t *testing.T) {
	front := "---\nauthor: Alice\nstatus: draft\npriority: 1\ntags: [project/web]\naliases: [Plan]\nlist: [v1, v2, v3, " +
		"v4, v5, v6, v7, v8, v9, v10, v11]\nnested: {inner: hidden}\nyear: 1987\ndone: true\nsince: 2024-05-06\nempty: " +
		"null\n---\n"
	s := searcher(t, folder(t, map[string]string{"project-notes.md": front + sections(3, "text"),
		"other.md": "Nothing of that.\n"}))
	all := []string{"project-notes.md#0", "project-notes.md#1", "project-notes.md#2"}
	for _, q := range []string{"Alice", "draft", "v10", "project", "Plan", "1987", "true", "2024-05-06"} {
		check.List(t, ids(ask(t, s, q, search.Options{})), all, "hits of %q", q)
	}
	check.List(t, ids(ask(t, s, "v11", search.Options{Parameters: map[string]string{"list_values": "11"}})), all,
		"hits of v11 of 11 values")
	for _, q := range []string{"author", "v11", "hidden", "null"} {
		check.Equal(t, len(ids(ask(t, s, q, search.Options{}))), 0, "hits of %q", q)
	}
}

// TestFrontmatterDepth checks that values in lists and maps within properties are found down to the
// depth of the profile. Keys and access lists are never found.
func TestFrontmatterDepth(t *testing.T) {
	front := "---\nauthor: &a {name: onyxname, places: [oslotown, [bergentown]]}\nmore: *a\nlist: [{of: deepmap}, " +
		"plainvalue]\n" +
		"empty: {x: null}\nquote: {text: |\n    blocktext\n  }\naccess: [[whoever]]\nloop: &l {self: *l}\n---\n"
	front = strings.Replace(front, "quote: {text: |\n    blocktext\n  }\n", "quote:\n  text: |\n    blocktext\n", 1)
	s := searcher(t, folder(t, map[string]string{"a.md": front + "# A\n\ntext\n", "b.md": "Nothing of that.\n"}))
	found := map[string]int{"plainvalue": 1, "onyxname": 2, "oslotown": 2, "deepmap": 2, "blocktext": 2, "bergentown": 3,
		"name": 0, "of": 0, "whoever": 0, "null": 0, "self": 0}
	for depth := 1; depth <= 4; depth++ {
		for word, from := range found {
			got := len(ids(ask(t, s, word,
				search.Options{Parameters: map[string]string{"frontmatter_depth": strconv.Itoa(depth)}})))
			check.Equal(t, got > 0, from > 0 && depth >= from,
				"depth %d: %q is found, which it is from depth %d on", depth, word, from)
		}
	}
}

// TestCandidates checks that every file with a word is a candidate, not only the first files. A
// word in the path counts twice. When there are too many files, the rarest words decide.
func TestCandidates(t *testing.T) {
	files := map[string]string{}
	for i := range 60 {
		files[fmt.Sprintf("a/common-%02d.md", i)] = "the common word\n"
	}
	files["z/rare.md"] = "a common word and a zebra\n"
	files["z/zebra crossing.md"] = "common\n"
	files["z/other.md"] = "nothing of that\n"
	s := searcher(t, folder(t, files))
	r := ask(t, s, "common zebra", search.Options{Parameters: map[string]string{"candidate_limit": "10"}})
	check.List(t, ids(r)[:2], []string{"z/zebra crossing.md#0", "z/rare.md#0"}, "first")
	c := r.Scanned
	check.That(t, c.Files == 63 && c.Matched == 62 && c.Candidates == 10 && c.Chunks == 10 &&
		strings.Contains(strings.Join(r.Notes, "\n"), "52 further files"), "%+v, notes %v", c, r.Notes)
	why, _ := c.WhyNot("vault:a/common-59.md")
	check.That(t, strings.Contains(why, "only the first 10 are candidates"), "why not: %s", why)
	why, _ = c.WhyNot("vault:z/rare.md")
	check.That(t, why == "", "a candidate has a reason not to be one: %s", why)
	for _, id := range []sheaf.ID{"vault:missing.md", "other:z/rare.md", "missing.md"} {
		why, err := c.WhyNot(id)
		check.That(t, errors.Is(err, sheaf.ErrNotFound), "why not %s: %q, %v", id, why, err)
	}
	why, _ = c.WhyNot("vault:z/other.md")
	check.That(t, strings.Contains(why, "holds any of: common"), "why not: %s", why)
}

// TestPathsComeFirst checks that a word in the path counts more than a word in the text.
func TestPathsComeFirst(t *testing.T) {
	files := map[string]string{"z/zebra.md": "stripes\n"}
	for i := range 20 {
		files[fmt.Sprintf("a/note-%02d.md", i)] = "a zebra, and another zebra\n"
	}
	r := ask(t, searcher(t, folder(t, files)), "zebra",
		search.Options{Parameters: map[string]string{"candidate_limit": "10"}})
	if why, _ := r.Scanned.WhyNot("vault:z/zebra.md"); why != "" || r.Scanned.Matched != 21 {
		t.Errorf("of %d files that hold the word the one called so is no candidate: %s", r.Scanned.Matched, why)
	}
}

// TestRecall checks that a scan finds other forms of words: inflections, accents, scripts without
// spaces, single characters, prefixes, misspellings, phrases.
func TestRecall(t *testing.T) {
	files := map[string]string{
		"verbs.md":   "It was configured by hand.\n",
		"accents.md": "Ein Café in Zürich. Привет мир.\n",
		"cjk.md":     "日本語の文書を検索する\n",
		"plural.md":  "All cities are busy.\n",
		"short.md":   "x is short\n",
		"pony.md":    "One pony and a kangaroo.\n",
		"other.md":   "nothing here\n",
	}
	s := searcher(t, folder(t, files))
	for q, want := range map[string]string{
		"configuring": "verbs.md#0", "cafe": "accents.md#0", "ПРИВЕТ": "accents.md#0", "zurich": "accents.md#0",
		"文書": "cjk.md#0", "検": "cjk.md#0",
		"city": "plural.md#0", "ponies": "pony.md#0", "kxngarxo~": "pony.md#0", "x": "short.md#0", "confi*": "verbs.md#0",
		"configuerd~": "verbs.md#0", `"by hand"`: "verbs.md#0",
	} {
		check.List(t, ids(ask(t, s, q, search.Options{})), []string{want}, "hits of %q", q)
	}
	check.Equal(t, len(ids(ask(t, s, "busy -cities", search.Options{}))), 0, "hits of a forbidden word")
}

// TestFilterComesBeforeTheLimit checks that excluded files do not take the place of a wanted file.
func TestFilterComesBeforeTheLimit(t *testing.T) {
	files := map[string]string{"last/wanted.md": "---\ntags: [keep]\n---\nword\n"}
	for i := range 30 {
		files[fmt.Sprintf("a/%02d.md", i)] = "---\ntags: [drop]\n---\nword and stone\n"
	}
	s := searcher(t, folder(t, files))
	for _, query := range []string{"word tag:keep", "word -tag:drop", "word -stone", "(word -stone) OR missing",
		`word -"and stone"`, "word -stones"} {
		r := ask(t, s, query, search.Options{Parameters: map[string]string{"candidate_limit": "10"}})
		check.List(t, ids(r), []string{"last/wanted.md#0"}, "%s", query)
	}
	// A file that lacks the wanted words is no candidate, even if it lacks the forbidden word.
	check.Equal(t, ask(t, s, "missing -stone", search.Options{}).Scanned.Matched, 0, "files that match")
	// A section without the forbidden word is found, even if another section of the file has it.
	s = searcher(t, folder(t, map[string]string{"a.md": "# One\n\nword\n\n# Two\n\nstone\n" +
		strings.Repeat("filler ", 30)}))
	check.List(t, ids(ask(t, s, "word -stone",
		search.Options{Parameters: map[string]string{"chunk_chars": "100"}})), []string{"a.md#0"}, "found")
}

// TestFolderSizesAndLinks checks that folder sizes count every file, and that links connect candidates.
func TestFolderSizesAndLinks(t *testing.T) {
	r := ask(t, searcher(t, folder(t, map[string]string{
		"f/a.md": "word [[b]]\n", "f/b.md": "word\n", "f/unrelated.md": "other\n", "c.md": "---\ndate: " +
			"2024-05-06\n---\nword [x](f/a.md)\n",
	})), "word", search.Options{})
	facts := r.Scanned.Facts
	check.Equal(t, facts.FolderSize("vault", "f"), 3, "files in the folder")
	check.Equal(t, facts.FolderSize("vault", ""), 1, "files at the top")
	check.List(t, facts.Links("vault:f/a.md"), []sheaf.ID{"vault:f/b.md"}, "links")
	check.List(t, facts.Backlinks("vault:f/a.md"), []sheaf.ID{"vault:c.md"}, "backlinks")
	o := facts.Outline("vault:c.md")
	check.That(t, o != nil && o.Date.Time.Format(time.DateOnly) == "2024-05-06", "outline %+v", o)
	if text, err := r.Scanned.Text("vault:f/b.md#0"); err != nil || text != "word\n" {
		t.Errorf("text %q, %v", text, err)
	}
	check.Is(t, must.Err(r.Scanned.Text("vault:none#0")), sheaf.ErrNotFound, "no text")
	view, err := r.Scanned.Catalog()
	must.That(t, err == nil && view.Docs() == 3, "%v", err)
	text, err := view.Text("vault:f/b.md")
	check.That(t, err == nil && string(text) == "word\n", "text %q, %v", text, err)
}

// TestLinksToOtherFiles checks that a link to a file that is no candidate does not lead to an equally named
// candidate. The scan stores other files' names only if a candidate has the same name.
func TestLinksToOtherFiles(t *testing.T) {
	r := ask(t, searcher(t, folder(t, map[string]string{
		"a.md":      "word [[Plan]] [[v1.2]] [[Other]] [[x/Twice]] [[Unlike]] [u](f/unlike.md)\n",
		"b.md":      "---\naliases: [plan, v1.2, other, x/twice]\n---\nword\n",
		"f/plan.md": "nothing\n", "f/v1.2.md": "nothing\n", "f/x/Twice.md": "nothing\n", "f/unlike.md": "nothing\n",
	})), "word", search.Options{})
	view, err := r.Scanned.Catalog()
	must.That(t, err == nil && view.Docs() == 2, "candidates: %v", err)
	facts := r.Scanned.Facts
	links := facts.Links("vault:a.md")
	check.That(t, slices.Equal(links, []sheaf.ID{"vault:b.md", "vault:f/plan.md", "vault:f/v1.2.md",
		"vault:f/x/Twice.md"}), "links %v", links)
	_, ok := facts.Document("vault:f/plan.md")
	check.That(t, !ok, "a file that is no candidate is a document")
}

// TestChangesAreSeen checks that a changed file is cut again although it was cached, and that a
// deleted file disappears. The cache does not change answers.
func TestChangesAreSeen(t *testing.T) {
	root := folder(t, map[string]string{"a.md": "first word\n", "b.md": "word\n"})
	s := searcher(t, root)
	before := ask(t, s, "word", search.Options{})
	again := ask(t, s, "word", search.Options{})
	check.That(t, slices.Equal(ids(again), ids(before)), "the second time: %v, then %v", ids(before), ids(again))
	must.Do(t, os.WriteFile(filepath.Join(root, "a.md"), []byte("second word, and longer\n"), 0o644))
	must.Do(t, os.Remove(filepath.Join(root, "b.md")))
	check.List(t, ids(ask(t, s, "word", search.Options{})), []string{"a.md#0"}, "after the change")
	check.Equal(t, len(ids(ask(t, s, "first", search.Options{}))), 0, "hits of the old text")
	// A query finds the current sections, even if the change kept the size of the file.
	now := func(found, not string) {
		t.Helper()
		check.List(t, ids(ask(t, s, "+word +"+found, search.Options{})), []string{"a.md#0"}, "hits of %q", found)
		check.Equal(t, len(ids(ask(t, s, "+word +"+not, search.Options{}))), 0, "hits of %q", not)
	}
	now("second", "first")
	name := filepath.Join(root, "a.md")
	must.Do(t, os.WriteFile(name, []byte("fourth word, and longer\n"), 0o644))
	must.Do(t, os.Chtimes(name, time.Time{}, time.Now().Add(time.Minute)))
	now("fourth", "second")
	// A query finds the current sections, even if the change kept the time.
	was := must.Get(os.Stat(name))
	must.Do(t, os.WriteFile(name, []byte("fifth word\n"), 0o644))
	must.Do(t, os.Chtimes(name, time.Time{}, was.ModTime()))
	now("fifth", "fourth")
}

// TestMeaningFindsOnlyCandidates checks that a search by meaning finds only candidates.
func TestMeaningFindsOnlyCandidates(t *testing.T) {
	s := searcher(t, folder(t, map[string]string{"a.md": "alpha beta\n", "b.md": "gamma delta\n",
		"c.md": "alpha gamma\n"}))
	e := hashed.New(64)
	s.Embed = func(ctx context.Context, texts []string) ([][]float32, error) { return e.Embed(ctx, 1, texts) }
	r := ask(t, s, "alpha", search.Options{Parameters: map[string]string{"semantic": "1"}})
	got := ids(r)
	check.That(t, len(got) == 2 && slices.Contains(got, "a.md#0") && slices.Contains(got, "c.md#0"), "found %v", got)
	check.List(t, r.Legs, []string{"words", "meaning"}, "legs")
	for weight, want := range map[string]string{"0": "words", "1": "meaning"} {
		r := ask(t, s, "alpha", search.Options{Explain: true,
			Parameters: map[string]string{"semantic": "1", "semantic_weight": weight}})
		check.List(t, r.Legs, []string{want}, "weight %s: legs", weight)
		check.List(t, slices.Sorted(slices.Values(ids(r))), []string{"a.md#0", "c.md#0"}, "weight %s: found", weight)
		check.Equal(t, search.SignalsOf(&r.Hits[0]).FolderBoost != nil, weight == "0",
			"weight %s: boosted by the folder", weight)
		for _, step := range r.Took {
			check.That(t, weight != "0" || step.Step != "embed" && step.Step != "scan: embed",
				"vectors are computed although meaning counts nothing")
		}
	}
}

// TestBounds checks every parameter of the specification: the default, both ends of the range, and
// an error outside of it. It checks the limit of results, too.
func TestBounds(t *testing.T) {
	s, p := searcher(t, folder(t, map[string]string{"a.md": "word\n"})), tiered(t)
	table := map[string]struct{ standard, least, most float64 }{
		"semantic": {0, 0, 1}, "semantic_weight": {0.6, 0, 1}, "candidate_limit": {500, 10, 1000}, "rrf_k": {60, 1, 100},
		"lexical_boosts": {1, 0, 1},
		"chunk_chars":    {6000, 100, 100_000}, "list_values": {10, 0, 1000}, "memory_mb": {100, 20, 1000},
		"variants": {3, 0, 10}, "expansion_timeout": {5, 0.001, 60},
		"min_similarity": {0.75, 0, 1}, "graph_candidates": {10, 2, 1000}, "graph_strength": {0.1, 0, 1},
		"max_boost": {1.15, 1, 10}, "frontmatter_depth": {1, 1, 10},
	}
	choices := map[string][]string{"normalization": {"minmax", "tanh"}} // the first is the default
	check.Equal(t, len(p.Parameters), len(table)+len(choices), "parameters")
	set := func(name string, value any) error {
		_, err := s.Search(context.Background(), query.Parse("word", query.Options{Limit: 5}), p,
			search.Options{Parameters: map[string]string{name: fmt.Sprint(value)}})
		return err
	}
	for _, parameter := range p.Parameters {
		if values := choices[parameter.Name]; values != nil {
			for _, value := range values {
				if err := set(parameter.Name, value); err != nil || parameter.Default != values[0] {
					t.Errorf("%s=%s: %v, default %s", parameter.Name, value, err, parameter.Default)
				}
			}
			check.Is(t, set(parameter.Name, "much"), sheaf.ErrInvalid, "%s=much", parameter.Name)
			continue
		}
		name, want := parameter.Name, table[parameter.Name]
		if parameter.Default != fmt.Sprint(want.standard) || parameter.Min != want.least || parameter.Max != want.most {
			t.Errorf("%s is %s within %v..%v, want %v", name, parameter.Default, parameter.Min, parameter.Max, want)
		}
		for _, end := range []float64{want.least, want.most} {
			check.NoError(t, set(name, end), "%s=%v", name, end)
		}
		beyond := []any{want.least - 1, want.most + 1, "NaN", "", "much"}
		if parameter.Integer() {
			beyond = append(beyond, want.least+0.5)
		}
		for _, value := range beyond {
			err := set(name, value)
			check.That(t, errors.Is(err, sheaf.ErrInvalid) && strings.Contains(err.Error(), name) &&
				strings.Contains(err.Error(), parameter.Range()), "%s=%v: %v", name, value, err)
		}
	}
	check.NoError(t, must.Err(s.Search(context.Background(), query.Parse("word", query.Options{Limit: 100}), p,
		search.Options{})), "limit 100")
	for _, limit := range []int{0, 101} {
		check.Fails(t, must.Err(s.Search(context.Background(), query.Parse("word", query.Options{Limit: limit}), p,
			search.Options{})), sheaf.ErrInvalid, "1..100", "limit %d", limit)
	}
	check.Equal(t, p.DefaultLimit(nil), 30, "default limit")
}

// heap returns the bytes in use on the heap.
func heap() int64 {
	runtime.GC()
	runtime.GC() // free what finalizers of the first run released
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestMemoryIsBounded checks that a scan drops the lowest-ranked files when memory is full, and
// adds a note. The bound holds for many sections and for long texts.
func TestMemoryIsBounded(t *testing.T) {
	var manySections, longText strings.Builder
	for i := range 500 {
		fmt.Fprintf(&manySections, "## About %d\n\nA word of [[note %d]] and the rest of it. #tag%d\n\n", i, i, i)
	}
	longText.WriteString(strings.Repeat("A word in a long text that goes on and on. ", 10_000))
	for name, text := range map[string]string{"sections": manySections.String(), "text": longText.String()} {
		files := map[string]string{}
		for i := range 64 {
			files[fmt.Sprintf("%02d.md", i)] = text
		}
		root := folder(t, files)
		for _, megabytes := range []int64{10, 20, 100} {
			words := english(t)
			words.QueryTokens("word") // fill the global cache of words first
			s := must.Get(scan.New(scan.Options{Root: root, Analyzer: words}))
			before := heap()
			found := must.Get(s.Scan(context.Background(),
				search.ScanRequest{Queries: []string{"word"}, Words: sheaf.Match{Text: "word"}, Limits: profile.Scan{
					Files: 100, ChunkChars: 6000, MemoryBytes: megabytes << 20, MaxVectors: 1}}))
			used := heap() - before
			t.Logf("%s, %d MB: %d files, %d chunks, %.1f MB", name, megabytes, found.Candidates, found.Chunks,
				float64(used)/(1<<20))
			check.That(t, used <= megabytes<<20, "%s: %d bytes are used of %d MB", name, used, megabytes)
			whole := found.Candidates == 64
			told := strings.Contains(strings.Join(found.Notes, "\n"), "the index is full")
			check.That(t, told != whole, "%s, %d MB: %d candidates, notes %v", name, megabytes, found.Candidates, found.Notes)
			want := name == "text" || megabytes == 100
			check.That(t, whole == want, "%s, %d MB: %d of 64 files are candidates", name, megabytes, found.Candidates)
			text, err := found.Text("vault:00.md#1")
			check.That(t, err == nil && strings.Contains(text, "word"), "%s: text %q, %v", name, text, err)
			runtime.KeepAlive(s)
		}
	}
}

// TestFirstFileIsAlwaysTaken checks that the best file is a candidate at any size. The next file
// does not fit, and a note says so.
func TestFirstFileIsAlwaysTaken(t *testing.T) {
	var long strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&long, "## About %d\n\nA word.\n\n", i)
	}
	s := must.Get(scan.New(scan.Options{Root: folder(t, map[string]string{"a.md": long.String(), "b.md": long.String()}),
		Tree: "vault", Analyzer: english(t)}))
	r, err := s.Scan(t.Context(), search.ScanRequest{Queries: []string{"word"}, Words: sheaf.Match{Text: "word"},
		Limits: profile.Scan{Files: 10, ChunkChars: 100, MemoryBytes: 1 << 20}})
	if err != nil || r.Candidates != 1 || r.Chunks < 1000 ||
		!slices.ContainsFunc(r.Notes, func(n string) bool {
			return strings.HasPrefix(n, "the index is full after 1 files: 1 further")
		}) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestRequestsAreChecked(t *testing.T) {
	s := must.Get(scan.New(scan.Options{Root: t.TempDir(), Analyzer: english(t)}))
	limits := func(files int, memory int64) profile.Scan { return profile.Scan{Files: files, MemoryBytes: memory} }
	for _, bad := range []search.ScanRequest{{Limits: limits(0, 2<<20)}, {Limits: limits(5, 1)},
		{Limits: limits(5, 2<<20), Queries: make([]string, 17)},
		{Limits: limits(10_001, 2<<20)}, {Limits: limits(5, 1000<<20+1)},
		{Limits: limits(5, 1<<20-1)}} {
		check.Is(t, must.Err(s.Scan(context.Background(), bad)), sheaf.ErrInvalid, "%+v", bad)
	}
	for _, good := range []search.ScanRequest{{Limits: limits(1, 1<<20), Queries: make([]string, 16)},
		{Limits: limits(10_000, 1000<<20)}} {
		check.NoError(t, must.Err(s.Scan(context.Background(), good)), "at the bounds: %+v", good)
	}
}

// TestOddFiles checks files that are binary, empty, invalid UTF-8 or UTF-16.
func TestOddFiles(t *testing.T) {
	root := folder(t, map[string]string{
		"binary.md": "word\x00\x01\x02\x00\x00\x00\x00\x00\x00\x00", "utf16.md": "\xff\xfew\x00o\x00r\x00d\x00\n\x00",
		"empty.md": "", "blank.md": " \n", "bad.md": "word \xff\xfe word\n",
		"frontmatter.md": "---\ntitle: word\n---\n", "hash#0.md": "word\n",
	})
	got := ids(ask(t, searcher(t, root), "word", search.Options{}))
	slices.Sort(got)
	want := []string{"bad.md#0", "frontmatter.md#0", "hash#0.md#0", "utf16.md#0"}
	check.That(t, slices.Equal(got, want), "found %v, want %v", got, want)
	_, err := searcher(t, filepath.Join(root, "missing")).Search(context.Background(),
		query.Parse("x", query.Options{Limit: 1}), tiered(t), search.Options{})
	check.That(t, err != nil && strings.Contains(err.Error(), "missing"), "no folder: %v", err)
	for _, q := range []string{"", "   ", "-word", "tag:x", strings.Repeat("long ", 5000)} {
		ask(t, searcher(t, root), q, search.Options{})
	}
}

// TestQueriesAtOnce checks that concurrent queries give right answers while files change.
func TestQueriesAtOnce(t *testing.T) {
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("%02d.md", i)] = fmt.Sprintf("common w%cx%c\n", 'a'+i/10, 'a'+i%10)
	}
	root := folder(t, files)
	s := searcher(t, root)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 5 {
				n := (i*7 + j) % 50
				r, err := s.Search(context.Background(),
					query.Parse(fmt.Sprintf("w%cx%c", 'a'+n/10, 'a'+n%10), query.Options{Limit: 5}), tiered(t),
					search.Options{Parameters: map[string]string{"semantic": "0"}})
				check.That(t, err == nil && len(r.Hits) == 1 && string(r.Hits[0].ID) == fmt.Sprintf("vault:%02d.md#0", n),
					"word of note %d: %v, %v", n, ids(r), err)
			}
		})
	}
	group.Go(func() {
		for i := range 20 {
			if err := os.WriteFile(filepath.Join(root, "changing.md"), []byte(strings.Repeat("other ", i)), 0o644); err != nil {
				t.Error(err)
			}
		}
	})
	group.Wait()
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := searcher(t, folder(t, map[string]string{"a.md": "word\n"})).Search(ctx,
		query.Parse("word", query.Options{Limit: 5}), tiered(t), search.Options{})
	check.Is(t, err, context.Canceled, "canceled")
}

// TestFieldsOfSections checks that title, heading and path of a section match, each with its weight.
func TestFieldsOfSections(t *testing.T) {
	long := strings.Repeat("word ", 30)
	s := searcher(t, folder(t, map[string]string{"barn/stable.md": "---\ntitle: Animals\n---\n# Horses\n\n" + long +
		"\n\n# Zebras\n\n" + long + "\n"}))
	for query, want := range map[string]search.LexicalMatch{
		"animals": {Field: sheaf.FieldTitle, Query: "anim", Weight: 3},
		"zebras":  {Field: sheaf.FieldHierarchy, Query: "zebra", Weight: 2.5},
		"barn":    {Field: sheaf.FieldPath, Query: "barn", Weight: 2},
	} {
		r := ask(t, s, query, search.Options{Explain: true, Parameters: map[string]string{"chunk_chars": "100"}})
		matched := 0
		for i := range r.Hits {
			if slices.Contains(search.SignalsOf(&r.Hits[i]).LexicalMatches, want) {
				matched++
			}
		}
		if own := want.Field == sheaf.FieldHierarchy; matched == 0 || (matched < r.Scanned.Chunks) != own {
			t.Errorf("%s: %d of %d sections match %+v", query, matched, r.Scanned.Chunks, want)
		}
	}
	// The title of a note without headings matches only as a title.
	r := ask(t, searcher(t, folder(t, map[string]string{"a.md": "---\ntitle: Goats\n---\nword\n"})), "goats",
		search.Options{Explain: true})
	must.Equal(t, len(r.Hits), 1, "found")
	for _, m := range search.SignalsOf(&r.Hits[0]).LexicalMatches {
		check.Equal(t, m.Field, sheaf.FieldTitle, "field of the title")
	}
}

// TestLabelsAreNotSearched checks that labels of the program and keys of frontmatter are not
// searched. A tag does not match a longer tag that starts the same.
func TestLabelsAreNotSearched(t *testing.T) {
	s := searcher(t, folder(t, map[string]string{
		"a.md": "---\nauthor: Alice\n---\nTwo birds. #pro #project\n", "b.md": "# Fish\n\nOne carp. #project/sea\n",
		"c.md": "---\nwriter: Carol\n---\n",
	}))
	for query, want := range map[string]int{
		"note title block content metadata": 0, "author": 0, "frontmatter": 0, "alice": 1, "#pro": 1, "#project": 2,
		"#project/sea": 1, "ject": 0,
		"writer": 0, "carol": 1, "md": 0,
	} {
		check.Equal(t, len(ask(t, s, query, search.Options{}).Hits), want, "%s: found", query)
	}
}

// TestSignals checks that the explanation has the names and values of the specification, including
// the score before normalization.
func TestSignals(t *testing.T) {
	s := searcher(t, folder(t, map[string]string{
		"nextjs/auth.md": "OAuth for the app. #web\n", "nextjs/oauth config.md": "How to configure. See [[auth]]. #web\n",
		"other/x.md": "OAuth elsewhere\n",
		"other/1.md": "-\n", "other/2.md": "-\n", "other/3.md": "-\n",
	}))
	e := hashed.New(64)
	s.Embed = func(ctx context.Context, texts []string) ([][]float32, error) { return e.Embed(ctx, 1, texts) }
	r := ask(t, s, "oauth", search.Options{Explain: true,
		Parameters: map[string]string{"semantic": "1", "min_similarity": "0"}})
	for _, h := range r.Hits {
		if math.Abs(h.Explanation.Recombine()-h.Score) > 1e-9 {
			t.Errorf("%s scores %v, its parts give %v", h.ID, h.Score, h.Explanation.Recombine())
		}
	}
	i := slices.IndexFunc(r.Hits, func(h search.Hit) bool { return h.ID == "vault:nextjs/auth.md#0" })
	signals := search.SignalsOf(&r.Hits[i])
	want := (search.LexicalMatch{Field: sheaf.FieldBody, Query: "oauth", Weight: 1})
	check.That(t, slices.Contains(signals.LexicalMatches, want), "lexical matches %+v", signals.LexicalMatches)
	f := signals.FolderBoost
	check.That(t, f != nil && *f == (search.FolderSignal{Folder: "nextjs", DocumentCount: 2, TotalDocsInFolder: 2,
		RelevanceRatio: 1, BoostFactor: 1.15}), "folder %+v", f)
	g := signals.GraphConnections
	check.That(t, g != nil && g.Backlinks == 1 && g.SharedTags == 1 && g.Score == 1.3 &&
		math.Abs(g.BoostMultiplier-(1+0.1*math.Log(2.3))) <= 1e-12, "graph %+v", g)
	check.That(t, signals.SemanticScore != nil && signals.FinalScore == r.Hits[i].Score &&
		signals.BaseScore != signals.FinalScore && signals.BaseScore <= 2.0/61, "%+v", signals)
	check.Equal(t, signals.Engine, "rrf", "engine")
	for weight, want := range map[string]string{"0": "fulltext", "1": "semantic"} {
		r := ask(t, s, "oauth", search.Options{Explain: true,
			Parameters: map[string]string{"semantic": "1", "semantic_weight": weight, "min_similarity": "0"}})
		check.Equal(t, search.SignalsOf(&r.Hits[0]).Engine, want, "weight of meaning %s: engine", weight)
	}
	if r := ask(t, s, "tag:web", search.Options{Explain: true}); search.SignalsOf(&r.Hits[0]).Engine != "fulltext" {
		t.Errorf("filters alone: %+v", search.SignalsOf(&r.Hits[0]))
	}
	text, err := json.Marshal(signals)
	for _, name := range []string{"lexicalMatches", "field", "query", "weight", "semanticScore", "folderBoost",
		"documentCount", "totalDocsInFolder", "relevanceRatio", "boostFactor",
		"engine", "graphConnections", "backlinks", "coCitations", "sharedTags", "score", "boostMultiplier", "baseScore",
		"finalScore"} {
		check.That(t, err == nil && strings.Contains(string(text), `"`+name+`":`), "%s is missing in %s", name, text)
	}
	check.That(t, search.SignalsOf(&search.Hit{}) == nil, "signals without an explanation")
}

// TestOnlyTheFirstHaveVectors checks that only the allowed number of sections has vectors, in whole
// files, and that a note says so.
func TestOnlyTheFirstHaveVectors(t *testing.T) {
	root := folder(t, map[string]string{"a.md": "alpha\n", "b.md": "alpha\n", "c.md": "alpha\n"})
	s := must.Get(scan.New(scan.Options{Root: root, Tree: "vault", Analyzer: english(t), Embedder: hashed.New(64)}))
	vector := make([]float32, 64)
	vector[0] = 1
	for most, told := range map[int]bool{2: true, 3: false} {
		r := must.Get(s.Scan(t.Context(), search.ScanRequest{Queries: []string{"alpha"}, Words: sheaf.Match{Text: "alpha"},
			Vectors: true,
			Limits:  profile.Scan{Files: 10, ChunkChars: 6000, MemoryBytes: 20 << 20, MaxVectors: most}}))
		hits, err := r.Backend.Retrieve(t.Context(),
			store.Request{Limit: 10, Vector: &store.VectorRequest{Field: store.VectorBody, Vector: vector}})
		check.That(t, err == nil && len(hits) == most && r.Chunks == 3,
			"%d of %d sections have vectors, want %d: %v", len(hits), r.Chunks, most, err)
		check.Equal(t, slices.Contains(r.Notes, "the first 2 of 3 chunks have vectors"), told,
			"at most %d: notes %q", most, r.Notes)
	}
	// A file with more sections than the limit allows gets no vectors.
	long := "## One\n\n" + strings.Repeat("alpha ", 30) + "\n\n## Two\n\n" + strings.Repeat("alpha ", 30) + "\n"
	s = must.Get(scan.New(scan.Options{Root: folder(t, map[string]string{"a.md": "alpha\n", "b.md": long}), Tree: "vault",
		Analyzer: english(t), Embedder: hashed.New(64)}))
	for most, want := range map[int]int{2: 1, 3: 3} {
		r := must.Get(s.Scan(t.Context(), search.ScanRequest{Queries: []string{"alpha"}, Words: sheaf.Match{Text: "alpha"},
			Vectors: true,
			Limits:  profile.Scan{Files: 10, ChunkChars: 200, MemoryBytes: 20 << 20, MaxVectors: most}}))
		hits, err := r.Backend.Retrieve(t.Context(),
			store.Request{Limit: 10, Vector: &store.VectorRequest{Field: store.VectorBody, Vector: vector}})
		check.That(t, err == nil && len(hits) == want && r.Chunks == 3,
			"at most %d: %d of %d sections have vectors, want %d: %v", most, len(hits), r.Chunks, want, err)
	}
}
