package catalog_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/text/unicode/norm"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store/storetest"
)

// collection is a model of the catalog that resolves a link by trying every document.
type collection map[sheaf.ID]catalog.Record

func folded(s string) string { return norm.NFC.String(strings.ToLower(s)) }

func withoutEnding(s string) string {
	for _, ending := range []string{".md", ".markdown", ".mdx"} {
		if t := strings.TrimSuffix(s, ending); t != s && t != "" && !strings.HasSuffix(t, "/") {
			return t
		}
	}
	return s
}

// at returns the document at a path, for a link whose spelling is full.
func (c collection) at(p, full string) (best sheaf.ID) {
	score := func(id sheaf.ID) int {
		own := strings.TrimPrefix(string(id), "notes:")
		switch {
		case full != "" && own == full:
			return 0
		case full != "" && strings.HasPrefix(own, full):
			return 1
		}
		return 2
	}
	for id := range c {
		own := folded(strings.TrimPrefix(string(id), "notes:"))
		if own != p && (withoutEnding(p) != p || withoutEnding(own) != p) {
			continue
		}
		if best == "" || score(id) < score(best) || score(id) == score(best) && id < best {
			best = id
		}
	}
	return best
}

// page returns the source path of an HTML page, or "" for other paths.
func page(p string) string {
	source, ok := strings.CutSuffix(p, ".html")
	if !ok || source == "" || strings.HasSuffix(source, "/") || withoutEnding(source) != source {
		return ""
	}
	return source
}

// byPath returns the document at a folded path.
func (c collection) byPath(p, full string) sheaf.ID {
	if id := c.at(p, full); id != "" {
		return id
	}
	for _, name := range []string{"readme", "index", "_index"} {
		if id := c.at(path.Join(p, name), ""); id != "" && withoutEnding(p) == p {
			return id
		}
	}
	if source := page(p); source != "" {
		return c.at(source, "")
	}
	return ""
}

// question matches the query part of a target; named matches targets whose file name holds a
// question mark.
var question, named = regexp.MustCompile(`(?i)^(|[^?]*/|[^?]*[^/?]\.(?:md|markdown|mdx|html))\?.*`),
	regexp.MustCompile(`(?i)\?([^=]*[^/=])?\.(?:md|markdown|mdx)$`)

func (c collection) resolve(from sheaf.ID, l sheaf.Link) sheaf.ID {
	if l.Kind == sheaf.LinkMarkdown {
		l.Target = strings.TrimPrefix(l.Target, "@")
		if !named.MatchString(l.Target) {
			l.Target = question.ReplaceAllString(l.Target, "$1")
		}
	}
	if l.Target == "" || strings.HasPrefix(l.Target, "//") || strings.Contains(l.Target, "://") { // a link to another host
		return ""
	}
	file := strings.TrimPrefix(string(from), "notes:")
	written := strings.TrimSuffix(l.Target, "/")
	if l.Kind != sheaf.LinkWiki || strings.HasPrefix(written, ".") || strings.HasPrefix(written, "/") {
		full := path.Join(path.Dir(file), written)
		if strings.HasPrefix(written, "/") || written == "" {
			full = path.Clean(strings.TrimPrefix(written, "/"))
			if written == "" && !strings.HasPrefix(l.Target, "/") {
				full = path.Dir(file)
			}
		}
		if id := c.byPath(folded(full), full); id != "" {
			return id
		}
	}
	if l.Kind == sheaf.LinkMarkdown {
		return c.fromSite(file, written)
	}
	name := strings.TrimPrefix(folded(written), "/")
	if strings.Contains(withoutEnding(name), "/") {
		if id := c.at(name, ""); id != "" {
			return id
		}
	}
	name = withoutEnding(name)
	var found, aliased []sheaf.ID
	for id, r := range c {
		own := withoutEnding(folded(strings.TrimPrefix(string(id), "notes:")))
		if own == name || strings.HasSuffix(own, "/"+name) {
			found = append(found, id)
		}
		if slices.ContainsFunc(r.Document.Aliases, func(a string) bool {
			return name != "" && withoutEnding(folded(a)) == name
		}) {
			aliased = append(aliased, id)
		}
	}
	if len(found) == 0 {
		found = aliased
	}
	if len(found) == 0 {
		return ""
	}
	return slices.MinFunc(found, func(a, b sheaf.ID) int { return strings.Compare(nearness(a, file), nearness(b, file)) })
}

