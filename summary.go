package sheaf

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Reason is one reason for the score of a result.
type Reason struct {
	Text  string  `json:"text" doc:"What speaks for the result, in a few words."`
	Share float64 `json:"share" doc:"Its part of the score; 0.41 is 41 %. Below 0 it lowers the score."`
}

// String returns the reason with its share in percent.
func (r Reason) String() string {
	percent := math.Round(100 * r.Share)
	if percent == 0 {
		return r.Text + " (below 1 %)"
	}
	return fmt.Sprintf("%s (%.0f %%)", r.Text, percent)
}

// These limits keep a summary within three lines. Reasons after the first maxReasons reasons, or after maxLength
// characters, become "other reasons". A reason lists at most maxNamed words, and shows at most maxQuoted characters of
// a name.
const (
	maxReasons = 6
	maxLength  = 255
	maxNamed   = 5
	maxQuoted  = 40
)

// A summary does not name a reason with a share below leastShare, unless the reason is the first. The summary omits
// "other reasons" if their share is below leastRest.
const (
	leastShare = 0.03
	leastRest  = 0.05
)

// SummaryWords says which words a summary uses for terms and properties.
type SummaryWords struct {
	// Word returns the user's word for a term, or "" for a word that is too common to be named. If Word is nil, the
	// summary shows the term.
	Word func(term string) string
	// Property returns the name of the document's property whose value has the term, or "" if unknown. If Property is nil,
	// the summary names no properties.
	Property func(term string) string
}

// Summary returns the reasons for the score, the largest share first. It descends to the parts that people know: terms,
// similarity, names, links.
func (e *Explanation) Summary(words SummaryWords) []Reason {
	s := summary{groups: map[string]*reasonGroup{}, words: words}
	s.walk(e, 1)
	slices.SortStableFunc(s.order, func(a, b *reasonGroup) int {
		return cmp.Compare(math.Abs(b.share), math.Abs(a.share))
	})
	var out []Reason
	rest, length := 0.0, 0
	for _, g := range s.order {
		r := Reason{g.text(), g.share}
		length += utf8.RuneCountInString(r.String()) + len("; ")
		if len(out) > 0 && (len(out) == maxReasons || length > maxLength || math.Abs(g.share) < leastShare) {
			rest += g.share
			continue
		}
		out = append(out, r)
	}
	if math.Abs(rest) >= leastRest {
		out = append(out, Reason{"other reasons", rest})
	}
	return out
}

// SummaryText joins the reasons into one line.
func SummaryText(reasons []Reason) string {
	texts := make([]string, len(reasons))
	for i, r := range reasons {
		texts[i] = r.String()
	}
	return strings.Join(texts, "; ")
}

// summary collects reasons while it walks through an explanation. Equal reasons become one.
type summary struct {
	groups map[string]*reasonGroup
	order  []*reasonGroup
	words  SummaryWords
}

type reasonGroup struct {
	share float64
	// before is the part of the reason's text before the words.
	before string
	words  []weighedWord
	common bool // some words are too common to be named
	// best is the largest similarity, and count is the number of similarities.
	best  float64
	count int
}

type weighedWord struct {
	word  string
	share float64
}

func (g *reasonGroup) text() string {
	if g.count > 0 {
		return similarityText(g.count, g.best)
	}
	if len(g.words) == 0 && g.common {
		return "common words " + g.before
	}
	if len(g.words) == 0 {
		return g.before
	}
	slices.SortStableFunc(g.words, func(a, b weighedWord) int { return cmp.Compare(b.share, a.share) })
	words := make([]string, min(len(g.words), maxNamed))
	for i := range words {
		words[i] = g.words[i].word
	}
	more := ""
	if n := len(g.words) - len(words); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return g.before + ": " + strings.Join(words, ", ") + more
}

// shortened cuts a text of more than maxQuoted characters, after a whole word if possible, and adds "…".
func shortened(text string) string {
	runes := []rune(text)
	if len(runes) <= maxQuoted {
		return text
	}
	head := string(runes[:maxQuoted])
	if i := strings.LastIndexByte(head, ' '); i > 0 {
		head = head[:i]
	}
	return head + "…"
}

