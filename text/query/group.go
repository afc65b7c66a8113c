package query

import (
	"slices"
	"strings"
	"unicode"

	"sheaf"
)

// group has the parts of a query or of a bracket, by their effect on hits.
type group struct {
	plain            []string // words that add to the score
	should           []sheaf.TextQuery
	must, mustNot    []sheaf.TextQuery
	filters, refused []sheaf.Filter    // a hit must match all filters, and none of refused
	filterWords      []sheaf.TextQuery // of all filters; nil for a filter without words
	about            []string          // the wanted text without marks, in order
	apart            bool              // the group is a forbidden bracket with only alternatives: each is forbidden
}

// place says where in the query a bracket is. The place decides how forbidden alternatives in the bracket work.
type place uint8

const (
	// outerLevel is outside all brackets. Forbidden parts there apply to every hit.
	outerLevel place = iota
	// refusedBracket is a bracket after a dash at the outer level. Each of its alternatives is forbidden separately:
	// words as words, filters as filters.
	refusedBracket
	// innerLevel is inside a forbidden bracket, or inside one of several alternatives. A filter inside must not move to
	// the outer level, where it would apply to the whole query.
	innerLevel
)

// part is one operand of a query: words or a filter.
type part struct {
	sign   byte
	plain  string // a word without marks
	query  sheaf.TextQuery
	filter sheaf.Filter
	// words is a query that finds about the same documents as filter. If an OR joins filters with words, words replaces
	// filter. words is nil if no query can do this.
	words sheaf.TextQuery
	// strict says that a hit must match the words: they are or contain a phrase, or have a field.
	strict bool
	// about is the text of the words without marks, for embedding with a model.
	about string
	// open is the group in the brackets, if the part is a bracket without a sign. If no OR is beside such brackets, they
	// have no effect.
	open *group
}

// group reads parts up to the end or the closing bracket. depth is the number of open brackets, and at is the place of
// these parts.
func (p *parser) group(depth int, at place) *group {
	g := &group{}
	first := p.at
	for p.at < len(p.tokens) {
		if p.tokens[p.at].kind == tokenClose && depth > 0 {
			p.at++
			return g
		}
		begin := p.at
		alternatives := []part{p.part(depth, at)}
		for p.isOr(p.at) {
			p.at++
			alternatives = append(alternatives, p.part(depth, innerLevel))
		}
		switch one := alternatives[0]; {
		case len(alternatives) == 1 && one.open != nil:
			g.merge(one.open)
			g.apart = one.open.apart
		case len(alternatives) == 1:
			g.add(one)
		default:
			alone := begin == first && p.at < len(p.tokens) && p.tokens[p.at].kind == tokenClose
			g.apart = at == refusedBracket && alone
			g.add(p.joinAlternatives(alternatives, g.apart))
		}
	}
	return g
}

// isOr reports whether the token at i is an OR between two alternatives.
func (p *parser) isOr(i int) bool {
	return i+1 < len(p.tokens) && p.tokens[i].kind == tokenOr && p.tokens[i+1].kind != tokenOr &&
		p.tokens[i+1].kind != tokenClose
}

// bracket returns the [place] for the parts inside a bracket. p.at is the index of the first token after the opening
// bracket. sign is the sign before the bracket, and outer is the place of the bracket itself.
func (p *parser) bracket(sign byte, outer place) place {
	if outer == innerLevel {
		return innerLevel
	}
	behind := p.at
	for depth := 1; depth > 0 && behind < len(p.tokens); behind++ {
		switch p.tokens[behind].kind {
		case tokenOpen:
			depth++
		case tokenClose:
			depth--
		}
	}
	switch {
	case p.isOr(behind):
		return innerLevel
	case outer == refusedBracket:
		if sign == 0 && p.tokens[p.at-2].kind == tokenOpen && behind < len(p.tokens) && p.tokens[behind].kind == tokenClose {
			return refusedBracket // brackets around brackets
		}
		return innerLevel
	case sign == '-':
		return refusedBracket
	}
	return outerLevel
}