// nearness returns a key that sorts notes nearer to a file first.
func nearness(id sheaf.ID, file string) string {
	p := strings.TrimPrefix(string(id), "notes:")
	near := 1
	if path.Dir(p) == path.Dir(file) {
		near = 0
	}
	return fmt.Sprintf("%d %03d %03d %s", near, strings.Count(p, "/"), len(p), p)
}

// fromSite resolves a path from the root of a site. It tries each folder above the linking file,
// then all documents.
func (c collection) fromSite(file, written string) sheaf.ID {
	p, ok := strings.CutPrefix(folded(written), "/")
	if p = path.Clean(p); !ok || !strings.Contains(withoutEnding(p), "/") || strings.HasPrefix(p, "../") {
		return ""
	}
	for _, above := range []string{"s/", "docs/s/"} {
		if rest, ok := strings.CutPrefix(p, above); ok {
			if id := c.byPath(rest, ""); id != "" {
				return id
			}
		}
	}
	for _, start := range []string{"", "_"} { // Jekyll starts the folder name of a collection with "_"
		for _, name := range []string{"", "readme", "index", "_index", ".html"} {
			end := "/" + start + path.Join(p, name)
			switch {
			case name == ".html" && page(p) != "":
				end = "/" + start + page(p)
			case name != "" && withoutEnding(p) != p || name == ".html":
				continue
			}
			if id := c.endsWith(file, end, start != ""); id != "" {
				return id
			}
		}
	}
	return ""
}

// endsWith returns the document whose path ends with end, in the nearest folder above the linking
// file. whole allows end to be the whole path.
func (c collection) endsWith(file, end string, whole bool) sheaf.ID {
	for root := path.Dir(file); ; root = path.Dir(root) {
		best := sheaf.ID("")
		for id := range c {
			own := strings.TrimPrefix(string(id), "notes:")
			if root != "." && !strings.HasPrefix(own, root+"/") {
				continue
			}
			at := folded(own)
			if whole {
				at = "/" + at
			}
			if strings.HasSuffix(at, end) || (withoutEnding(end) == end && strings.HasSuffix(withoutEnding(at), end) &&
				withoutEnding(at) != at) {
				if best == "" || nearness(id, file) < nearness(best, file) {
					best = id
				}
			}
		}
		if best != "" {
			return best
		}
		if root == "." {
			return ""
		}
	}
}

var (
	folders = []string{"", "a/", "a/b/", "B/", "a/c.md/", "s/a/b/", "s/b/", "a/s/a/", "_a/b/", "a/_b/"}
	stems   = []string{"note", "Note", "index", "README", "_index", "x.y", "käse", "ka\u0308se", "???", "note.md?"}
	endings = []string{".md", ".md", ".MD", ".markdown", ".mdx", ".txt", "", ".html"}
	aliases = []string{"note", "AC/DC", "Käse", "nick", "nick.md", "b/note"}
	targets = []string{"", "../", "../../", "/", "./", "a/", "b/", "../a/b/", "B/", "/a/", "/b/", "/a/b/", "/s/",
		"/Docs/s/a/", "/s/a/b/", "@/a/"}
)

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

func randomNote(r *rand.Rand) catalog.Record {
	p := pick(r, folders) + pick(r, stems) + pick(r, endings)
	id := sheaf.DocumentID("notes", p)
	doc := sheaf.Document{ID: id, Tree: "notes", Path: p, Title: "T"}
	for range r.IntN(2) {
		doc.Aliases = append(doc.Aliases, pick(r, aliases))
	}
	c := sheaf.Chunk{ID: id, Doc: id, Title: "T", Hierarchy: []string{"T"}, SiblingCount: 1}
	for range r.IntN(5) {
		target := pick(r, targets) + pick(r, append(stems, "AC/DC", "nick", "KÄSE", "")) + pick(r, append(endings, "/")) +
			pick(r, []string{"", "", "", "?", "?plain=1"})
		if r.IntN(20) == 0 {
			target = "https://example.org/" + target
		}
		c.Links = append(c.Links, sheaf.Link{Kind: sheaf.LinkKind(1 + r.IntN(3)), Target: target})
	}
	doc.Chunks = []sheaf.Chunk{c}
	return catalog.Record{Document: doc}
}

