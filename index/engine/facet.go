package engine

import "context"

// Facets counts the values of each column over the chunks that match a word request. Map i of the result is for
// columns[i] and has the number of chunks by value. Its keys are encoded values: see segment.DecodeValue.
func (s *Snapshot) Facets(ctx context.Context, req Request, columns []string) ([]map[string]int, error) {
	p, err := s.planOf(&req)
	if err != nil {
		return nil, err
	}
	sets, err := p.matchingChunks(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]map[string]int, len(columns))
	for i, column := range columns {
		counts := map[string]int{}
		for v, set := range sets {
			if set.Next(0) < 0 {
				continue
			}
			err := s.views[v].reader.EachValue(column, false, func(value []byte, runs []uint32) bool {
				n := 0
				for r := 0; r < len(runs); r += 2 {
					n += set.CountRange(runs[r], runs[r+1])
				}
				if n > 0 {
					counts[string(value)] += n
				}
				return ctx.Err() == nil
			})
			if err != nil {
				return nil, err
			}
		}
		out[i] = counts
	}
	return out, ctx.Err()
}