// part reads one operand of a group at the place outer.
func (p *parser) part(depth int, outer place) part {
	t := p.tokens[p.at]
	p.at++
	switch t.kind {
	case tokenOpen:
		inner := p.group(depth+1, p.bracket(t.sign, outer))
		if t.sign == 0 && inner.wordsOnly() {
			// The brackets are an aside, as in prose: their words count like the others.
			plain := strings.Join(inner.plain, " ")
			return part{plain: plain, about: plain}
		}
		out := part{sign: t.sign, query: inner.words(true), filter: inner.filter(), words: inner.loneFilter(),
			strict: len(inner.must) > 0, about: strings.Join(inner.about, " ")}
		if t.sign == 0 {
			out.open = inner
		}
		if t.sign == '-' && out.query != nil && out.filter != nil && !inner.apart {
			p.note(`"-" before brackets with words and filters refuses everything with the words and everything that the ` +
				`filters match, not only what has both`)
		}
		return out
	case tokenOr:
		p.note("OR does not stand between two alternatives; it was searched as a word")
		return part{plain: strings.ToLower(t.text)}
	case tokenClose:
		return part{plain: strings.ToLower(t.text)}
	}
	out := p.value(t)
	out.sign = t.sign
	switch {
	case out.plain != "":
		out.about = out.plain
	case out.query != nil:
		out.about = strings.TrimRight(t.text, "*~12")
	}
	return out
}

// joinAlternatives joins alternatives: filters with filters, words with words. If there are both, it replaces filters
// by words where possible. If refused is true, each alternative is forbidden separately, and filters stay filters.
func (p *parser) joinAlternatives(alternatives []part, refused bool) part {
	var out part
	var about []string
	var filters sheaf.Or
	var words sheaf.Bool
	mixed := slices.ContainsFunc(alternatives, func(a part) bool { return a.plain != "" || a.query != nil })
	refused = refused && !slices.ContainsFunc(alternatives, func(a part) bool { return a.filter != nil && a.query != nil })
	for _, a := range alternatives {
		if a.about != "" && a.sign != '-' {
			about = append(about, a.about)
		}
		query := a.query
		if a.plain != "" { // any whole word matches
			if words := wholeWords(a.plain); len(words) == 1 {
				query = words[0]
			} else {
				query = sheaf.Bool{Should: words}
			}
		}
		if a.filter != nil && query == nil {
			a = a.withSign()
		} else if a.sign == '-' {
			p.note(`"-" beside OR was left out`)
		}
		if mixed && !refused && a.filter != nil && a.words != nil {
			query, a.filter, a.strict = a.words, nil, true
		}
		if a.filter != nil {
			filters = append(filters, a.filter)
		}
		if query != nil {
			words.Should = append(words.Should, query)
			out.strict = out.strict || a.strict || a.sign == '+'
		}
	}
	out.about = strings.Join(about, " ")
	if len(filters) > 0 {
		out.filter = filters
	}
	if !mixed {
		out.strict, out.words = true, eitherWords(alternatives)
		return out
	}
	if len(filters) > 0 && !refused {
		p.note(`OR cannot stand between words and filters other than tags and folders that stand alone and without "-"; ` +
			`both were applied`)
	}
	out.query = words
	return out
}

// add puts a part into the list of g that fits its sign and kind.
func (g *group) add(a part) {
	if a.filter != nil {
		g.filterWords = append(g.filterWords, a.withSign().words)
		if a.sign == '-' {
			g.refused = append(g.refused, a.filter)
		} else {
			g.filters = append(g.filters, a.filter)
		}
	}
	if a.about != "" && a.sign != '-' {
		g.about = append(g.about, a.about)
	}
	query := a.query
	if a.plain != "" && a.sign != 0 {
		query = sheaf.Phrase{Text: a.plain}
	}
	switch {
	case a.plain != "" && a.sign == 0:
		g.plain = append(g.plain, a.plain)
	case query == nil:
	case a.sign == '-':
		g.mustNot = append(g.mustNot, query)
	case a.sign == '+' || a.strict:
		g.must = append(g.must, query)
	default:
		g.should = append(g.should, query)
	}
}

// merge adds the parts of inner to g, as if inner had no brackets.
func (g *group) merge(inner *group) {
	g.plain = append(g.plain, inner.plain...)
	g.should = append(g.should, inner.should...)
	g.must = append(g.must, inner.must...)
	g.mustNot = append(g.mustNot, inner.mustNot...)
	g.filters = append(g.filters, inner.filters...)
	g.refused = append(g.refused, inner.refused...)
	g.filterWords = append(g.filterWords, inner.filterWords...)
	g.about = append(g.about, inner.about...)
}

