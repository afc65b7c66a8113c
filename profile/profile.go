// Package profile says which stages a query runs, and with which numbers. A
// [Profile] is a ranking system written down as data: parameters that a query
// may override, branches that retrieve, a fusion, and final stages. The
// built-in profiles are in the folder builtin, one file each; users write more.
//
// The language is YAML and strict: an unknown key, a wrong type or a number
// out of range is an error with file, line and column. An expression may replace
// a number: "4 x limit", "max(10 x limit, 1000)", "1 - alpha".
//
// [Parse] reads a profile, [Profile.Plan] binds it to a query's limit and
// parameters, and package search runs the plan.
package profile

import (
	"time"

	"sheaf/rank"
)

// Profile is a ranking system, checked.
type Profile struct {
	// About says what the profile is for, in one or two sentences.
	Name  string
	About string
	// File names the file in errors.
	File string
	// Extends names the profile that this one changes, "" for none.
	Extends string
	// Parameters are what a query may override, in the order in which they
	// are declared.
	Parameters []Parameter

	sources
	candidates *phase // nil for none
	main       phase
	origin
}

// sources is what comes before the branches; nil for none.
type sources struct{ limits, expand, scan *step }

// origin is where a profile comes from.
type origin struct {
	root      string // the last profile in the chain that it extends
	digest    string
	unchanged bool // a built-in profile as it is in the binary
}

// Parameter is a number or a word of a profile that a query may set.
type Parameter struct {
	Name  string
	About string
	// Default is the value when a query sets none: a number or an expression
	// over limit and the parameters before it, or one of OneOf.
	Default string
	// Min and Max bound a number. Integer asks for a whole one.
	Min, Max float64
	Integer  bool
	// AtLeast is what a number must not be less than, an expression over limit
	// and the parameters before it; "" for nothing but Min.
	AtLeast string
	// OneOf are the words allowed; empty for a number.
	OneOf []string

	parsed
}

// parsed is a parameter's default and its least value, and the place of the default.
type parsed struct {
	number, atLeast *expression
	node            *node
}

// phase is a set of branches, how they are joined, and what follows. A profile
// has one, and may have another before it, whose hits bound it.
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
	// Limit is the number of results that the query wants.
	Limit int
	// Values are the parameters in force, as written.
	Values map[string]string
	// Expand asks for other ways to put the query; nil does not.
	Expand *Expand
	// Scan finds candidates in files, which bound and serve the branches; nil
	// when the branches search the store.
	Scan *Scan
	// Candidates is the first phase; nil when there is none. Its ranking,
	// cut to its Limit, bounds the branches of Main.
	Candidates *Phase
	Main       Phase
}

// Expand says how a query is expanded by a chat model.
type Expand struct {
	// Variants is how many other ways to put the query are asked for.
	Variants int
	// Passage asks for an invented answer, to be embedded beside the query (Gao
	// and others: Precise Zero-Shot Dense Retrieval without Relevance Labels,
	// 2023); a passage counts with the larger of its two similarities.
	Passage bool
	// AllWords lets all words of the query score. Otherwise a plain query
	// scores by those of its words that the model finds to matter.
	AllWords bool
	// Timeout bounds the call of the model.
	Timeout time.Duration
}

// Scan says what is searched of files that have no index.
type Scan struct {
	// Files is the most files that are candidates, ChunkChars the most
	// characters of a chunk, MaxVectors the most chunks that get vectors,
	// ListValues the most values of one property that are searched, FrontmatterDepth
	// how deep they may lie.
	Files, ChunkChars, MaxVectors, ListValues, FrontmatterDepth int
	// MemoryBytes bounds what cut files and the index take.
	MemoryBytes int64
}

// Phase is the branches that run together, their fusion, and what follows.
type Phase struct {
	Branches []Branch
	// Fusion joins the branches, one of them as well as several.
	Fusion rank.Fusion
	// Complete says that what one branch found is looked up in the others
	// before they are fused.
	Complete bool
	// FusionText describes the fusion, as the profile writes it.
	FusionText string
	Then       []Step
	// Limit is how many hits of a first phase go on; 0 for the main one.
	Limit int
}

// Branch is one retrieval and the stages that follow it.
type Branch struct {
	Name     string
	Retrieve Retrieve
	// Limit is how many hits to retrieve.
	Limit int
	// Weight is how much the branch counts in the fusion. A branch of weight
	// 0 need not run.
	Weight float64
	// Text says how to search words; nil for vectors.
	Text *TextBranch
	// Vector says how to search vectors; nil for words.
	Vector *VectorBranch
	// AtLeast names a branch before this one: a hit counts with the larger
	// of its scores in the two. "" for none.
	AtLeast string
	Then    []Step
}

// TextBranch says how words are matched; the meaning of each is that of the
// request of package store which has the same names.
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

// VectorBranch says how vectors are matched.
type VectorBranch struct {
	Field string // "body" or "title"
	// Candidates is how many passages an approximate store looks at; 0 lets
	// it choose.
	Candidates int
}

// Step is one stage of a plan.
type Step struct {
	// Name is the stage's name in profiles; Text the stage as the profile
	// writes it, "elbow: {ratio: 0.5, max: 20}", with every number known.
	Name  string
	Text  string
	Stage rank.Stage
}