func similarityText(count int, best float64) string {
	near := "close"
	switch {
	case best < 0.2:
		near = "hardly close"
	case best < 0.4:
		near = "somewhat close"
	}
	if count > 1 {
		return fmt.Sprintf("%d passages are %s in meaning, the best %.2f", count, near, best)
	}
	return fmt.Sprintf("the passage is %s in meaning, %.2f", near, best)
}

func (s *summary) group(text string, share float64) *reasonGroup {
	g := s.groups[text]
	if g == nil {
		g = &reasonGroup{before: text}
		s.groups[text] = g
		s.order = append(s.order, g)
	}
	g.share += share
	return g
}

// factorKinds are the kinds of explanation whose value multiplies a score. A summary names no kind that is in neither
// list.
var factorKinds = []string{KindFolder, KindGraph, KindRecency, KindLevel, KindProperty}

// reasonKinds are the other kinds of explanation that a summary names as reasons.
var reasonKinds = []string{KindTerm, KindSimilarity, KindName, KindEqual, KindPairs, KindPinned, KindInOrder,
	KindRerank, KindRepetition}

func isFactor(kind string) bool { return slices.Contains(factorKinds, kind) }
func isReason(kind string) bool { return isFactor(kind) || slices.Contains(reasonKinds, kind) }

// speaks reports whether e or one of its parts is a reason that a summary can name. Weights are no reasons.
func speaks(e *Explanation) bool {
	if isReason(e.Kind) || e.Kind == KindLeg {
		return true
	}
	return slices.ContainsFunc(e.Parts, func(p Explanation) bool { return speaks(&p) })
}

// walk adds the reasons in e. share is the share of e in the score, 0..1.
func (s *summary) walk(e *Explanation, share float64) {
	if isReason(e.Kind) {
		s.add(e, share)
		return
	}
	var parts []*Explanation
	for i := range e.Parts {
		if speaks(&e.Parts[i]) {
			parts = append(parts, &e.Parts[i])
		}
	}
	switch {
	case e.Kind == KindLeg && len(parts) == 0 || isVectorLeg(e):
		s.add(e, share)
	case len(parts) == 0:
		s.group(e.Label, share)
	case e.Combine == CombineProduct || e.Combine == CombineQuotient:
		s.product(parts, share)
	case e.Combine == CombineMax:
		s.walk(slices.MaxFunc(parts, byValue), share)
	case e.Combine == CombineMin:
		s.walk(slices.MinFunc(parts, byValue), share)
	default:
		s.sum(e.Combine, parts, share)
	}
}

func byValue(a, b *Explanation) int { return cmp.Compare(a.Value, b.Value) }

// sum divides share, a part of the score of a hit, among the parts of a sum. A part gets more if its value is larger.
// how is the kind of sum: plain, difference, or the root of the sum of squares (rss).
func (s *summary) sum(how Combine, parts []*Explanation, share float64) {
	values := make([]float64, len(parts))
	total, size := 0.0, 0.0
	for i, p := range parts {
		v := p.Value
		switch {
		case how == CombineRSS:
			v = SignedSquare(v)
		case how == CombineDifference && i > 0:
			v = -v
		}
		values[i] = v
		total += v
		size += math.Abs(v)
	}
	for i, p := range parts {
		switch {
		case len(parts) == 1:
			s.walk(p, share)
		case math.Abs(total) >= size/2 && total != 0:
			s.walk(p, share*values[i]/total)
		case size > 0:
			s.walk(p, share*values[i]/size)
		default:
			s.walk(p, share/float64(len(parts)))
		}
	}
}

// product gives each factor of a product (see factorKinds) the share by which it raises or lowers the score. The other
// parts get equal shares of the rest.
func (s *summary) product(parts []*Explanation, share float64) {
	var rest []*Explanation
	for _, p := range parts {
		switch {
		case !isFactor(p.Kind) || p.Value <= 0:
			rest = append(rest, p)
		case p.Value >= 1:
			s.add(p, share*(1-1/p.Value))
			share /= p.Value
		default:
			s.add(p, share*(p.Value-1))
		}
	}
	for _, p := range rest {
		s.walk(p, share/float64(len(rest)))
	}
}

func (s *summary) add(e *Explanation, share float64) {
	switch {
	case e.Kind == KindTerm:
		s.term(e, share)
	case e.Kind == KindSimilarity || isVectorLeg(e):
		g := s.group("similarity", share)
		g.best = max(e.Value, g.best)
		g.count++
	default:
		s.group(reasonText(e), share)
	}
}

