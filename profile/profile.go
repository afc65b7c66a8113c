// Package profile describes the stages of a query and their numbers. A [Profile] is a ranking as data: parameters,
// branches that retrieve, a fusion, and final stages. Built-in profiles are in the folder builtin; users write more.
//
// The language is strict YAML: unknown keys, wrong types and numbers out of range are errors with a position. An
// expression may replace a number: "4 x limit", "max(10 x limit, 1000)", "1 - alpha".
//
// [Parse] reads a profile, [Profile.Plan] binds it to a query's limit and parameters, and package search runs the plan.
package profile

import (
	"time"

	"sheaf/rank"
)

// Profile is a way to rank, as a profile file describes it. Its settings have been checked.
type Profile struct {
	Name string
	// About says in one or two sentences what the profile is good for.
	About string
	// File is the name of the file in errors.
	File string
	// Extends is the name of the profile that this profile changes, or "".
	Extends string
	// Parameters are the numbers and words that a query may set, in file order.
	Parameters []Parameter

	node      *node // the file, merged with the profiles that it extends
	digest    string
	unchanged bool // an unchanged built-in profile
}

// Parameter is a number or a word in a profile. A query may set it.
type Parameter struct {
	// Option has the name, range and default of the parameter. The default may use limit and earlier parameters.
	Option
	// AtLeast, if not "", is an expression for one more lower bound. It may use limit and earlier parameters.
	AtLeast string

	atLeast *expression
	node    *node // the position of the default in the file
}

// Retrieve says how a branch finds chunks.
type Retrieve string

// These are the ways to retrieve.
const (
	RetrieveText   Retrieve = "text"   // by words, BM25
	RetrieveVector Retrieve = "vector" // by meaning, the nearest passage
)

// Plan is a profile bound to a query. Every number in it is computed and checked.
type Plan struct {
	Profile *Profile
	// Limit is the largest number of results of the query.
	Limit int
	// Values has the values of all parameters as text.
	Values map[string]string
	// Expand says how a chat model writes the query in other words. If Expand is nil, no model is asked.
	Expand *Expand
	// Scan says how to find candidates in files, which the branches then search. If nil, the branches search the store.
	Scan *Scan
	// Candidates is the first phase, or nil. If there is a first phase, Main searches only the best hits of this phase, at
	// most Candidates.Limit.
	Candidates *Phase
	Main       Phase
}

// Expand says how a chat model expands a query.
type Expand struct {
	// Variants is the number of other wordings of the query that the model should write.
	Variants int
	// Passage asks the model for an invented answer. The answer is embedded too, and a hit counts with its larger
	// similarity, to the query or the answer. (Gao and others: Precise Zero-Shot Dense Retrieval without Relevance
	// Labels, 2023.)
	Passage bool
	// AllWords says which words of a query without operators score. With AllWords, all words score. Without AllWords, only
	// the words that the model chooses score.
	AllWords bool
	// Timeout limits how long the model may take.
	Timeout time.Duration
}

// Scan limits a search in files without an index.
type Scan struct {
	// Files is the largest number of candidate files that are read. ChunkChars is the largest number of characters in a
	// chunk. MaxVectors is the largest number of chunks that get vectors. ListValues is the largest number of values of a
	// property that are searched. FrontmatterDepth is the largest depth in the frontmatter at which values are searched.
	Files, ChunkChars, MaxVectors, ListValues, FrontmatterDepth int
	// MemoryBytes limits the memory for the files that are cut into sections, and for the index of these sections.
	MemoryBytes int64
}

// Phase has branches that run in parallel, their fusion, and the stages after the fusion.
type Phase struct {
	Branches []Branch
	// Fusion joins the branches. It also runs if there is only one branch.
	Fusion rank.Fusion
	// Complete asks each branch, before the fusion, for the scores of the hits that only other branches found.
	Complete bool
	// FusionText is the fusion in the form that a profile has.
	FusionText string
	Then       []Step
	// Limit is the largest number of hits that a first phase keeps. It is 0 for the main phase.
	Limit int
}

// Branch is one retrieval, and the stages after it.
type Branch struct {
	Name     string
	Retrieve Retrieve
	// Limit is the largest number of hits to retrieve.
	Limit int
	// Weight is the weight of the branch in the fusion. A branch of weight 0 need not run.
	Weight float64
	// Text says how to search words. It is nil for a branch that searches vectors.
	Text *TextBranch
	// Vector says how to search vectors. It is nil for a branch that searches words.
	Vector *VectorBranch
	// AtLeast is the name of an earlier branch, or "". The hits of that branch join the hits of this branch. A hit of both
	// branches gets the larger of its two scores.
	AtLeast string
	Then    []Step
}

// TextBranch says how to match words. Its fields mean the same as the fields of store.TextRequest.
type TextBranch struct {
	Fields     []Field
	Combine    string // "sum", "best", "bm25f" or "text"
	TieBreaker float64
	Statistics string // "corpus" or "candidates"
	K1, B      float64
}

// Field is a field that a text branch searches. Its weight is above 0.
type Field struct {
	Name   string
	Weight float64
}

// VectorBranch says how to match vectors.
type VectorBranch struct {
	Field string // "body" or "title"
	// Candidates is the number of passages that an approximate store examines. If Candidates is 0, the store chooses.
	Candidates int
}

// Step is one stage of a plan.
type Step struct {
	// Name names the stage. Text is the stage as in a profile, with numbers for expressions: "elbow: {ratio: 0.5, max:
	// 20}".
	Name  string
	Text  string
	Stage rank.Stage
	// Most is the largest number of hits that the stage keeps. It is math.MaxInt if there is no maximum. Drops says that
	// the stage may drop hits, or replace hits by their parents.
	Most  int
	Drops bool

	cuts, dated bool // see kind
}