// TestLinksAfterRandomUpdates checks, after random updates, that links agree with a model and that back-links are
// their reverse.
func TestLinksAfterRandomUpdates(t *testing.T) {
	must.Whole(t, "no goroutine runs beside it")
	const histories = 30
	resolved := 0
	for seed := range uint64(histories) {
		r := rand.New(rand.NewPCG(seed, 11))
		c := openIn(t, vfs.NewMem(), "/c") // syncing a disk would take most of the time
		model := collection{}
		must.Do(t, c.Update(context.Background(),
			catalog.Update{Settings: &catalog.Settings{Trees: []catalog.Tree{{Name: "notes",
				Root: "/home/Docs/S"}}}}))
		for step := range 12 {
			var u catalog.Update
			for range r.IntN(8) {
				rec := randomNote(r)
				u.Put = append(u.Put, rec)
			}
			for id := range model {
				if r.IntN(12) == 0 {
					u.Delete = append(u.Delete, id)
				}
			}
			for _, id := range u.Delete {
				delete(model, id)
			}
			for _, rec := range u.Put {
				model[rec.Document.ID] = rec
			}
			must.Do(t, c.Update(context.Background(), u))
			resolved += compareLinks(t, c, model, fmt.Sprintf("seed %d step %d", seed, step))
			compareAmong(t, c, model, r, fmt.Sprintf("seed %d step %d", seed, step))
		}
	}
	check.That(t, resolved >= 30*histories, "only %d links lead anywhere", resolved)
}

func compareLinks(t *testing.T, c *catalog.Catalog, model collection, where string) (resolved int) {
	t.Helper()
	v := c.View()
	defer v.Close()
	out, in := map[sheaf.ID][]sheaf.ID{}, map[sheaf.ID][]sheaf.ID{}
	for from, rec := range model {
		for _, l := range rec.Document.Chunks[0].Links {
			want := model.resolve(from, l)
			if got, ok := v.Resolve(from, l); got != want || ok != (want != "") {
				t.Fatalf("%s: %s -> %v %q leads to %q, want %q", where, from, l.Kind, l.Target, got, want)
			}
			if want != "" {
				resolved++
			}
			if want != "" && want != from {
				out[from] = append(out[from], want)
				in[want] = append(in[want], from)
			}
		}
	}
	for id := range model {
		for _, list := range []struct {
			name      string
			got, want []sheaf.ID
		}{{"links", v.Links(id), out[id]}, {"back-links", v.Backlinks(id), in[id]}} {
			slices.Sort(list.want)
			want := slices.Compact(list.want)
			must.That(t, slices.Equal(list.got, want), "%s: %s of %s are %q, want %q", where, list.name, id, list.got, want)
		}
		for range 2 { // the second pass reads from the cache
		}
	}
	err := v.Err()
	must.That(t, err == nil, "%s: %v", where, err)
	return resolved
}

// compareAmong checks links among some documents. They equal the links of a collection of only these documents.
// Without ambiguous links, they are the links to these documents.
func compareAmong(t *testing.T, c *catalog.Catalog, all collection, r *rand.Rand, where string) {
	t.Helper()
	v := c.View()
	defer v.Close()
	some := collection{}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if r.IntN(3) > 0 {
			some[id] = all[id]
		}
	}
	among := func(id sheaf.ID) bool { _, ok := some[id]; return ok }
	in := map[sheaf.ID][]sheaf.ID{}
	for from, rec := range some {
		var out []sheaf.ID
		for _, l := range rec.Document.Chunks[0].Links {
			want := some.resolve(from, l)
			got, ok := v.ResolveAmong(among, from, l)
			must.That(t, got == want && ok == (want != ""), "%s: among %d of %d, %s -> %v %q leads to %q, want %q", where,
				len(some), len(all), from, l.Kind, l.Target, got, want)
			if want != "" && want != from {
				out, in[want] = append(out, want), append(in[want], from)
			}
		}
		slices.Sort(out)
		out = slices.Compact(out)
		got := v.LinksAmong(among, from)
		must.That(t, slices.Equal(got, out),
			"%s: among %d of %d, links of %s are %q, want %q", where, len(some), len(all), from, got, out)
	}
	for id := range some {
		slices.Sort(in[id])
		if got, want := v.BacklinksAmong(among, id), slices.Compact(in[id]); !slices.Equal(got, want) {
			t.Fatalf("%s: among %d of %d, back-links of %s are %q, want %q", where, len(some), len(all), id, got, want)
		}
	}
	err := v.Err()
	must.That(t, err == nil, "%s: %v", where, err)
}

