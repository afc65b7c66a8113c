package storekit

import (
	"fmt"
	"slices"
	"strings"

	"sheaf"
	"sheaf/internal/edits"
	"sheaf/store"
	"sheaf/text/analysis"
)

// FormMark is the first character of a form in a dictionary that has forms and terms. No term begins with FormMark. A
// form is an unstemmed word: see [analysis.Term].
const FormMark = "\x01"

// Plan is a request after analysis: terms instead of words.
type Plan struct {
	// Fields are the fields of the request, in the order of the request. Then come fields that only parts of the query
	// name, with weight 1. Nodes refer to Fields by index.
	Fields []store.FieldWeight
	// Root is what a chunk must match.
	Root Node
}

// Node is a part of a plan: a Term, Expand, Phrase or Bool.
type Node interface{ node() }

// Term matches chunks that have the term in at least one of Fields. The term adds its BM25 score.
type Term struct {
	Text   string
	Fields []int
	// Factor multiplies the score. It includes boosts and the number of repetitions in the query.
	Factor float64
}

// Expand matches chunks that have a term similar to Text. If Distance is 0, a similar term begins with Text. Otherwise
// a similar term is at most Distance edits from Text, and begins with the first Same characters of Text. If Forms is
// true, forms (see [FormMark]) match as terms do. In each field only the best matching term scores; see
// [Expand.Weight].
type Expand struct {
	Text     string
	Distance int
	Same     int
	Forms    bool
	Fields   []int
	Factor   float64
}

// Key returns a text that two expansions share only if they accept the same terms.
func (e Expand) Key() string { return fmt.Sprintf("%d %d %t %s", e.Distance, e.Same, e.Forms, e.Text) }

// Phrase matches chunks that have all tokens in one field. The shift of a token is its position in the field minus
// its own Position. The shifts of all tokens may differ by at most Slop. Phrase scores its terms in the fields that
// contain the phrase. It has at least two tokens.
type Phrase struct {
	Tokens []Token
	Slop   int
	Fields []int
	Factor float64
}

// Terms returns the terms that a phrase scores, each once. A term that occurs n times has n times the factor.
func (p Phrase) Terms() (terms []Term) {
	at := map[string]int{} // the index of each term
	for _, t := range p.Tokens {
		i, known := at[t.Text]
		if !known {
			i, terms = len(terms), append(terms, Term{Text: t.Text, Fields: p.Fields})
			at[t.Text] = i
		}
		terms[i].Factor += p.Factor
	}
	return terms
}

// Token is a term of a phrase.
type Token struct {
	Text     string
	Position int
}

// Bool matches like sheaf.Bool. Without Must and Should, it matches everything if All is true, else nothing.
type Bool struct {
	Must, Should, MustNot []Node
	All                   bool
}

func (Term) node()   {}
func (Expand) node() {}
func (Phrase) node() {}
func (Bool) node()   {}

// Repeats reports whether a phrase with slop contains a word twice. In some stores, one occurrence of the word in a
// text then matches both words of the phrase.
func (p *Plan) Repeats() (found bool) {
	Walk(p.Root, func(n Node) {
		phrase, ok := n.(Phrase)
		found = found || ok && phrase.Slop > 0 && len(phrase.Terms()) < len(phrase.Tokens)
	})
	return found
}

// Compile analyzes the words of a request and returns their plan. The caller must have validated the request.
func Compile(a *analysis.Analyzer, req *store.TextRequest) Plan {
	c := compiler{a: a, listed: len(req.Fields)}
	c.plan.Fields = slices.Clone(req.Fields)
	c.plan.Root = c.query(req.Query, 1)
	return c.plan
}

type compiler struct {
	a      *analysis.Analyzer
	plan   Plan
	listed int
}

func (c *compiler) query(q sheaf.TextQuery, factor float64) Node {
	switch q := q.(type) {
	case sheaf.Match:
		return c.anyToken(c.a.MatchTokens(q.Text), q.Field, factor)
	case sheaf.Phrase:
		return c.phrase(q, factor)
	case sheaf.Prefix:
		return c.pieces(c.a.PrefixPieces(q.Text), q.Field, factor, Expand{})
	case sheaf.Fuzzy:
		return c.pieces(c.a.FuzzyPieces(q.Text), q.Field, factor, Expand{Distance: q.Distance, Same: q.Same})
	case sheaf.Boost:
		return c.query(q.Query, factor*q.Factor)
	case sheaf.Bool:
		return Bool{Must: c.queries(q.Must, factor), Should: c.queries(q.Should, factor), MustNot: c.queries(q.MustNot, 1),
			All: len(q.Must)+len(q.Should) == 0}
	}
	return Bool{}
}

