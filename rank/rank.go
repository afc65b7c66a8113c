// Package rank answers the question "in which order?". It holds the stages of
// a ranking as pure functions, one file per family: fusing several rankings
// into one (fuse.go, combine.go), lifting chunks to documents and sections
// (aggregate.go, tree.go), boosts, cutoffs, normalization, diversity,
// neighbors, budgets and pins.
//
// A [Stage] is a value that holds its parameters; Apply gives another ranking
// and never changes the one it is given, so that every step of a query can be
// kept and shown. What a stage must know about documents comes through
// [Facts]. Nothing here performs input or output, reads a clock or depends on
// the order of a map: equal input gives equal output to the last bit.
//
// A hit that carries an explanation gets one that tells what the stage did to
// its score, with the old one as a part; a hit without stays without. The
// parts recombine to the score.
//
// The one stage that calls a model, reranking, is not here: it belongs to
// package search.
package rank

import (
	"time"

	"sheaf"
)

// Stage is one step that turns a ranking into another. Stages are values and
// safe for concurrent use.
type Stage interface {
	// Apply returns another ranking, which may share the memory of in, so that
	// neither may be changed afterwards. A parameter out of range, or a hit whose
	// score is not a finite number, is sheaf.ErrInvalid. The hits of in are
	// best first.
	Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error)
}

// Lifter is a stage whose hits stand for others, in memory that serves again; nil makes
// new. It says what Apply does.
type Lifter interface {
	Stage
	ApplyIn(memory *Memory, in sheaf.Ranking, env Env) (sheaf.Ranking, error)
}

// Env is what a stage may know of the query and of the documents.
type Env struct {
	// Facts describe the documents. Stages that need none work without.
	Facts Facts
	// Query is what was asked for, in the words of who asked, without marks of a query language.
	Query string
	// Typed is all of it as it was typed, which may be a name with such marks in it; "" when that
	// is Query.
	Typed string
	// Now is the time of the query, against which ages are measured.
	Now time.Time
	// Similarity tells how near the query's vector a chunk or a document
	// is, in -1..1; false when no vector branch found it. Nil when the query
	// has no vector branch.
	Similarity func(sheaf.ID) (float64, bool)
	// Named compares a name with the query. Nil when the query has no words, or the
	// store cannot count them.
	Named func(name string) NameMatch
	// Pairs returns the pairs of neighboring words of the query, and which chunks hold each.
	// The chunks must differ. Pairs keeps no reference to them. It returns no pairs when
	// the query has none, or when the time ran out. Nil when the store cannot look for them.
	Pairs func(chunks []sheaf.ID) ([]Pair, error)
}

// Facts are the read-only facts about documents that stages work with. The
// catalog's snapshots meet it. Answers belong to the Facts and must not be
// changed; they do not change while a query runs. Safe for concurrent use.
type Facts interface {
	// Chunk describes the chunk called id; false when there is none.
	Chunk(id sheaf.ID) (sheaf.Chunk, bool)
	// Document describes the document called id, its Chunks in order
	// included; false when there is none.
	Document(id sheaf.ID) (sheaf.Document, bool)
	// Date is the date of a document; false when it has none.
	Date(doc sheaf.ID) (sheaf.Dated, bool)
	// FolderSize is the number of documents that lie directly in a folder of
	// a tree; "" is the tree's top.
	FolderSize(tree, folder string) int
	// Links are the documents that doc links to, without doc itself and
	// without duplicates, in order of ID.
	Links(doc sheaf.ID) []sheaf.ID
	// Backlinks are the documents that link to doc, without doc itself and
	// without duplicates, in order of ID.
	Backlinks(doc sheaf.ID) []sheaf.ID
}

// Outliner is Facts that can tell in short what stages ask of hundreds of
// candidates; it says what Chunk, Document and Date do. Safe for concurrent use.
type Outliner interface {
	// Node is where the chunk called id stands, nil when there is none. It must
	// not be changed.
	Node(id sheaf.ID) *sheaf.Node
	// Outline is the document called id, nil when there is none. It must not
	// be changed. Nodes that know their outline know its date.
	Outline(id sheaf.ID) *sheaf.Outline
}

// Linker is Facts that can tell links in short. Safe for concurrent use.
type Linker interface {
	// LinkNumbers are the numbers, as [sheaf.Node] has them, of the documents that Links
	// says the document of a node links to; it may name some that Facts otherwise hide.
	// False says that it has none, or that some of those have none. They must not be
	// changed.
	LinkNumbers(from *sheaf.Node) ([]uint32, bool)
}

// nodeOf is where a chunk stands, nil when there is none.
func nodeOf(facts Facts, id sheaf.ID) *sheaf.Node {
	if o, ok := facts.(Outliner); ok {
		return o.Node(id)
	}
	if c, ok := facts.Chunk(id); ok {
		n := sheaf.NodeOf(&c)
		return &n
	}
	return nil
}

// findNodes sets nodes to where hits stand, nil for those that nobody knows.
func findNodes(nodes []*sheaf.Node, hits sheaf.Ranking, facts Facts) {
	o, ok := facts.(Outliner)
	for i := range hits {
		if ok {
			nodes[i] = o.Node(hits[i].ID)
		} else {
			nodes[i] = nodeOf(facts, hits[i].ID)
		}
	}
}

// aboveOf is the chunk above one that has a parent, nil when nobody knows it.
func aboveOf(facts Facts, n *sheaf.Node) *sheaf.Node {
	if n.Above != nil {
		return n.Above
	}
	return nodeOf(facts, n.Parent)
}

// outlineOf is the document of a chunk in short, without its date; nil when there is
// none.
func outlineOf(facts Facts, n *sheaf.Node) *sheaf.Outline {
	if n.Outline != nil {
		return n.Outline
	}
	if o, ok := facts.(Outliner); ok {
		return o.Outline(n.Doc)
	}
	if d, ok := facts.Document(n.Doc); ok {
		return sheaf.OutlineOf(&d, sheaf.Dated{})
	}
	return nil
}

// dateOf is the date of a chunk's document; false when it has none.
func dateOf(facts Facts, n *sheaf.Node) (sheaf.Dated, bool) {
	if n.Outline != nil {
		return n.Outline.Date, n.Outline.Date.Source != 0
	}
	return facts.Date(n.Doc)
}

// needFacts returns an error when a stage that cannot do without facts has
// none.
func (e Env) needFacts(stage string) error {
	if e.Facts == nil {
		return sheaf.Invalidf("%s: needs facts about documents, and there are none", stage)
	}
	return nil
}
