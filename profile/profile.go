// Package profile describes the stages of a query and their numbers. A [Profile] is a ranking as
// data: parameters that a query may override, branches that retrieve, a fusion, and final stages.
// The built-in profiles are in the folder builtin, one file each. Users write more.
//
// The language is strict YAML: an unknown key, a wrong type or a number out of range is an error with file, line
// and column. An expression may replace a number: "4 x limit", "max(10 x limit, 1000)", "1 - alpha".
//
// [Parse] reads a profile, [Profile.Plan] binds it to a query's limit and parameters, and package search runs the
// plan.
package profile

import (
	"time"

	"sheaf/rank"
)

// Profile is a checked ranking system.
type Profile struct {
	// About says in one or two sentences what the profile is for.
	Name  string
	About string
	// File names the file in errors.
	File string
	// Extends names the profile that this profile changes, "" for none.
	Extends string
	// Parameters are the numbers and words that a query may override, in the order of the file.
	Parameters []Parameter

	sources
	candidates *phase // nil for none
	main       phase
	digest     string
	unchanged  bool // an unchanged built-in profile
}

// sources are the parts before the branches; nil for none.
type sources struct{ limits, expand, scan *step }

// Parameter is a number or a word of a profile that a query may set.
type Parameter struct {
	// Option has the name, the range, and the default value. Its expression may name limit and earlier parameters.
	Option
	// AtLeast is a lower bound for a number, an expression over limit and earlier parameters; "" means only Min.
	AtLeast string

	parsed
}

// parsed has a parameter's default and lower bound, and the position of the default.
type parsed struct {
	number, atLeast *expression
	node            *node
}

// phase is a set of branches, their fusion, and the stages after it. A profile has a main phase,
// and may have a first phase whose hits limit the main phase.
type phase struct {
	branches []branch
	fuse     *step
	then     []step
	limit    *setting // of the first phase
	node     *node
}

type branch struct {
	name     string
	retrieve Retrieve
	settings []setting
	fields   []fieldSetting
	then     []step
	node     *node
}

type fieldSetting struct {
	name   string
	weight setting
}

// step is one stage of a profile with its settings.
type step struct {
	kind     *kind
	settings []setting
	node     *node
}

// Retrieve says how a branch finds chunks.
type Retrieve string

// The ways to retrieve.
const (
	RetrieveText   Retrieve = "text"   // by words, BM25
	RetrieveVector Retrieve = "vector" // by meaning, the nearest passage
)

// Plan is a profile bound to a query: every number is known and checked.
type Plan struct {
	Profile *Profile
	// Limit is the largest number of results.
	Limit int
	// Values are the values of all parameters, as text.
	Values map[string]string
	// Expand asks for other wordings of the query; nil means no expansion.
	Expand *Expand
	// Scan finds candidates in files, and the branches search only these; nil means that branches search the store.
	Scan *Scan
	// Candidates is the first phase; nil when there is none. The first Limit hits of its ranking
	// limit the branches of Main.
	Candidates *Phase
	Main       Phase
}

// Expand says how a chat model expands a query.
type Expand struct {
	// Variants is how many other wordings of the query the model returns.
	Variants int
	// Passage asks for an invented answer to embed beside the query (Gao and others: Precise Zero-Shot Dense
	// Retrieval without Relevance Labels, 2023). A hit counts with the larger of the two similarities.
	Passage bool
	// AllWords lets all words of a plain query score. Otherwise only words that the model chooses score.
	AllWords bool
	// Timeout limits the call of the model.
	Timeout time.Duration
}

// Scan limits a search in files without an index.
type Scan struct {
	// Files is the largest number of candidate files. ChunkChars limits the characters in a chunk,
	// MaxVectors the chunks with vectors, and ListValues the searched values of one property.
	// FrontmatterDepth is the largest depth of searched values.
	Files, ChunkChars, MaxVectors, ListValues, FrontmatterDepth int
	// MemoryBytes limits the memory of cut files and their index.
	MemoryBytes int64
}

// Phase is the branches that run in parallel, their fusion, and the stages after it.
type Phase struct {
	Branches []Branch
	// Fusion joins the branches, even a single branch.
	Fusion rank.Fusion
	// Complete asks each branch, before the fusion, for its score of hits that only other branches found.
	Complete bool
	// FusionText describes the fusion as the profile writes it.
	FusionText string
	Then       []Step
	// Limit is how many hits of a first phase remain; 0 for the main phase.
	Limit int
}

// Branch is one retrieval and the stages after it.
type Branch struct {
	Name     string
	Retrieve Retrieve
	// Limit is how many hits to retrieve.
	Limit int
	// Weight is how much the branch counts in the fusion. A branch of weight 0 need not run.
	Weight float64
	// Text says how to search words; nil for vectors.
	Text *TextBranch
	// Vector says how to search vectors; nil for words.
	Vector *VectorBranch
	// AtLeast names an earlier branch. A hit gets the larger of its scores in the two branches. "" for none.
	AtLeast string
	Then    []Step
}

// TextBranch says how to match words. Its fields mean the same as in store.TextRequest.
type TextBranch struct {
	Fields     []Field
	Combine    string // "sum", "best", "bm25f" or "text"
	TieBreaker float64
	Statistics string // "corpus" or "candidates"
	K1, B      float64
}

// Field is a field of a text branch with its weight, above 0.
type Field struct {
	Name   string
	Weight float64
}

// VectorBranch says how to match vectors.
type VectorBranch struct {
	Field string // "body" or "title"
	// Candidates is how many passages an approximate store examines; 0 lets it choose.
	Candidates int
}

// Step is one stage of a plan.
type Step struct {
	// Name is the stage's name in profiles. Text is the stage as the profile writes it, with every number known:
	// "elbow: {ratio: 0.5, max: 20}".
	Name  string
	Text  string
	Stage rank.Stage
	// Most is the largest number of hits that the stage keeps; math.MaxInt for all. Drops says that
	// it may drop hits, or replace them by their parents.
	Most  int
	Drops bool

	cuts, dated bool // see kind
}
