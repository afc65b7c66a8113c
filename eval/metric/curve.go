package metric

// Curve is the precision of one query's ranking at the recalls 0, 0.1, ... 1,
// interpolated: at each recall the largest precision at this recall or a higher
// one, 0 for a recall that the ranking does not reach. Gains of at least 1 are
// relevant. Values are those that trec_eval calls iprec_at_recall; the curves of
// several queries are averaged point by point (Manning, Raghavan, Schütze:
// Introduction to Information Retrieval, 2008, section 8.4).
func Curve(ranking []string, qrels Judgements) [11]float64 {
	m := Measure{rel: 1}
	var out [11]float64
	total := m.relevant(qrels)
	if total == 0 {
		return out
	}
	ranking = distinct(ranking)
	found := m.relevantIn(ranking, qrels)
	best := 0.0
	point := 10
	for i := len(ranking); i > 0; i-- {
		for ; point >= 0 && needed(point, total) > found; point-- {
			out[point] = best
		}
		best = max(best, float64(found)/float64(i))
		if m.isRelevant(ranking[i-1], qrels) {
			found--
		}
	}
	for ; point >= 0; point-- {
		out[point] = best
	}
	return out
}

// needed is how many of total relevant documents make the recall point/10,
// rounded as trec_eval does, in floating point.
func needed(point, total int) int { return int(float64(point)/10*float64(total) + 0.9) }
