package profile

import (
	"time"

	"sheaf"
)

// What comes before the branches: how many results may be wanted, the expansion
// of the query, and candidates that are found in files.
var (
	limitOptions = kind{name: "limits", about: "says how many results a query may want",
		options: []option{
			integer("default", "10", 1, MaxLimit, "how many are wanted when nobody says"),
			integer("max", "10000", 1, MaxLimit, "the most that may be wanted")}}
	expand = kind{name: "expand", about: "asks a chat model for other ways to put the query; they widen what is a candidate, and of words only those of the query score. Without a model the query stands for itself", short: "variants",
		options: []option{
			integer("variants", "3", 0, 10, "how many other ways to put it"),
			number("timeout", "5", 0.001, 60, "seconds that the model may take"),
			flag("passage", "has the model invent an answer (HyDE); when vectors are searched, the answer and the variants are embedded beside the query"),
			flag("all_words", "all words of the query score, whichever of them the model finds to matter"),
			number("when", "1", -1e12, 1e12, "0 asks no model")}}
	scan = kind{name: "scan", about: "finds the candidates in the files themselves: what the query says is looked for in paths and texts, the best files are cut into sections, and an index in memory is made of them that lives as long as the query", short: "files",
		options: []option{
			integer("files", "500", 1, 10_000, "how many files are candidates"),
			integer("chunk_chars", "6000", 100, 100_000, "the most characters of a section"),
			number("memory_mb", "100", 1, 1000, "megabytes for sections that are remembered (35 %) and for the index (65 %)"),
			integer("max_vectors", "1000", 1, 100_000, "how many sections get vectors, when vectors are searched"),
			integer("list_values", "10", 0, 1000, "how many values of a list in frontmatter are searched; notes that list hundreds would be found by everything"),
			integer("frontmatter_depth", "1", 1, 10, "how deep values in frontmatter are searched: 1 leaves out what lies in a list or map within a property")}}
)

// decodeSources reads them; a first phase of branches is no matter of theirs.
func (p *Profile) decodeSources(n *node) (err error) {
	for _, s := range []struct {
		kind *kind
		to   **step
	}{{&limitOptions, &p.limits}, {&expand, &p.expand}} {
		if value := n.get(s.kind.name); value != nil {
			if *s.to, err = decodeStep(s.kind, value, p.Parameters); err != nil {
				return err
			}
		}
	}
	first := n.get("candidates")
	if first == nil || first.kind != nodeMapping || first.get(scan.name) == nil {
		return nil
	}
	if err := first.onlyKeys("candidates that are scanned", scan.name); err != nil {
		return err
	}
	p.scan, err = decodeStep(&scan, first.get(scan.name), p.Parameters)
	return err
}

// planSources binds them.
func (p *Profile) planSources(plan *Plan, v values) error {
	if p.expand != nil {
		args, err := compute(p.expand.settings, v)
		if err != nil {
			return err
		}
		if args.number("when") != 0 {
			plan.Expand = &Expand{Variants: args.integer("variants"), Passage: args.flag("passage"), AllWords: args.flag("all_words"), Timeout: time.Duration(args.number("timeout") * float64(time.Second))}
		}
	}
	if p.scan != nil {
		args, err := compute(p.scan.settings, v)
		if err != nil {
			return err
		}
		plan.Scan = &Scan{Files: args.integer("files"), ChunkChars: args.integer("chunk_chars"), MaxVectors: args.integer("max_vectors"), ListValues: args.integer("list_values"),
			FrontmatterDepth: args.integer("frontmatter_depth"),
			MemoryBytes:      int64(args.number("memory_mb") * (1 << 20))}
	}
	return nil
}

// checkLimit refuses a limit that the profile does not allow.
func (p *Profile) checkLimit(limit int, v values) error {
	if p.limits == nil {
		return nil
	}
	args, err := compute(p.limits.settings, v)
	if err != nil {
		return err
	}
	if most := args.integer("max"); limit > most {
		return sheaf.Invalidf("limit is %d: profile %s allows 1..%d", limit, p.Name, most)
	}
	return nil
}

// limitBounds are the numbers of limits with the parameters at their defaults;
// nil when the profile says nothing of limits.
func (p *Profile) limitBounds() (arguments, error) {
	if p.limits == nil {
		return nil, nil
	}
	v, err := p.values(1, nil)
	if err != nil {
		return nil, err
	}
	args, err := compute(p.limits.settings, v)
	if err == nil && args.integer("default") > args.integer("max") {
		return nil, p.limits.node.errorf("limits.default is %d, above limits.max, which is %d", args.integer("default"), args.integer("max"))
	}
	return args, err
}

// maxLimit is the most results that may be wanted.
func (p *Profile) maxLimit() (int, error) {
	args, err := p.limitBounds()
	if args == nil || err != nil {
		return MaxLimit, err
	}
	return args.integer("max"), nil
}

// MostWanted is how many results may be wanted with these parameters.
func (p *Profile) MostWanted(set map[string]string) (int, error) {
	if p.limits == nil {
		return MaxLimit, nil
	}
	v, err := p.values(1, set)
	if err != nil {
		return 0, err
	}
	args, err := compute(p.limits.settings, v)
	return args.integer("max"), err
}

// DefaultLimit is how many results a query with these parameters wants when it
// does not say; 0 when the profile leaves that open, or a parameter is wrong.
func (p *Profile) DefaultLimit(set map[string]string) int {
	if p.limits == nil {
		return 0
	}
	v, err := p.values(1, set)
	if err != nil {
		return 0
	}
	args, err := compute(p.limits.settings, v)
	if err != nil {
		return 0
	}
	return min(args.integer("default"), args.integer("max"))
}

// Scans reports whether the profile finds candidates in files and so needs no
// index.
func (p *Profile) Scans() bool { return p.scan != nil }
