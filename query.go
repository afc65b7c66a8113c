package sheaf

import (
	"iter"
	"slices"
)

// These are the names of the text fields of a chunk.
const (
	FieldTitle      = "title"      // the chunk's own title
	FieldHierarchy  = "hierarchy"  // titles of the document and of the headings above
	FieldAliases    = "aliases"    // the document's other names (root chunk only)
	FieldTags       = "tags"       // tags of the chunk
	FieldPath       = "path"       // folders and file name
	FieldProperties = "properties" // scalar values of the frontmatter
	FieldBody       = "body"       // the text itself
)

// Fields are the text fields of a chunk. Stores add the scores of fields in this order.
var Fields = [...]string{FieldTitle, FieldHierarchy, FieldAliases, FieldTags, FieldPath, FieldProperties, FieldBody}

// Query is a search request.
type Query struct {
	// Text is the text that the user typed. It is for display.
	Text string
	// Meaning is the text to embed. It has no query syntax and no forbidden words. "" embeds Text.
	Meaning string
	// Words is the query for the text fields. If Words is nil, no text matches.
	Words TextQuery
	// Filter restricts the results; nil means no restriction.
	Filter Filter
	// Limit is the largest number of results to return. It is at least 1.
	Limit int
	// Notes tell the user about words or marks that were read in an unexpected way.
	Notes []string
}

// TextQuery is a tree of words: Match, Phrase, Prefix, Fuzzy, Bool or Boost. Text in these types has the user's
// spelling. The store analyzes Text with the analyzer of its index. If Field is "", the words may be in any field that
// the request searches.
type TextQuery interface{ textQuery() }

// Match finds chunks that have at least one term of Text. The score is the sum of the scores of the matching terms. In
// a question, function words such as "what" do not count: see analysis.Analyzer.MatchTokens.
type Match struct {
	Text  string
	Field string
}

// Phrase finds chunks that have the terms of Text one after another in one field. Slop is the largest number of
// positions by which the terms may be away from their places in total. With Slop 0, no word may be between the terms.
// The score is the sum of the scores of the terms.
type Phrase struct {
	Text  string
	Field string
	Slop  int
}

// Prefix finds chunks with a term that begins with Text. It compares Text folded but not stemmed. The best matching
// term gives the score. If Text has several words, only the last word is a prefix, and the other words must match.
type Prefix struct {
	Text  string
	Field string
}

// Fuzzy finds chunks with a term that is at most Distance edits away from the term of Text. Distance is 1 or 2. An edit
// changes one character, or swaps two neighbors. The best matching term gives the score: at distance d its weight is
// 1/(1+d). If Text has several words, all must match. The first Same characters of a word must be equal, because errors
// are rare at the start. This excludes most terms.
type Fuzzy struct {
	Text     string
	Field    string
	Distance int
	Same     int
}

// Bool finds chunks that match all of Must and none of MustNot. Without Must, a chunk must match at least one of
// Should. The score is the sum of the scores of the matching Must and Should parts. A Bool without Must and Should
// gives score 0 to every chunk that matches none of MustNot.
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

// Wanted yields the smallest parts of q that a hit may match, in order. It descends into Bool and Boost. Each part
// comes with the product of the factors of all Boosts around it. A Bool without Must and Should matches everything, and
// Wanted yields it too.
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
