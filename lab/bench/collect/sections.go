package main

import (
	"fmt"
	"regexp"
	"strings"
)

// section is one heading of a page with the text up to the next heading.
type section struct {
	page    *page
	number  int
	heading *heading // nil for the text before the first heading
	body    string
}

func (s *section) id() string { return fmt.Sprintf("%s#s%d", s.page.path, s.number) }

func sectionsOf(p *page) []section {
	var out []section
	start := p.body
	add := func(h *heading, end int) {
		s := section{page: p, number: len(out), heading: h, body: strings.TrimSpace(p.text[start:end])}
		if h != nil || s.body != "" {
			out = append(out, s)
		}
	}
	var last *heading
	for i := range p.headings {
		h := &p.headings[i]
		add(last, h.start)
		last, start = h, h.end
	}
	add(last, len(p.text))
	return out
}

var (
	questionWord = regexp.MustCompile(`(?i)^(?:how|what|why|when|where|which|who|what's|` +
		`wie|warum|wann|wo|wer|welche\w*|was (?:ist|sind|macht|bedeutet|passiert))\s`)
	whatIs       = regexp.MustCompile(`(?i)^(?:what|who|was|wer) (?:is|are|ist|sind) `)
	questionEnd  = regexp.MustCompile(`[?？]$|とは$|ですか$|ますか$|吗$|什么$`)
	junkQuestion = anyText(
		`what(?:'s|’s| is) (?:next|new)(?: in .*)?`, `what(?:'s| is) (?:it|this|that)`, `what next`, `what now`,
		`how (?:it|this|that|does (?:it|this)) works?`, `how do (?:i|you|we) (?:use|install) (?:it|this)`,
		`how to (?:use|read|contribute|install)(?: (?:it|this.*))?`, `what (?:it|this|you|we)(?:'ll)? .*`,
		`what to do next`, `what does (?:it|this) .*`, `what are the changes`, `what.s (?:included|changed).*`,
		`when to use(?: (?:it|this.*))?`, `when not to use(?: it)?`, `where to go.*`, `is it .*`, `why(?: not)?`,
		`why (?:is|does|do) (?:it|this|we).{0,12}`)
	junkHeading = regexp.MustCompile(`(?i)` +
		// versions, dates, numbers
		`\bv?\d+\.\d+|^\d{4}\b|\b(?:19|20)\d\d\b|changelog|release|^step \d|^[\d.]+ |^[a-z]+ \d+$|` +
		`^(?:example|listing|figure|table|part|phase|option|method|question|exercise|appendix|rfc|section|case)s? ?[\d:]|` +
		// parts that every page of a kind has
		`^see also|^related|^further|^next steps|^prior art|^acknowledge|^unresolved questions|^additional|` +
		`^future possibilities|^rationale and alternatives|^(?:summary|contents)$|` +
		// code and names of an interface
		`[{}<>$|]|\w\(|::|=>|[/_]\w|\w\.\w|^event\b|^(?:info )?field |` +
		`\b(?:experimental|readonly|deprecated|optional)$`)
	headingNumber = regexp.MustCompile(`^(?:Q ?\d*[:.)]|\d+[.)])\s+`)
)