// isVectorLeg reports whether e explains a hit of a branch that searches by vectors.
func isVectorLeg(e *Explanation) bool { return e.Kind == KindLeg && e.Details["by"].Text == "vector" }

// reasonText returns the text of a reason that is neither a term nor a similarity.
func reasonText(e *Explanation) string {
	text := func(name string) string { return e.Details[name].Text }
	number := func(name string) float64 { return e.Details[name].Number }
	switch e.Kind {
	case KindLeg:
		if e.Value == 0 {
			return "it passes the filter"
		}
		return fmt.Sprintf("place %.0f by %s", number("rank"), text("branch"))
	case KindName:
		return fmt.Sprintf("the query names the %s %q", text("of"), shortened(text("name")))
	case KindEqual:
		return "the query equals the " + text("of")
	case KindPairs:
		return "words side by side: " + shortened(text("pairs"))
	case KindFolder:
		return fmt.Sprintf("%.0f of %.0f documents of the folder %q are found", number("documents"), number("of"),
			text("folder"))
	case KindGraph:
		return linksText(e)
	case KindRecency:
		if date := text("date"); date != "" {
			return "its date is " + date
		}
		return "it has no date"
	case KindLevel:
		return fmt.Sprintf("a heading of level %.0f", number("level"))
	case KindProperty:
		return fmt.Sprintf("the property %s is %s", text("name"), strconv.FormatFloat(number("number"), 'g', -1, 64))
	}
	return fixedTexts[e.Kind]
}

// fixedTexts are the texts of reasons without details, by kind.
var fixedTexts = map[string]string{KindPinned: "it is pinned", KindInOrder: "moved into the order of its document",
	KindRerank: "the reranking model", KindRepetition: "similar to a result above"}

// term adds the share of a term to the field in which the term was found. If all fields were scored as one text, e
// names no field. Then each field gets a part, in proportion to its weighted number of occurrences.
func (s *summary) term(e *Explanation, share float64) {
	term := e.Details["term"].Text
	if field := e.Details["field"].Text; field != "" {
		s.inField(field, term, share)
		return
	}
	var fields []*Explanation
	total := 0.0
	occurrences(e, func(p *Explanation) {
		fields = append(fields, p)
		total += p.Value
	})
	for _, p := range fields {
		s.inField(p.Details["field"].Text, term, share*p.Value/total)
	}
	if len(fields) == 0 {
		s.inField("", term, share)
	}
}

func occurrences(e *Explanation, visit func(*Explanation)) {
	if e.Kind == KindOccurs {
		visit(e)
	}
	for i := range e.Parts {
		occurrences(&e.Parts[i], visit)
	}
}

func (s *summary) inField(field, term string, share float64) {
	text := fieldText(field)
	if field == FieldProperties && s.words.Property != nil {
		if name := s.words.Property(term); name != "" {
			text = "in the property " + name
		}
	}
	g := s.group(text, share)
	if term != "" && s.words.Word != nil {
		term = s.words.Word(term)
		g.common = g.common || term == ""
	}
	if term == "" {
		return
	}
	for i := range g.words {
		if g.words[i].word == term {
			g.words[i].share += share
			return
		}
	}
	g.words = append(g.words, weighedWord{term, share})
}

// fieldTexts has the words by which a summary describes a match, by field. Other fields become "in the" and their name.
var fieldTexts = map[string]string{"": "matching words", FieldHierarchy: "in the headings above",
	FieldAliases: "in an alias", FieldTags: "in a tag", FieldProperties: "in a property", FieldBody: "in the text"}

func fieldText(field string) string {
	if text, ok := fieldTexts[field]; ok {
		return text
	}
	return "in the " + field
}

func linksText(e *Explanation) string {
	var texts []string
	for _, c := range []struct{ detail, one, more string }{
		{"backlinks", "another result links to it", "%.0f other results link to it"},
		{"co_citations", "cited together with another result", "cited together with %.0f other results"},
		{"shared_tags", "shares tags with another result", "shares tags with %.0f other results"},
	} {
		switch n := e.Details[c.detail].Number; {
		case n == 1:
			texts = append(texts, c.one)
		case n > 1:
			texts = append(texts, fmt.Sprintf(c.more, n))
		}
	}
	if len(texts) == 0 {
		return "links"
	}
	return strings.Join(texts, ", ")
}
