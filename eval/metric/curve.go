package metric

// Curve returns the interpolated precision of one query's ranking at the recalls 0, 0.1, ... 1. The value at a recall
// is the largest precision at this recall or a higher one. It is 0 if the ranking does not reach the recall. A gain of
// at least 1 is relevant. trec_eval calls the values iprec_at_recall. Reports average the curves of queries point by
// point (Manning, Raghavan, Schütze: Introduction to Information Retrieval, 2008, section 8.4).
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

// needed returns how many of total relevant documents a ranking must find for the recall point/10. It rounds in
// floating point as trec_eval does.
func needed(point, total int) int { return int(float64(point)/10*float64(total) + 0.9) }