// anyText returns an expression that matches any of the texts, with or without a question mark.
func anyText(list ...string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:` + strings.Join(list, "|") + `)\??$`)
}

// readSections returns the sections of all pages. It also returns how often each heading or title occurs, by its key.
func readSections(o *options) ([]section, map[string]int, error) {
	pages, err := readPages(o)
	if err != nil {
		return nil, nil, err
	}
	var all []section
	count := map[string]int{}
	for _, p := range pages {
		count[key(p.title)]++
		for _, s := range sectionsOf(p) {
			all = append(all, s)
			if h := s.heading; h != nil && !(h.level == 1 && key(h.text) == key(p.title)) {
				count[key(h.text)]++
			}
		}
	}
	return all, count, nil
}

// enough reports whether a body can answer a query: whether it has at least 12 content words outside code. A pair of
// Chinese or Japanese characters counts as a word.
func enough(body string) bool {
	p := parsePage("", body)
	return len(content(strings.ReplaceAll(p.masked, "\x00", " "))) >= 12
}

// cutSections returns a collection with these queries. Each query has one relevant section. cutSections removes the
// headings of these sections from the corpus, and links that repeat the headings.
func cutSections(all []section, queries []query, o *options, about string) *collection {
	c := &collection{queries: queries, about: about}
	relevant := map[string]bool{}
	cut := map[string]bool{}
	for _, q := range queries {
		relevant[q.relevant[0]] = true
		cut[key(q.Text)] = true
	}
	for i := range all {
		s := &all[i]
		text := s.body
		if s.heading != nil && !relevant[s.id()] {
			text = strings.Repeat("#", s.heading.level) + " " + s.heading.raw + "\n\n" + text
		}
		p := parsePage(s.page.path, text)
		links, definitions := findLinks(p)
		text = strings.TrimSpace(cutLinks(p.text, links, definitions, cut))
		if len(words(text)) >= 5 {
			c.records = append(c.records, record{s.id(), s.page.title, text})
		}
	}
	c.limit(o.records)
	return c
}

const aboutCorpus = `
The corpus has one record for each heading of a page, with the text up to the next heading, and one for the text
before the first heading. title is the title of the page. The heading of a relevant record is cut from its text,
and so are links with the same words. _id is the path and the number of the section, because a name made of the
heading's words would hold the query.

metadata.class says how far the words are those of the page's title or file name: title, overlap (at least half),
low or none. Only the one section counts as right, so absolute figures are low bounds.
`

const aboutQuestions = `
Query = a heading that is a question. Relevant = the section under it. A heading is a question when it ends with a
question mark or begins with a word such as How, What or Why.

Dropped: headings that occur more than once, generic questions ("What's next"), sections with fewer than 12 content
words of their own, the title of the page. At most ten questions come from one page.
` + aboutCorpus

func makeQuestions(o *options) (*collection, error) {
	return makeFromHeadings(o, 10, aboutQuestions, func(h *heading) bool {
		asks := questionEnd.MatchString(h.text) || questionWord.MatchString(h.text)
		return asks && !junkQuestion.MatchString(h.text) && !strings.ContainsAny(h.text, "{}<>") &&
			(weight(h.text) >= 2 || weight(h.text) == 1 && whatIs.MatchString(h.text))
	})
}

// severalWords reports whether a text has several words. Ten Chinese or Japanese characters are several words.
func severalWords(s string) bool { return longUnspaced(s) || len(strings.Fields(s)) > 1 }

const aboutSections = `
Query = a heading of at least three content words. Relevant = its section.

Dropped: headings that occur more than once, questions, headings with versions, dates, numbers or code, sections with
fewer than 12 content words of their own, the title of the page. At most five queries come from one page.
` + aboutCorpus

func makeSections(o *options) (*collection, error) {
	o.queries = min(o.queries, 400)
	return makeFromHeadings(o, 5, aboutSections, func(h *heading) bool {
		return !questionEnd.MatchString(h.text) && !questionWord.MatchString(h.text) &&
			!junkHeading.MatchString(h.text) && weight(h.text) >= 3 && severalWords(h.text) && !isGeneric(h.text)
	})
}

func makeFromHeadings(o *options, perPage int, about string, want func(*heading) bool) (*collection, error) {
	all, count, err := readSections(o)
	if err != nil {
		return nil, err
	}
	var queries []query
	for i := range all {
		s := &all[i]
		if s.heading == nil || !want(s.heading) {
			continue
		}
		k := key(s.heading.text)
		if count[k] > 1 || k == key(s.page.title) || len(s.heading.text) > 200 || !enough(s.body) {
			continue
		}
		class := classOf(s.heading.text, s.page.title, nameOf(s.page.path))
		if class == "title" {
			continue
		}
		text := headingNumber.ReplaceAllString(strings.TrimRight(s.heading.text, ":： "), "")
		queries = append(queries, query{Text: text, Metadata: metadata{Class: class},
			relevant: []string{s.id()}})
	}
	queries = choose(queries, o.queries, perPage, func(id string) string {
		name, _, _ := strings.Cut(id, "#s")
		return name
	})
	return cutSections(all, queries, o, about), nil
}