// TestReferencesKeepBacklinks checks that asking for the references of a document does not change
// the back-links of the view.
func TestReferencesKeepBacklinks(t *testing.T) {
	c := open(t, t.TempDir())
	put(t, c, record(t, "a.md", "# A\n"), record(t, "b.md", "[[a]]\n"), record(t, "c.md", "[[a]]\n"),
		record(t, "d.md", "[[a]]\n"))
	v := c.View()
	defer v.Close()
	want := []sheaf.ID{"notes:b.md", "notes:c.md", "notes:d.md"}
	got := v.Backlinks("notes:a.md")
	must.That(t, slices.Equal(got, want), "back-links %q, want %q", got, want)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			check.Equal(t, len(v.References("notes:a.md")), len(want), "references")
		})
	}
	all.Wait()
	check.List(t, v.Backlinks("notes:a.md"), want, "back-links after references")
}

// TestHeadingOfLinkFragment checks which heading the fragment of a link names.
func TestHeadingOfLinkFragment(t *testing.T) {
	c := open(t, t.TempDir())
	put(t, c, record(t, "n.md", "# One\n\n## Goals\nx\n\n# Two\n\n## Goals\ny ^b-1\n\n## What: why?\nz\n\n# Two "+
		"words\nw\n\n# C# and F#\nv\n\n#\nu\n\n# Caf\u00e9 a\nt\n\n# I#J\ns\n\n# I\n\n## J\nr\n\n# C#\nq\n\n# C++\np\n\n# "+
		"`npm run` **--flag**\no\n\n# ???\nn\n\n# a/b (c), d.\nm\n\n# build.libCss\nl\n\n# Caret, Mark & Tilde\nk\n\n# "+
		"\u4f8b\u9898\nj\n\n# \u4f8b\u9898\ni\n\n# Sub\u2013 and _super_\nh\n\n<a name='anchor'></a>\n\n# Below it\ng\n"),
		record(t, "m.md", "[[n]]\n"))
	v := c.View()
	defer v.Close()
	for fragment, want := range map[string]sheaf.ID{
		"": "notes:n.md", "goals": "notes:n.md#goals", "Goals": "notes:n.md#goals", "Two#Goals": "notes:n.md#goals-1",
		"goals-1": "notes:n.md#goals-1",
		"^b-1":    "notes:n.md#goals-1", "^none": "notes:n.md", "What why?": "notes:n.md#what-why",
		"TWO WORDS": "notes:n.md#two-words", "One#Two words": "notes:n.md#two-words",
		"None": "notes:n.md", "#": "notes:n.md", "two  words": "notes:n.md#two-words", "Two words ": "notes:n.md#two-words",
		"What%% why?": "notes:n.md#what-why",
		"C# and F#":   "notes:n.md#c-and-f", "C and F": "notes:n.md#c-and-f", "c# AND f#": "notes:n.md#c-and-f",
		"F#": "notes:n.md", "heading": "notes:n.md#heading",
		"cafe\u0301 a": "notes:n.md#caf\u00e9-a", "cafe\u0301-a": "notes:n.md#caf\u00e9-a", "I#J": "notes:n.md#j",
		"I J": "notes:n.md#ij",
		"C++": "notes:n.md#c-1", "C#": "notes:n.md#c", "`npm run` **--flag**": "notes:n.md#npm-run---flag",
		"???": "notes:n.md#heading-1", "!!": "notes:n.md", "A b c d": "notes:n.md#ab-c-d",
		// anchors of other renderers than GitHub's: VitePress, Python-Markdown, Pandoc
		"build-libcss": "notes:n.md#buildlibcss", "caret-mark-tilde": "notes:n.md#caret-mark--tilde",
		"\u4f8b\u9898_1": "notes:n.md#\u4f8b\u9898-1", "sub-and-super": "notes:n.md#sub-and-super",
		"anchor": "notes:n.md#below-it", "Anchor": "notes:n.md", "-": "notes:n.md", "build-lib": "notes:n.md",
	} {
		got, ok := v.Resolve("notes:m.md", sheaf.Link{Kind: sheaf.LinkWiki, Target: "n", Fragment: fragment})
		check.That(t, ok && got == want, "%q: %q, want %q", fragment, got, want)
	}
}

