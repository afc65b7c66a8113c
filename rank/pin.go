package rank

import (
	"slices"

	"sheaf"
)

// Pin puts the hits with these IDs first, in the order of the IDs. The last pinned hit gets 1 more than the best score,
// or 1 if all scores are negative. Each earlier pinned hit gets 1 more than the pinned hit after it. Pin skips IDs
// outside the ranking.
type Pin struct{ IDs []sheaf.ID }

// Apply implements [Stage].
func (p Pin) Apply(in sheaf.Ranking, _ Env) (sheaf.Ranking, error) {
	if err := in.Valid("pin"); err != nil {
		return nil, err
	}
	var pinned []sheaf.ID
	for _, id := range p.IDs {
		if !slices.Contains(pinned, id) && slices.ContainsFunc(in, func(h sheaf.Hit) bool { return h.ID == id }) {
			pinned = append(pinned, id)
		}
	}
	best := 0.0
	for _, h := range in {
		best = max(best, h.Score)
	}
	out := slices.Clone(in)
	for i := range out {
		at := slices.Index(pinned, out[i].ID)
		if at < 0 {
			continue
		}
		raise := best + float64(len(pinned)-at) - out[i].Score
		out[i].Score += raise
		if out[i].Explanation != nil {
			out[i].Explanation = new(combined("pinned", out[i].Score, sheaf.CombineSum, *out[i].Explanation,
				called(part("raised above the others", raise), sheaf.KindPinned, nil)))
		}
	}
	out.Sort()
	return out, nil
}
