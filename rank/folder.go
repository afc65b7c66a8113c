package rank

import (
	"cmp"
	"fmt"
	"math"
	"path"

	"sheaf"
)

// FolderBoost raises hits in a folder if the ranking has many of the folder's documents. The factor of these hits is
//
//	1 + (log2(count+1) - 1) * sqrt(count/total), at most Max
//
// where total is the number of documents directly in the folder. count is how many of these documents the ranking has.
// There is no boost if count is below MinDocuments, or if count/total is below MinShare.
//
// Example, Max 1.15, 3 of 5 notes of a folder: 1 + (2 - 1) * sqrt(0.6) = 1.77, which Max lowers to 1.15. With
// MinDocuments 2 and MinShare 0.4, the defaults, the factor before Max is never below 1.37. With Max 1.15, every
// boosted folder then gets the same factor.
//
// Source: the tiered search specification, lexical reranking.
type FolderBoost struct {
	MinDocuments int
	MinShare     float64 // 0..1
	Max          float64 // at least 1; 0 is no cap
	Blend        Blend
}

// Apply implements [Stage].
func (b FolderBoost) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	const stage = "folder boost"
	if err := cmp.Or(env.check(stage, in), capValid(stage, b.Max)); err != nil {
		return nil, err
	}
	type folder struct{ tree, path string }
	folders, counts := map[sheaf.ID]folder{}, map[folder]int{} // of documents
	for i := range in {
		n := env.Facts.Node(in[i].ID)
		if n == nil {
			continue
		}
		if _, known := folders[n.Doc]; known {
			continue
		}
		if d, ok := env.Facts.Document(n.Doc); ok {
			f := folder{d.Tree, folderOf(d.Path)}
			folders[n.Doc] = f
			counts[f]++
		}
	}
	factors := map[folder]*sheaf.Explanation{}
	for f, count := range counts {
		if count < b.MinDocuments {
			continue
		}
		total := max(env.Facts.FolderSize(f.tree, f.path), count)
		if float64(count)/float64(total) >= b.MinShare {
			factors[f] = folderFactor(f.path, count, total)
		}
	}
	return boost(stage, b.Blend, b.Max, in, func(h *sheaf.Hit) (float64, func() sheaf.Explanation) {
		if n := env.Facts.Node(h.ID); n != nil {
			if f, known := folders[n.Doc]; known && factors[f] != nil {
				return factors[f].Value, func() sheaf.Explanation { return *factors[f] }
			}
		}
		return 1, nil
	})
}

// folderFactor explains the factor of a folder before the limit Max. The Value of the explanation is the factor.
func folderFactor(folder string, count, total int) *sheaf.Explanation {
	n, share := float64(count), float64(count)/float64(total)
	steps := math.Log2(n+1) - 1
	e := combined(fmt.Sprintf("folder %q: %d of %d documents found", folder, count, total), 1+steps*math.Sqrt(share),
		sheaf.CombineSum,
		part("one", 1),
		combined("growth", steps*math.Sqrt(share), sheaf.CombineProduct,
			combined("log2(count + 1) - 1", steps, sheaf.CombineDifference,
				combined("log2", math.Log2(n+1), sheaf.CombineLog2, part("count + 1", n+1)), part("one", 1)),
			combined("square root", math.Sqrt(share), sheaf.CombinePower, part("share found", share), part("half", 0.5))))
	return new(called(e, sheaf.KindFolder, map[string]sheaf.Value{
		"folder": sheaf.TextValue(folder), "documents": sheaf.NumberValue(n),
		"of": sheaf.NumberValue(float64(total)), "share": sheaf.NumberValue(share),
	}))
}

// folderOf returns the folder of a document's path, or "" for a document at the top of its tree.
func folderOf(p string) string {
	if dir := path.Dir(p); dir != "." && dir != "/" {
		return dir
	}
	return ""
}

// capValid returns an error unless limit, the largest factor of a boost, is 0, or finite and at least 1.
func capValid(stage string, limit float64) error {
	if limit == 0 || limit >= 1 && !math.IsInf(limit, 0) {
		return nil
	}
	return sheaf.Invalidf("%s: max is %v: must be a finite number, at least 1, or 0 for no cap", stage, limit)
}