// TestJekyll checks links from the root of a Jekyll site to pages of its collections.
func TestJekyll(t *testing.T) {
	for _, root := range []string{"", "site/"} {
		c := open(t, t.TempDir())
		put(t, c, record(t, root+"_docs/start/index.md", "[a](/docs/start/)\n"),
			record(t, root+"_docs/use.markdown", "[a](/docs/use/)\n"))
		v := c.View()
		for target, want := range map[string]sheaf.ID{
			"/docs/start/": "_docs/start/index.md", "/docs/use": "_docs/use.markdown", "/docs/use.html": "_docs/use.markdown",
			"/docs/use.md": "", "docs/use": "",
		} {
			got, ok := v.Resolve("notes:index.md", sheaf.Link{Kind: sheaf.LinkMarkdown, Target: target})
			if want != "" {
				want = sheaf.ID("notes:" + root + string(want))
			}
			check.That(t, got == want && ok == (want != ""), "%s leads to %q, want %q", target, got, want)
		}
		v.Close()
	}
}

// TestLinksToEqualNamesAreLinear finds all links among thousands of documents of one name, also if the nearest
// is not visible. The time must grow in proportion to their number. One of ten tries must succeed,
// since the machine may be busy.
func TestLinksToEqualNamesAreLinear(t *testing.T) {
	must.Whole(t, "it measures times")
	const few, times, tries = 750, 16, 10
	ofFew, ofMany := linksOfOneName(t, few), linksOfOneName(t, times*few)
	for try := 1; ; try++ {
		small, large := ofFew(), ofMany()
		if large <= 6*times*small {
			return
		}
		must.That(t, try != tries, "%d documents take %v, %d times as many %v", few, small, times, large)
	}
}

// linksOfOneName makes this many documents called readme. The returned function finds their links
// and back-links, and returns the least processor time of three runs.
func linksOfOneName(t *testing.T, many int) func() time.Duration {
	c := openIn(t, vfs.NewMem(), "/c")
	links := many / 6
	var u catalog.Update
	for i := range many {
		u.Put = append(u.Put, record(t, fmt.Sprintf("%02d/%05d/readme.md", i%100, i), "See [[readme]].\n"))
	}
	u.Put = append(u.Put, record(t, "all.md", strings.Repeat("[[readme]] ", links)))
	must.Do(t, c.Update(context.Background(), u))
	half := many / 200 * 100 // a multiple of the folders
	top, next := sheaf.ID("notes:00/00000/readme.md"), sheaf.ID(fmt.Sprintf("notes:00/%05d/readme.md", half))
	visible := func(id sheaf.ID) bool { return id >= next || !strings.HasPrefix(string(id), "notes:00/") }
	once := func() time.Duration {
		v := c.View()
		defer v.Close()
		began := storetest.CPU()
		for _, among := range []catalog.Among{nil, visible} {
			want := top
			if among != nil {
				want = next
			}
			check.List(t, v.LinksAmong(among, "notes:all.md"), []sheaf.ID{want}, "links")
			check.List(t, v.BacklinksAmong(among, want), []sheaf.ID{"notes:all.md"}, "back-links")
		}
		return storetest.CPU() - began
	}
	return func() time.Duration { return min(once(), once(), once()) }
}
