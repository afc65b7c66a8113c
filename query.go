package sheaf

import (
	"iter"
	"slices"
)

// Names of the text fields of a chunk.
const (
	FieldTitle      = "title"      // the chunk's own title
	FieldHierarchy  = "hierarchy"  // titles of the document and of the headings above
	FieldAliases    = "aliases"    // the document's other names (root chunk only)
	FieldTags       = "tags"       // tags of the chunk
	FieldPath       = "path"       // folders and file name
	FieldProperties = "properties" // scalar values of the frontmatter
	FieldBody       = "body"       // the text itself
)

// Fields are the text fields of a chunk, in the order in which their scores are added.
var Fields = [...]string{FieldTitle, FieldHierarchy, FieldAliases, FieldTags, FieldPath, FieldProperties, FieldBody}

// Query is a search request: words, a filter, and how many results to return.
type Query struct {
	// Text is what the user typed, to show it.
	Text string
	// Meaning is the text to embed, without query syntax and forbidden words; "" embeds Text.
	Meaning string
	// Words is matched with the text fields; nil matches nothing.
	Words TextQuery
	// Filter restricts the results; nil means no restriction.
	Filter Filter
	// Limit is the largest number of results, at least 1.
	Limit int
	// Notes explain to the user a surprising reading of the text.
	Notes []string
}

// TextQuery is a tree of words. The only types are Match, Phrase, Prefix, Fuzzy, Bool and Boost.
// Their Text is the user's spelling; the store analyzes it with the analyzer of its index. A Field
// of "" means every field of the request.
type TextQuery interface{ textQuery() }

// Match finds chunks that have at least one term of Text. Each found term adds its score. Function
// words do not count in questions: see analysis.Analyzer.MatchTokens.
type Match struct {
	Text  string
	Field string
}

// Phrase finds chunks that have the terms of Text one after another in one field, displaced by at
// most Slop positions in total. Its score is the sum of its terms' scores.
type Phrase struct {
	Text  string
	Field string
	Slop  int
}

// Prefix finds chunks that have a term that begins with the folded, unstemmed form of Text. The best
// matching term gives the score. Of several words, the last is the prefix and the others must match.
type Prefix struct {
	Text  string
	Field string
}

// Fuzzy finds chunks that have a term at most Distance (1 or 2) edits away from that of Text. An edit changes one
// character, or swaps neighbors. The best matching term gives the score; a term at distance d weighs 1/(1+d). All words
// must match. A term must share a word's first Same characters: errors are rare there, and this excludes most terms.
type Fuzzy struct {
	Text     string
	Field    string
	Distance int
	Same     int
}

// Bool finds chunks that match every Must, no MustNot and, when there is no Must, at least one
// Should. The score is the sum of the matching Must and Should parts. A Bool without Must and Should
// finds every chunk that matches no MustNot, with score 0.
type Bool struct {
	Must    []TextQuery
	Should  []TextQuery
	MustNot []TextQuery
}

// Boost multiplies the score of a part by Factor, a finite number above 0.
type Boost struct {
	Query  TextQuery
	Factor float64
}

func (Match) textQuery()  {}
func (Phrase) textQuery() {}
func (Prefix) textQuery() {}
func (Fuzzy) textQuery()  {}
func (Bool) textQuery()   {}
func (Boost) textQuery()  {}

// Wanted yields, in order, the parts of q that a hit may match and that have no own parts. Each comes with the product
// of the factors of the Boosts around it. Wanted also yields a Bool without Must and Should, which matches everything.
func Wanted(q TextQuery) iter.Seq2[TextQuery, float64] {
	return func(yield func(TextQuery, float64) bool) { wanted(q, 1, yield) }
}

func wanted(q TextQuery, factor float64, yield func(TextQuery, float64) bool) bool {
	switch q := q.(type) {
	case nil:
		return true
	case Boost:
		return wanted(q.Query, factor*q.Factor, yield)
	case Bool:
		for _, part := range slices.Concat(q.Must, q.Should) {
			if !wanted(part, factor, yield) {
				return false
			}
		}
		if len(q.Must)+len(q.Should) > 0 {
			return true
		}
	}
	return yield(q, factor)
}

// Forbidden returns the parts of q that a hit must not match.
func Forbidden(q TextQuery) (parts []TextQuery) {
	switch q := q.(type) {
	case Boost:
		return Forbidden(q.Query)
	case Bool:
		parts = slices.Clone(q.MustNot)
		for _, part := range slices.Concat(q.Must, q.Should) {
			parts = append(parts, Forbidden(part)...)
		}
	}
	return parts
}
