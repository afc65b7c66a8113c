package rank

import (
	"math"

	"sheaf"
)

// Budget keeps the best hits whose texts fit into Tokens, for a reader with limited space. A hit costs the bytes of its
// span divided by BytesPerToken, rounded up, plus Overhead for its title and path. A hit costs its full length even if
// it overlaps another kept hit.
type Budget struct {
	Tokens        int     // 1 or more
	BytesPerToken float64 // above 0; about 4 for English text
	Overhead      int     // 0 or more
	// Skip says what happens after a hit that does not fit. With Skip, Budget tries the next hits, which may be
	// smaller. Without Skip, the list ends there.
	Skip bool
}

// Apply implements [Stage].
func (b Budget) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	if err := env.check("budget", in); err != nil {
		return nil, err
	}
	left := float64(b.Tokens)
	out := make(sheaf.Ranking, 0, len(in))
	for i := range in {
		c, _ := env.Facts.Chunk(in[i].ID)
		cost := math.Ceil(float64(c.Span.Len())/b.BytesPerToken) + float64(b.Overhead)
		if cost > left {
			if b.Skip {
				continue
			}
			break
		}
		left -= cost
		out = append(out, in[i])
	}
	return out, nil
}