func (c *compiler) queries(parts []sheaf.TextQuery, factor float64) []Node {
	out := make([]Node, len(parts))
	for i, part := range parts {
		out[i] = c.query(part, factor)
	}
	return out
}

// fieldIndices returns the indices of the fields of a query part. name is its own field; "" means the request's fields.
func (c *compiler) fieldIndices(name string) []int {
	if name == "" {
		all := make([]int, c.listed)
		for i := range all {
			all[i] = i
		}
		return all
	}
	i := slices.IndexFunc(c.plan.Fields, func(f store.FieldWeight) bool { return f.Name == name })
	if i < 0 {
		i = len(c.plan.Fields)
		c.plan.Fields = append(c.plan.Fields, store.FieldWeight{Name: name, Weight: 1})
	}
	return []int{i}
}

// anyToken returns a node that matches if at least one of tokens matches.
func (c *compiler) anyToken(tokens []analysis.Token, field string, factor float64) Node {
	fields := c.fieldIndices(field)
	var out Bool
	at := map[string]int{} // the index of each term in out, for repeated terms
	for _, t := range tokens {
		if t.Prefix {
			out.Should = append(out.Should, Expand{Text: t.Term, Fields: fields, Factor: factor})
			continue
		}
		if i, ok := at[t.Term]; ok {
			term := out.Should[i].(Term)
			term.Factor += factor
			out.Should[i] = term
			continue
		}
		at[t.Term] = len(out.Should)
		out.Should = append(out.Should, Term{Text: t.Term, Fields: fields, Factor: factor})
	}
	return out
}

func (c *compiler) phrase(q sheaf.Phrase, factor float64) Node {
	tokens := c.a.PhraseTokens(q.Text)
	switch len(tokens) {
	case 0:
		return Bool{}
	case 1:
		return c.anyToken(tokens, q.Field, factor)
	}
	out := Phrase{Slop: q.Slop, Fields: c.fieldIndices(q.Field), Factor: factor}
	for _, t := range tokens {
		out.Tokens = append(out.Tokens, Token{Text: t.Term, Position: t.Position})
	}
	return out
}

// pieces returns a node that matches if all pieces match. An exact piece matches as a phrase. Any other piece matches
// as a copy of the parameter like, with the piece as its text. A piece that occurs n times gets n times the factor.
func (c *compiler) pieces(pieces []analysis.Piece, field string, factor float64, like Expand) Node {
	var out Bool
	times := map[analysis.Piece]float64{}
	for _, piece := range pieces {
		times[piece]++
	}
	for _, piece := range pieces {
		n := times[piece]
		if n == 0 {
			continue
		}
		delete(times, piece)
		if piece.Exact {
			out.Must = append(out.Must, c.phrase(sheaf.Phrase{Text: piece.Text, Field: field}, factor*n))
			continue
		}
		like.Text, like.Forms, like.Fields, like.Factor = piece.Text, true, c.fieldIndices(field), factor*n
		out.Must = append(out.Must, like)
	}
	return out
}

// Walk calls the function visit with every node of a plan, parents first.
func Walk(n Node, visit func(Node)) {
	visit(n)
	if b, ok := n.(Bool); ok {
		for _, parts := range [][]Node{b.Must, b.Should, b.MustNot} {
			for _, part := range parts {
				Walk(part, visit)
			}
		}
	}
}

// Weight returns the weight of a term: 1 for a prefix, 1/(1+d) for d edits, 0 for no match. If the term begins with
// FormMark, it is a form, and matches only if e.Forms is true.
func (e Expand) Weight(term string) float64 {
	text, form := strings.CutPrefix(term, FormMark)
	if form && !e.Forms {
		return 0
	}
	if e.Distance == 0 {
		if strings.HasPrefix(text, e.Text) {
			return 1
		}
		return 0
	}
	return edits.Weight([]rune(text), []rune(e.Text), e.Distance, e.Same)
}

// Grown is a term or form of the dictionary that an [Expand] accepts, with its weight.
type Grown struct {
	Term   string
	Weight float64
}

// Grow returns the terms that each Expand of a plan accepts, by [Expand.Key]. lookUp reads the server's dictionary.
func (p *Plan) Grow(lookUp func(Expand) ([]Grown, error)) (grown map[string][]Grown, err error) {
	grown = map[string][]Grown{}
	Walk(p.Root, func(n Node) {
		e, ok := n.(Expand)
		if !ok || err != nil {
			return
		}
		if _, known := grown[e.Key()]; !known {
			grown[e.Key()], err = lookUp(e)
		}
	})
	return grown, err
}
