package sheaf

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

// Fields are the text fields of a chunk, in the order in which scores are
// summed.
var Fields = [...]string{FieldTitle, FieldHierarchy, FieldAliases, FieldTags, FieldPath, FieldProperties, FieldBody}

// Query is what a person asks: words, a filter, and how much to return.
type Query struct {
	// Text is what was typed, for showing.
	Text string
	// Meaning is the text that is embedded; "" embeds Text. Query syntax and
	// what must not be found have no place in it.
	Meaning string
	// Words is the part that words are matched with; nil matches nothing by
	// words.
	Words TextQuery
	// Filter bounds what may be found; nil is no bound.
	Filter Filter
	// Limit is the number of results wanted, at least 1.
	Limit int
	// Notes tell the person how the text was read where that may surprise.
	Notes []string
}

// TextQuery is a tree of words. The set is closed: Match, Phrase, Prefix,
// Fuzzy, Bool, Boost. Text in it is as the person wrote it; the store that
// runs it analyzes it with the analyzer its index was made with. Field, where
// there is one, is "" for every field of the request.
type TextQuery interface{ textQuery() }

// Match finds chunks that hold at least one term of Text; every term found
// adds its score. Function words do not count in questions: see
// analysis.Analyzer.MatchTokens.
type Match struct {
	Text  string
	Field string
}

// Phrase finds chunks that hold the terms of Text one after another in one
// field, with at most Slop positions of displacement in all. It scores as the
// sum of its terms.
type Phrase struct {
	Text  string
	Field string
	Slop  int
}

// Prefix finds chunks that hold a term that begins with the folded, unstemmed
// form of Text. It scores by the best matching term. Of several words the last is
// a prefix, and the others must stand in the chunk too.
type Prefix struct {
	Text  string
	Field string
}

// Fuzzy finds chunks that hold a term at most Distance (1 or 2) edits away
// from that of Text, counted in characters, a swap of neighbors counting one
// edit. It scores by the best matching term, a term at distance d weighing
// 1/(1+d). Of several words each must be found. A term must begin with the first Same
// characters of a word: few errors are at the beginning, and few terms begin so.
type Fuzzy struct {
	Text     string
	Field    string
	Distance int
	Same     int
}

// Bool finds chunks that match every Must, no MustNot and, when there is no
// Must, at least one Should. The score is the sum of the scores of the Must
// and Should parts that match. A Bool without Must and Should parts finds every
// chunk that matches no MustNot, with score 0.
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