// wordsOnly reports whether the group has only words without marks.
func (g *group) wordsOnly() bool {
	return len(g.plain) > 0 && len(g.should)+len(g.must)+len(g.mustNot)+len(g.filters)+len(g.refused) == 0
}

func (g *group) filter() sheaf.Filter {
	all := sheaf.And(g.filters)
	for _, f := range g.refused {
		all = append(all, sheaf.Not{Filter: f})
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return all
}

// loneFilter returns the words of the group's filter (see part.words) if this filter is the only part of the group.
// Otherwise it returns nil.
func (g *group) loneFilter() sheaf.TextQuery {
	if len(g.filterWords) != 1 || g.words(true) != nil {
		return nil
	}
	return g.filterWords[0]
}

// words returns the query for all parts of the group except filters. If all parts are filters, it returns nil. Plain
// words have no operator. If inBrackets is true, wholeWords turns them into queries. Otherwise, they become one Match.
func (g *group) words(inBrackets bool) sheaf.TextQuery {
	should := g.should
	switch plain := strings.Join(g.plain, " "); {
	case plain == "":
	case inBrackets:
		should = append(wholeWords(plain), should...)
	default:
		should = append([]sheaf.TextQuery{sheaf.Match{Text: plain}}, should...)
	}
	switch {
	case len(g.must)+len(g.mustNot)+len(should) == 0:
		return nil
	case len(g.must)+len(g.mustNot) == 0 && len(should) == 1:
		return should[0]
	case len(g.must) == 1 && len(g.mustNot)+len(should) == 0:
		return g.must[0]
	}
	return sheaf.Bool{Must: g.must, Should: should, MustNot: g.mustNot}
}

// wholeWords returns queries for the whole words of a text. Words of only small letters share one query, so that
// function words of a question can be dropped. Each other word has its own query: docker-compose must match its two
// parts in this order.
func wholeWords(text string) []sheaf.TextQuery {
	var simple []string
	var out []sheaf.TextQuery
	for word := range strings.FieldsSeq(text) {
		if strings.ContainsFunc(strings.TrimFunc(word, unicode.IsPunct), func(r rune) bool {
			return r >= 0xE00 || !unicode.IsLower(r)
		}) {
			out = append(out, sheaf.Phrase{Text: word})
		} else {
			simple = append(simple, word)
		}
	}
	if len(simple) > 0 {
		out = append([]sheaf.TextQuery{sheaf.Match{Text: strings.Join(simple, " ")}}, out...)
	}
	return out
}

// A query of words has no filters, so a filter cannot be an alternative beside words. Tags and folders are also
// fields, and beside OR they are searched there. A tag of a whole document then matches only its own chunk, and a
// folder matches all paths through it. That is enough for additional hits. It is not enough to refuse or require a
// filter, because wrong parts of a document would stay or go. Such a filter gets no words.

// tagWords returns the query that finds a tag in the field of tags. begins says that tag is the beginning of a tag; the
// result is then nil unless tag is one word.
func tagWords(tag string, begins bool) sheaf.TextQuery {
	switch {
	case !begins:
		return sheaf.Phrase{Text: tag, Field: sheaf.FieldTags}
	case !strings.ContainsFunc(tag, func(r rune) bool { return !searchable(r) }):
		return sheaf.Prefix{Text: tag, Field: sheaf.FieldTags}
	}
	return nil
}

// withSign applies the sign of a part that has only a filter. For a dash, the result has the negated filter, but
// neither sign nor words. Otherwise the result is a.
func (a part) withSign() part {
	if a.sign != '-' {
		return a
	}
	a.filter, a.words, a.sign = sheaf.Not{Filter: a.filter}, nil, 0
	return a
}

// eitherWords returns words that find about what the filters of the alternatives find. If one of the alternatives has
// no such words, it returns nil.
func eitherWords(alternatives []part) sheaf.TextQuery {
	var any sheaf.Bool
	for _, a := range alternatives {
		if a = a.withSign(); a.words == nil {
			return nil
		}
		any.Should = append(any.Should, a.words)
	}
	return any
}
