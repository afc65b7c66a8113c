package main

import (
	"cmp"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// link is one link of a page.
type link struct {
	start, end int
	text       string
	address    string
	definition int // the index of the definition that gives the address, or -1
}

var (
	inlineLink = regexp.MustCompile(`(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(\s*(<[^>\n]*>|\{\{[^}\n]*\}\}|` +
		`[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*\)`)
	referenceLink = regexp.MustCompile(`(!?)\[((?:[^\[\]]|\[[^\[\]]*\])+)\](?:\[([^\[\]]*)\])?`)
	definition    = regexp.MustCompile(`(?m)^ {0,3}\[([^\[\]\n^]+)\]:[ \t]*(?:\n[ \t]+)?<?([^\s>]+)>?[^\n]*\n?`)
	wikiLink      = regexp.MustCompile(`(!?)\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]*))?\]\]`)
	htmlLink      = regexp.MustCompile(`<a\s[^>]*?href=["']([^"'\n]*)["'][^>]*>([^<]*)</a>`)
	quoted        = regexp.MustCompile(`["'` + "`" + `]([^"'` + "`" + `]+)["'` + "`" + `]`)
	scheme        = regexp.MustCompile(`^(?:[a-z][a-z0-9+.-]*:|//)`)
	looksLikeName = regexp.MustCompile(`^\S*[./\\_:]\S*$|^https?:|^#?\d+$|\||(?i:\.mdx?\b)`)
	// genericUnspaced are Chinese and Japanese texts without content, for example "this page".
	genericUnspaced = regexp.MustCompile(`^(?:这个|该|此|官方|相关|この|その|本)?(?:例子|示例|文档|指南|页面|链接|章节|教程|详情|例|` +
		`ページ|ドキュメント|ガイド|セクション|記事|チュートリアル|こちら|詳細)$`)
)

// generic has words that say nothing about a linked page. isGeneric looks for texts with only such words.
var generic = wordSet(`here this docs doc documentation documents next previous prev back page pages link links more
read learn see guide guides section sections article articles details example examples overview home index tutorial
tutorials reference references website site blog post posts above below following first part chapter chapters click
information info main start official full issue issues rfc note notes manual edit view open list another yes no
listed recommended second third mentioned described source separate go back
 dedicated corresponding relevant own hier mehr weiter seite siehe`)

func isGeneric(text string) bool {
	if genericUnspaced.MatchString(text) {
		return true
	}
	for _, w := range content(text) {
		if !generic[w] {
			return false
		}
	}
	return true
}

// findLinks returns the links of a page in order, and the positions of the page's link definitions.
func findLinks(p *page) ([]link, [][]int) {
	var all []link
	m := p.masked
	definitions := definition.FindAllStringSubmatchIndex(m, -1)
	byLabel := map[string]int{}
	for i, at := range definitions {
		if label := key(m[at[2]:at[3]]); byLabel[label] == 0 {
			byLabel[label] = i + 1
		}
	}
	add := func(start, end int, text, address string, def int) {
		if strings.Contains(text, "\n\n") || image.MatchString(text) {
			return
		}
		all = append(all, link{start, end, plain(text), address, def})
	}
	for _, at := range inlineLink.FindAllStringSubmatchIndex(m, -1) {
		if at[2] == at[3] {
			add(at[0], at[1], p.text[at[4]:at[5]], strings.Trim(m[at[6]:at[7]], "<>"), -1)
		}
	}
	for _, at := range wikiLink.FindAllStringSubmatchIndex(m, -1) {
		if at[2] != at[3] {
			continue
		}
		target := m[at[4]:at[5]]
		text := strings.ReplaceAll(strings.Trim(target, "# "), "#", " > ")
		if at[6] >= 0 {
			text = m[at[6]:at[7]]
		}
		add(at[0], at[1], text, "wiki:"+target, -1)
	}
	for _, at := range htmlLink.FindAllStringSubmatchIndex(m, -1) {
		add(at[0], at[1], p.text[at[4]:at[5]], m[at[2]:at[3]], -1)
	}
	for _, at := range referenceLink.FindAllStringSubmatchIndex(m, -1) {
		if at[2] != at[3] || at[1] < len(m) && (m[at[1]] == ':' || m[at[1]] == '(') {
			continue
		}
		label := p.text[at[4]:at[5]]
		if at[6] >= 0 && at[6] < at[7] {
			label = p.text[at[6]:at[7]]
		}
		if i := byLabel[key(label)]; i > 0 {
			add(at[0], at[1], p.text[at[4]:at[5]], m[definitions[i-1][4]:definitions[i-1][5]], i-1)
		}
	}
	slices.SortStableFunc(all, func(a, b link) int { return cmp.Compare(a.start, b.start) })
	out := all[:0]
	end := 0
	for _, l := range all {
		if l.start >= end {
			out = append(out, l)
			end = l.end
		}
	}
	return out, definitions
}

// resolver finds the page of an address.
type resolver struct {
	site   string
	exact  map[string][]*page // by path without extension, in lower case
	stems  map[string][]*page // by file name without extension, in lower case
	suffix map[string][]*page // by each end of the path that has two or more parts
}

func newResolver(pages []*page, site string) *resolver {
	r := &resolver{site: strings.TrimSuffix(site, "/"), exact: map[string][]*page{}, stems: map[string][]*page{},
		suffix: map[string][]*page{}}
	put := func(m map[string][]*page, name string, p *page) {
		if name = strings.ToLower(name); !slices.Contains(m[name], p) {
			m[name] = append(m[name], p)
		}
	}
	for _, p := range pages {
		put(r.stems, path.Base(normal(p.path)), p)
		names := []string{p.path}
		names = append(names, p.names...)
		for _, name := range names {
			name = normal(name)
			put(r.exact, name, p)
			parts := strings.Split(name, "/")
			for i := range len(parts) - 1 {
				put(r.suffix, strings.Join(parts[i:], "/"), p)
			}
		}
	}
	return r
}

// normal returns an address in lower case without extension, outer slashes and the name of an index at the end. For an
// index alone, it returns ".".
func normal(name string) string {
	name = strings.ToLower(strings.Trim(name, "/"))
	for range 2 { // some generators name pages "name.html.md"
		switch ext := path.Ext(name); ext {
		case ".md", ".mdx", ".markdown", ".html", ".htm":
			name = strings.TrimSuffix(name, ext)
		}
	}
	for _, index := range []string{"index", "_index", "readme"} {
		if name == index {
			return "."
		}
		name = strings.TrimSuffix(name, "/"+index)
	}
	return name
}

// resolve returns the page to which an address leads, and the fragment of the address. from is the page with the
// address. The page is nil if the address leads outside or fits several pages.
func (r *resolver) resolve(from *page, address string) (*page, string) {
	if target, ok := strings.CutPrefix(address, "wiki:"); ok {
		name, fragment, _ := strings.Cut(strings.TrimSpace(target), "#")
		if name == "" {
			return from, fragment
		}
		name = normal(name)
		if p := only(r.exact[name]); p != nil {
			return p, fragment
		}
		if p := only(r.suffix[name]); p != nil {
			return p, fragment
		}
		return only(r.stems[name]), fragment
	}
	if strings.HasPrefix(address, "{{") {
		m := quoted.FindStringSubmatch(address)
		if m == nil {
			return nil, ""
		}
		address = m[1]
	}
	if r.site != "" {
		if cut, ok := strings.CutPrefix(address, r.site); ok {
			address = "/" + strings.TrimPrefix(cut, "/")
		}
	}
	if scheme.MatchString(strings.ToLower(address)) {
		return nil, ""
	}
	address, fragment, _ := strings.Cut(address, "#")
	address, _, _ = strings.Cut(address, "?")
	if u, err := url.PathUnescape(address); err == nil {
		address = u
	}
	if address == "" {
		return from, fragment
	}
	var tries []string
	if strings.HasPrefix(address, "/") {
		tries = []string{normal(path.Clean(address))}
	} else {
		base := strings.TrimSuffix(from.path, path.Ext(from.path))
		tries = []string{normal(path.Join(path.Dir(from.path), address)), normal(path.Join(base, address))}
	}
	for _, name := range tries {
		if p := only(r.exact[name]); p != nil {
			return p, fragment
		}
	}
	for _, name := range tries {
		for name != "" && name != "." {
			if p := only(r.suffix[name]); p != nil {
				return p, fragment
			}
			if p := only(r.exact[name]); p != nil && strings.Contains(name, "/") {
				return p, fragment
			}
			_, rest, ok := strings.Cut(name, "/")
			if !ok {
				break
			}
			name = rest
		}
	}
	return nil, ""
}

func only(pages []*page) *page {
	if len(pages) == 1 {
		return pages[0]
	}
	return nil
}

const aboutLinks = `
Query = the words of a link inside the pages. Relevant = the file it points to. The records are the raw
Markdown with every link of a query cut out, words and address, also where the same words lead elsewhere.
_id is the path, so "collect tree" can write the files back to disk.

Dropped: generic words (here, docs, next), words that lead to more than two files, words that mostly lead
outside, fewer than two content words or four Chinese or Japanese characters, links inside code or front matter.
At most three queries lead to one page, and at most two in five queries are of class title.

metadata.class says how far the words are those of the target's title, file name or heading: title, overlap
(at least half), low or none. Only the linked file counts as right, so absolute figures are low bounds.
`

func makeLinks(o *options) (*collection, error) {
	pages, err := readPages(o)
	if err != nil {
		return nil, err
	}
	r := newResolver(pages, o.site)
	type use struct {
		text      string
		targets   []*page
		fragments []string
		sources   []string
		outside   int
		inside    int
	}
	uses := map[string]*use{}
	links := make([][]link, len(pages))
	definitions := make([][][]int, len(pages))
	for i, p := range pages {
		links[i], definitions[i] = findLinks(p)
		for _, l := range links[i] {
			k := key(l.text)
			if k == "" {
				continue
			}
			u := uses[k]
			if u == nil {
				u = &use{}
				uses[k] = u
			}
			target, fragment := r.resolve(p, l.address)
			switch target {
			case nil:
				u.outside++
			case p:
			default:
				if u.text == "" {
					u.text = l.text
				}
				u.inside++
				if !slices.Contains(u.targets, target) {
					u.targets = append(u.targets, target)
				}
				u.fragments = append(u.fragments, strings.NewReplacer("-", " ", "_", " ").Replace(fragment))
				if !slices.Contains(u.sources, p.path) {
					u.sources = append(u.sources, p.path)
				}
			}
		}
	}
	var queries []query
	for k, u := range uses {
		if len(u.targets) == 0 || len(u.targets) > 2 || u.outside > u.inside || isGeneric(k) || weight(k) < 2 ||
			len(u.text) > 200 || looksLikeName.MatchString(u.text) || strings.ContainsAny(u.text, "{}<>") {
			continue
		}
		var relevant, names []string
		for _, t := range u.targets {
			relevant = append(relevant, t.path)
			names = append(names, t.title, nameOf(t.path))
		}
		class := classOf(u.text, append(names, u.fragments...)...)
		slices.Sort(u.sources)
		text := strings.TrimSpace(u.text)
		queries = append(queries, query{Text: text, Metadata: metadata{class, u.sources}, relevant: relevant})
	}
	c := &collection{queries: choose(queries, o.queries, 3, nil), about: aboutLinks}
	cut := map[string]bool{}
	for _, q := range c.queries {
		cut[key(q.Text)] = true
	}
	for i, p := range pages {
		c.records = append(c.records, record{p.path, p.title, cutLinks(p.text, links[i], definitions[i], cut)})
	}
	c.limit(o.records)
	return c, nil
}

// choose returns at most n queries. At most perPage of them are about one page, and at most two in five have the class
// title. The queries of other classes come first. pageOf returns the page of a record; if pageOf is nil, each record is
// a page.
func choose(queries []query, n, perPage int, pageOf func(id string) string) []query {
	if pageOf == nil {
		pageOf = func(id string) string { return id }
	}
	var out []query
	pages := map[string]int{}
	take := func(title bool, most int) {
		for _, q := range sample(queries, len(queries), func(q query) string { return q.Text }) {
			full := slices.ContainsFunc(q.relevant, func(id string) bool { return pages[pageOf(id)] >= perPage })
			if full || len(out) >= most || (q.Metadata.Class == "title") != title {
				continue
			}
			for _, id := range q.relevant {
				pages[pageOf(id)]++
			}
			out = append(out, q)
		}
	}
	titles := 0
	for _, q := range queries {
		if q.Metadata.Class == "title" {
			titles++
		}
	}
	take(false, n-min(titles, n/5))
	take(true, min(n, len(out)+max(len(out)*2/3, 1)))
	return out
}

// cutLinks returns text without each link l for which cut[key(l.text)] is true. It also removes the definitions of
// these links.
func cutLinks(text string, links []link, definitions [][]int, cut map[string]bool) string {
	type span struct{ start, end int }
	var spans []span
	for _, l := range links {
		if cut[key(l.text)] {
			spans = append(spans, span{l.start, l.end})
			if l.definition >= 0 {
				at := definitions[l.definition]
				spans = append(spans, span{at[0], at[1]})
			}
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	var b strings.Builder
	at := 0
	for _, s := range spans {
		if s.start >= at {
			b.WriteString(text[at:s.start])
		}
		at = max(at, s.end)
	}
	b.WriteString(text[at:])
	return b.String()
}
