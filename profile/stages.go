package profile

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"sheaf"
	"sheaf/rank"
)

// kind is a kind of stage or fusion: its name, purpose, options and constructor. The decoder, the JSON Schema and the
// reference read the table of kinds. To add a stage, add an entry to this table.
type kind struct {
	name  string
	about string
	// short names the option that a single value in a profile sets: n in "top: 10".
	short   string
	options []*Option
	// pairs says that the stage refuses some settings together, for example low above high. Reading a profile finds this
	// by applying the stage to an empty ranking.
	pairs bool
	// keeps says that the stage does not change the scores of hits that stay in the ranking.
	keeps bool
	// needs says what the stage needs besides the ranking.
	needs need
	// most returns the largest number of hits that the stage keeps. It is nil without a maximum. If cuts is true,
	// Plan.CheckLimit refuses a query whose limit is above this maximum. drops says that the stage may drop or replace
	// hits although it has no maximum.
	most        func(a arguments) int
	cuts, drops bool
	// dated says that the result of the stage depends on the time of the query.
	dated  bool
	stage  func(a arguments) rank.Stage
	fusion func(a arguments) rank.Fusion
}

// need is what a stage needs besides the ranking, such as facts about documents.
type need uint8

const (
	needsFacts  need = iota // facts about documents
	needsIDs                // at most the IDs of hits, so that the stage also works on runs of other systems
	needsSearch             // the index or a model, which only a search has
)

// allOptions returns the options of the kind. For a stage, it adds the option that every stage has.
func (k *kind) allOptions() []*Option {
	if k.stage != nil {
		return append(slices.Clip(k.options), whenOption)
	}
	return k.options
}

func number(name, standard string, lo, hi float64, about string) *Option {
	return numeric(Option{Name: name, kind: typeNumber, Default: standard, Min: lo, Max: hi, About: about})
}

func integer(name, standard string, lo, hi float64, about string) *Option {
	return numeric(Option{Name: name, kind: typeInteger, Default: standard, Min: lo, Max: hi, About: about})
}

// numeric adds the parsed default to an option whose value is a number.
func numeric(o Option) *Option {
	if o.Default != "" {
		var err error
		if o.parsed, err = parseExpression(o.Default); err != nil {
			panic(fmt.Sprintf("profile: default of %s: %v", o.Name, err)) // the table is wrong
		}
	}
	return &o
}

func choice(name, standard, about string, choices ...string) *Option {
	return &Option{Name: name, kind: typeChoice, Default: standard, OneOf: choices, constants: choices, About: about}
}

func flag(name, about string) *Option {
	return &Option{Name: name, kind: typeBool, Default: "false", About: about}
}

// These options belong to several kinds. The index of a word is the value of the constant in package rank. Append to
// both lists, and never reorder them.
var (
	blendOption = choice("blend", "multiply", "how the factor changes the score: multiply, or add factor - 1",
		"multiply", "add")
	capOption = number("max", "1.15", 0, 1000, "the largest factor, at least 1; 0 is no cap")
	scoring   = []*Option{
		choice("method", "max_p", "how several scores become one: the best; the sum or mean of the best m; the sum of "+
			"1/(k + rank); the best m with decay; the root of the sum of squares",
			"max_p", "top_m_sum", "top_m_avg", "rrf_per_doc", "decayed_sum", "rss"),
		integer("m", "3", 1, 1000, "how many scores count, for top_m_sum, top_m_avg and decayed_sum"),
		number("decay", "0.95", 0, 1, "the weight of each score relative to the one before it, for decayed_sum"),
		integer("k", "60", rank.MinRRFK, rank.MaxRRFK, "the constant of rrf_per_doc"),
	}
)

// integerOf returns a function that returns the whole number in the setting called name.
func integerOf(name string) func(a arguments) int {
	return func(a arguments) int { return a.integer(name) }
}

func scoringOf(a arguments) rank.Scoring {
	return rank.Scoring{Method: rank.Method(a.choice("method")), M: a.integer("m"), Decay: a.number("decay"),
		K: a.integer("k")}
}

func blendOf(a arguments) rank.Blend { return rank.Blend(a.choice("blend")) }

// stages are all kinds of stage, in the order of the reference.
var stages = []kind{
	{name: "aggregate", about: "replaces chunks by their documents or by the sections above them", short: "method",
		needs: needsIDs, drops: true,
		options: append([]*Option{choice("to", "document", "what replaces the chunks", "document", "parent")}, scoring...),
		stage: func(a arguments) rank.Stage {
			return rank.Aggregate{To: rank.Level(a.choice("to")), Scoring: scoringOf(a)}
		}},
	{name: "tree", about: "replaces children by their section when enough of them were found, up the heading tree",
		short: "threshold", drops: true,
		options: append([]*Option{
			number("threshold", "0.5", 0.001, 1, "the smallest share of a section's children that must match"),
			integer("min_matches", "1", 1, 1000, "the smallest number of children that must match"),
			choice("nested", "outer", "an answer inside another: outer keeps the outer one, scored over everything inside; "+
				"both keeps both", "outer", "both"),
		}, scoring...),
		stage: func(a arguments) rank.Stage {
			return rank.Tree{Threshold: a.number("threshold"), MinMatches: a.integer("min_matches"),
				Nested: rank.Nested(a.choice("nested")), Scoring: scoringOf(a)}
		}},
	{name: "heading_boost", about: "raises documents and chunks under top headings", short: "max",
		options: []*Option{
			number("max", "1.3", 1, 1000, "the factor at levels 0 and 1"),
			number("decay", "0.9", 0.001, 1, "the factor of each level relative to the level above"), blendOption},
		stage: func(a arguments) rank.Stage {
			return rank.HeadingBoost{Max: a.number("max"), Decay: a.number("decay"), Blend: blendOf(a)}
		}},
	{name: "folder_boost", about: "raises hits in folders when a large part of the folder was found",
		options: []*Option{
			integer("min_documents", "2", 1, 1000, "the smallest number of documents found in a folder"),
			number("min_share", "0.4", 0, 1, "the smallest share of a folder's documents found"), capOption, blendOption},
		stage: func(a arguments) rank.Stage {
			return rank.FolderBoost{MinDocuments: a.integer("min_documents"), MinShare: a.number("min_share"),
				Max: a.number("max"), Blend: blendOf(a)}
		}},
	{name: "graph_boost", about: "raises hits whose documents have links with other found documents",
		options: []*Option{
			integer("candidates", "10", 1, 1000, "how many documents are examined, best first"),
			number("backlink", "1", 0, 1000, "the weight of a link from another document"),
			number("co_citation", "0.5", 0, 1000, "the weight of each document that others cite together with it"),
			number("shared_tag", "0.3", 0, 1000, "the weight of each document with a common tag"),
			number("strength", "0.1", 0, 1000, "how much the connections count: 1 + strength x ln(1 + sum)"), capOption,
			number(minSimilarity, "0", -1, 1, "the smallest similarity to the query of an examined document, when vectors "+
				"are searched; 0 is no minimum"), blendOption},
		stage: func(a arguments) rank.Stage {
			return rank.GraphBoost{Candidates: a.integer("candidates"), Backlink: a.number("backlink"),
				CoCitation: a.number("co_citation"), SharedTag: a.number("shared_tag"), Strength: a.number("strength"),
				Max: a.number("max"), MinSimilarity: a.number(minSimilarity), Blend: blendOf(a)}
		}},
	{name: "names", about: "adds to hits whose document or own heading the query names: weight x the share of the " +
		"query in the name x the share of the name in the query; and to names that equal the query. Outside a " +
		"search only equal names count",
		options: []*Option{
			number("document", "0.3", 0, 1000, "the weight of the best name of the document: title, alias or file name"),
			number("heading", "0.3", 0, 1000, "the weight of the section's own heading; the root of a document has none"),
			number("title", "1", 0, 1000, "how much a title adds that equals the query"),
			number("alias", "0.9", 0, 1000, "how much an alias or a file name adds that equals the query"),
			number("equal", "0.4", 0, 1000, "how much a section's heading adds that equals the query")},
		stage: func(a arguments) rank.Stage {
			return rank.Names{Document: a.number("document"), Heading: a.number("heading"), Title: a.number("title"),
				Alias: a.number("alias"), Equal: a.number("equal")}
		}},
	{name: "word_pairs", about: "adds to hits with words side by side as in the query: strength x the " +
		"share of the query's pairs, by idf", short: "strength", needs: needsSearch,
		options: []*Option{
			number("strength", "0.3", 0, 1000, "how much a hit with all pairs gets"),
			integer("hits", "1000", 1, 1000, "how many hits are read, best first")},
		stage: func(a arguments) rank.Stage {
			return rank.WordPairs{Strength: a.number("strength"), Hits: a.integer("hits")}
		}},
	{name: "recency", about: "lowers old documents", dated: true,
		options: []*Option{
			choice("curve", "hyperbolic", "1/(1 + decay x age in years), or half for every half_life",
				"hyperbolic", "half_life"),
			number("decay", "0.5", 0, 1000, "how fast the hyperbolic curve falls"),
			number("half_life_days", "365", 0.001, 100_000, "the half life in days"),
			number("floor", "0.75", 0, 1, "the smallest factor"),
			number("undated_days", "91.3194444444444", 0, 100_000, "the age in days of documents without a date"), blendOption},
		stage: func(a arguments) rank.Stage {
			return rank.Recency{Curve: rank.AgeCurve(a.choice("curve")), Decay: a.number("decay"),
				HalfLife: days(a.number("half_life_days")), Floor: a.number("floor"),
				Undated: days(a.number("undated_days")), Blend: blendOf(a)}
		}},
	{name: "property_boost", about: "raises or lowers documents by a number in a property", short: "name",
		options: []*Option{
			{Name: "name", kind: typeText, About: "the property"},
			choice("curve", "feedback", "feedback turns votes into a factor between 0.5 and 2; plain takes the number "+
				"itself and ignores a negative one", "feedback", "plain"),
			number("max", "0", 0, 1000, "the largest factor, at least 1; 0 is no cap"), blendOption},
		stage: func(a arguments) rank.Stage {
			return rank.PropertyBoost{Name: a.text("name"), Curve: rank.PropertyCurve(a.choice("curve")),
				Max: a.number("max"), Blend: blendOf(a)}
		}},
	{name: "field_boost", about: "raises hits with one of some values in a field",
		options: []*Option{
			{Name: "field", kind: typeText, About: "tree, folder, tag or prop.NAME"},
			{Name: "values", kind: typeTexts, About: "the values"},
			number("factor", "1.5", 0.001, 1000, "the factor"), blendOption},
		stage: func(a arguments) rank.Stage {
			return rank.FieldBoost{Field: a.text("field"), Values: a.texts("values"), Factor: a.number("factor"),
				Blend: blendOf(a)}
		}},
	{name: "top", about: "keeps the first hits", short: "n", keeps: true, needs: needsIDs,
		most:    integerOf("n"),
		options: []*Option{integer("n", limitName, 1, 1_000_000, "how many")},
		stage:   func(a arguments) rank.Stage { return rank.Top{N: a.integer("n")} }},
	{name: "elbow", about: "cuts where the scores drop", short: "ratio", keeps: true, needs: needsIDs,
		cuts: true, most: integerOf("max"),
		options: []*Option{
			number("ratio", "0.5", 0, 1, "cuts before a score that is less than this share of the one before it"),
			integer("max", "20", 0, 1_000_000, "the largest number of hits to keep")},
		stage: func(a arguments) rank.Stage { return rank.Elbow{Ratio: a.number("ratio"), Max: a.integer("max")} }},
	{name: "adaptive", about: "keeps the good hits", keeps: true, pairs: true, needs: needsIDs,
		cuts: true, most: integerOf("ceiling"),
		options: []*Option{
			integer("floor", "3", 0, 1_000_000, "the smallest number to keep"),
			integer("ceiling", "30", 0, 1_000_000, "the largest number to keep"),
			number("relative", "0.3", 0, 1, "the share of the best score that a hit must reach"),
			number("absolute", "0.01", -1e12, 1e12, "the score that a hit must reach"),
			flag("diverse", "takes the best hit of every document before the second of any")},
		stage: func(a arguments) rank.Stage {
			return rank.Adaptive{Floor: a.integer("floor"), Ceiling: a.integer("ceiling"), Relative: a.number("relative"),
				Absolute: a.number("absolute"), Diverse: a.flag("diverse")}
		}},
	{name: "normalize", about: "maps scores to a scale, in the same order", short: "scale", pairs: true, needs: needsIDs,
		options: []*Option{
			choice("scale", "minmax", "the function that maps them",
				"minmax", "tanh", "sigmoid", "percentile", "max", "zscore", "l2"),
			number("low", "0.02", -1e6, 1e6, "the smallest score, for minmax, tanh, sigmoid and percentile"),
			number("high", "0.98", -1e6, 1e6, "the largest score"),
			number("spread", "2.5", 1e-6, 1e6, "how wide tanh and sigmoid are"),
			number("middle", "0", -1e6, 1e6, "the score that sigmoid maps to 0.5")},
		stage: func(a arguments) rank.Stage {
			return rank.Normalize{Scale: rank.Scale(a.choice("scale")), Low: a.number("low"), High: a.number("high"),
				Spread: a.number("spread"), Middle: a.number("middle")}
		}},
	{name: similarityName, about: "turns the cosines of a vector branch into another measure", short: "to",
		needs:   needsIDs,
		options: []*Option{choice("to", "closeness", "1/(1 + arccos c), or (1 + c)/2", "closeness", "half_cosine")},
		stage:   func(a arguments) rank.Stage { return rank.AsSimilarity{To: rank.Similarity(a.choice("to"))} }},
	{name: "per_document", about: "keeps the best hits of every document; of a document and its only section of " +
		"the same title, the better one", short: "max", keeps: true, needs: needsIDs, drops: true,
		options: []*Option{integer("max", "3", 1, 1_000_000, "how many of one document")},
		stage:   func(a arguments) rank.Stage { return rank.PerDocument{Max: a.integer("max")} }},
	{name: "mmr", about: "orders hits so that each adds something new to those above it",
		most: integerOf("n"),
		options: []*Option{
			number("lambda", "0.7", 0, 1, "how much relevance counts against repetition"),
			integer("n", "100", 1, 1000, "how many hits are ordered; the others are dropped")},
		stage: func(a arguments) rank.Stage { return rank.MMR{Lambda: a.number("lambda"), N: a.integer("n")} }},
	{name: "neighbours", about: "adds the chunks around every hit", keeps: true,
		options: []*Option{
			integer("before", "1", 0, 100, "how many before it"),
			integer("after", "1", 0, 100, "how many after it")},
		stage: func(a arguments) rank.Stage {
			return rank.Neighbors{Before: a.integer("before"), After: a.integer("after")}
		}},
	{name: "merge_adjacent", about: "joins hits that are neighbors in their document", keeps: true,
		stage: func(arguments) rank.Stage { return rank.MergeAdjacent{} }},
	{name: "budget", about: "keeps the best hits whose texts fit a number of tokens", short: "tokens", keeps: true,
		options: []*Option{
			integer("tokens", "", 1, 1e9, "how many tokens"),
			number("bytes_per_token", "4", 0.1, 100, "how many bytes of text make a token"),
			integer("overhead", "0", 0, 1e6, "tokens for the title and path of every hit"),
			flag("skip", "continues after a hit that does not fit")},
		stage: func(a arguments) rank.Stage {
			return rank.Budget{Tokens: a.integer("tokens"), BytesPerToken: a.number("bytes_per_token"),
				Overhead: a.integer("overhead"), Skip: a.flag("skip")}
		}},
	{name: "rerank", about: "orders the first hits by the scores of a reranking model; without a model it " +
		"changes nothing, and the result says so", short: "n", needs: needsSearch,
		most: func(a arguments) int { return cmp.Or(a.integer("n"), math.MaxInt) },
		options: []*Option{
			integer("n", "20", 0, 1000, "how many hits the model reads; the others are dropped; 0 asks no model"),
			number("weight", "1", 0, 1, "how much the model counts against the score before; both are scaled to 0..1"),
			number("timeout", "5", 0.001, 600, "seconds that the model may take")},
		stage: func(a arguments) rank.Stage {
			return Rerank{N: a.integer("n"), Weight: a.number("weight"), Timeout: seconds(a.number("timeout"))}
		}},
	{name: "reading_order", short: "within",
		about:   "puts hits of one document with nearly equal scores into document order",
		options: []*Option{number("within", "0.01", 0, 1e12, "how far below the first score another counts as nearly equal")},
		stage:   func(a arguments) rank.Stage { return rank.ReadingOrder{Within: a.number("within")} }},
	{name: "pin", about: "puts some hits first", short: "ids", needs: needsIDs,
		options: []*Option{{Name: "ids", kind: typeTexts, About: "the ids, in the wanted order"}},
		stage: func(a arguments) rank.Stage {
			var ids []sheaf.ID
			for _, id := range a.texts("ids") {
				ids = append(ids, sheaf.ID(id))
			}
			return rank.Pin{IDs: ids}
		}},
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
func days(n float64) time.Duration    { return time.Duration(n * float64(24*time.Hour)) }

// ofMissing is a help text for the values of rank.Norm. It says how a leg counts a hit that it did not find.
const ofMissing = "counts as its lowest score for max and zscore, as a score of 0 among the others for linear, and " +
	"gives 0 otherwise"

// fusionOptions are the options of a fusion. The three methods share these options.
var fusionOptions = []*Option{
	choice("method", "", "rrf: the sum of weight/(k + rank); weighted_sum: the weighted mean of min-max scores; scores: "+
		"scores normalized by norm and combined by mean", "rrf", "weighted_sum", "scores"),
	integer("k", "60", rank.MinRRFK, rank.MaxRRFK, "the constant of rrf: the smaller, the more the first ranks count"),
	flag("repeats", "rrf counts every occurrence of an id in a branch, not only the best"),
	flag("unit", "rrf gives 1 to a hit that is first in every branch"),
	choice("norm", "max", "how the scores of a branch are normalized, for scores; a hit that it did not find "+
		ofMissing+"; share: by the score of a perfect hit",
		"none", "minmax", "linear", "zscore", "max", "l2", "minmax_opensearch", "zscore_opensearch", "share"),
	choice("mean", "sum", "how the normalized scores are combined with the weights, for scores; geometric and harmonic "+
		"ignore a branch whose normalized score is not above 0, such as about half of the z-scores",
		"sum", "arithmetic", "geometric", "harmonic", "rss"),
	flag("complete", "asks each branch for its score of hits that only others found, so that no score depends on how "+
		"many hits each retrieves"),
	choice(pushDownName, "never", "has no effect; profiles of older versions may have it", "never", "equal", "always"),
	flag("direct", "the only branch of a weight above 0 keeps its scores"),
}

// pushDownName is an option that no longer has an effect. Texts about a fusion leave it out.
const pushDownName = "push_down"

// whenOption is the option with which a profile can disable a stage. Every stage has it.
var whenOption = number("when", "1", -1e12, 1e12, "0 disables the stage")

var fusion = kind{name: "fuse", about: "joins the branches into one ranking", short: "method", options: fusionOptions,
	fusion: func(a arguments) rank.Fusion {
		switch a.text("method") {
		case "rrf":
			return rank.RRF{K: a.integer("k"), Repeats: a.flag("repeats"), Unit: a.flag("unit")}
		case "weighted_sum":
			return rank.Scores{Norm: rank.NormMinMax, Mean: rank.MeanArithmetic}
		}
		return rank.Scores{Norm: rank.Norm(a.choice("norm")), Mean: rank.Mean(a.choice("mean"))}
	}}

// These are the options of branches.
var (
	branchOptions = []*Option{
		choice("retrieve", "", "by words or by meaning", string(RetrieveText), string(RetrieveVector)),
		integer("limit", "100", 1, 100_000, "how many hits to retrieve"),
		number("weight", "1", 0, 1000, "how much the branch counts in the fusion; 0 disables it"),
		{Name: "at_least", kind: typeText, About: "an earlier branch: a hit gets the larger of its scores " +
			"in the two"},
	}
	textOptions = []*Option{
		choice("combine", "sum", "how the scores of fields become one: their sum; the best and tie_breaker times the "+
			"others; bm25f: one BM25 over all fields; text: bm25f, and on a store without it the best and 0.2 times the "+
			"others", "sum", "best", "bm25f", "text"),
		number("tie_breaker", "0", 0, 1, "the weight of the fields that are not the best"),
		choice("statistics", "corpus", "which chunks count for rarity and length", "corpus", "candidates"),
		number("k1", "1.2", 0, 1000, "how soon repeated words stop counting more"),
		number("b", "0.75", 0, 1, "how much a long text lowers its score"),
	}
	vectorOptions = []*Option{
		choice("field", "body", "the passages of the text, or only the title", "body", "title"),
		integer("candidates", "0", 0, 100_000, "how many passages an approximate store examines; 0 lets it choose"),
	}
	fieldWeight = number("fields", "1", 0, 1_000_000, "the weight of a field; 0 disables it")
	phaseLimit  = integer("limit", "1000", 1, 100_000, "how many hits of the first phase are kept")
)

// These are the kinds of the parts before the branches, which limit results, expand the query, and scan files.
var (
	limitOptions = kind{name: "limits", about: "says how many results a query returns",
		options: []*Option{
			integer("default", "10", 1, MaxLimit, "how many results a query gets that names no number"),
			integer("max", "10000", 1, MaxLimit, "the largest number")}}
	expand = kind{name: "expand", about: "asks a chat model for other ways to put the query; they add " +
		"candidates, and only words of the query score. Without a model the original query is used",
		short: "variants",
		options: []*Option{
			integer("variants", "3", 0, 10, "how many other ways to put it"),
			number("timeout", "5", 0.001, 60, "seconds that the model may take"),
			flag("passage", "has the model invent an answer (HyDE); when vectors are searched, the answer and the variants are "+
				"embedded beside the query"),
			flag("all_words", "all words of the query score, not only those that the model chooses"),
			number("when", "1", -1e12, 1e12, "0 asks no model")}}
	scan = kind{name: "scan", about: "finds the candidates in the files themselves: it looks for the words of the " +
		"query in paths and texts, cuts the best files into sections, and indexes them in memory while the query runs",
		short: "files",
		options: []*Option{
			integer("files", "500", 1, 10_000, "how many files are candidates"),
			integer("chunk_chars", "6000", 100, 100_000, "the largest number of characters in a section"),
			number("memory_mb", "100", 1, 1000, "megabytes for cached sections (35 %) and for the index (65 %)"),
			integer("max_vectors", "1000", 1, 100_000, "how many sections get vectors, when vectors are searched"),
			integer("list_values", "10", 0, 1000, "how many values of a list in frontmatter are searched; a note that "+
				"lists hundreds would match every query"),
			integer("frontmatter_depth", "1", 1, 10, "how deep values in frontmatter are searched: 1 skips lists and "+
				"maps within a property")}}
)
