package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// kinds are the kinds of sets, with a row for each in the first table. The last row has the mean of these rows.
var kinds = []struct{ kind, label string }{
	{"abstracts", "abstracts"},
	{"questions", "passages and questions"},
	{"code", "code"},
	{"links", "links"},
	{notes, "notes (nDCG@5)"},
	{"subjects", "subjects of changes"},
	{"sections", "sections"},
	{inPages, inPages},
}

func printTables(out io.Writer, folder string, sets []set) error {
	all, err := readResults(folder, sets)
	if err != nil {
		return err
	}
	confidence, err := readConfidence(folder, sets)
	if err != nil {
		return err
	}
	var english, others, crossing []result
	for _, r := range all {
		switch {
		case r.kind == across:
			crossing = append(crossing, r)
		case r.language == "en":
			english = append(english, r)
		default:
			others = append(others, r)
		}
	}
	used := usedColumns(all)
	printKinds(out, used, english)
	printWorst(out, english)
	printLanguages(out, used, others)
	printAcross(out, crossing)
	printClasses(out, used, english)
	printLosses(out, used, all)
	printLatency(out, used, all)
	printConfidence(out, confidence)
	printSets(out, used, all)
	return nil
}

func usedColumns(all []result) []string {
	var used []string
	for _, c := range columns {
		if slices.ContainsFunc(all, func(r result) bool { _, ok := r.values[c]; return ok }) {
			used = append(used, c)
		}
	}
	return used
}

// heading prints a title, a line of text and the first two lines of a table.
func heading(out io.Writer, title, text string, columns ...string) {
	fmt.Fprintf(out, "## %s\n\n%s\n\n", title, text)
	row(out, columns)
	row(out, slices.Repeat([]string{"---"}, len(columns)))
}

func row(out io.Writer, cells []string) { fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | ")) }

func score(v float64) string { return fmt.Sprintf("%.4f", v) }

func signed(v float64) string { return fmt.Sprintf("%+.4f", v) }

// mean returns the mean of a column over the results that have it.
func mean(results []result, column string) float64 {
	sum, n := 0.0, 0
	for _, r := range results {
		if v, ok := r.values[column]; ok {
			sum, n = sum+v, n+1
		}
	}
	return sum / float64(n)
}

func printKinds(out io.Writer, used []string, english []result) {
	cells := slices.Concat([]string{"kind", "sets"}, used)
	for _, c := range used[1:] {
		cells = append(cells, "against "+c)
	}
	heading(out, "By kind", "English. nDCG@10, mean of the sets. \"Against\": on how many sets the default is better,\n"+
		"and worse, by both paired tests at 5 %.", cells...)
	sums, wins, losses, rows := map[string]float64{}, map[string]int{}, map[string]int{}, 0.0
	line := func(mark, label string, sets int, value func(c string) float64, wins, losses map[string]int) {
		cells := []string{mark + label + mark, fmt.Sprint(sets)}
		for _, c := range used {
			cells = append(cells, mark+score(value(c))+mark)
		}
		for _, c := range used[1:] {
			cells = append(cells, fmt.Sprintf("%s%d, %d%s", mark, wins[c], losses[c], mark))
		}
		row(out, cells)
	}
	for _, k := range kinds {
		of := slices.DeleteFunc(slices.Clone(english), func(r result) bool { return r.kind != k.kind })
		if len(of) == 0 {
			continue
		}
		rows++
		better, worse := map[string]int{}, map[string]int{}
		for _, c := range used {
			for _, r := range of {
				better[c], worse[c] = better[c]+max(r.signs[c], 0), worse[c]+max(-r.signs[c], 0)
			}
			sums[c], wins[c], losses[c] = sums[c]+mean(of, c), wins[c]+better[c], losses[c]+worse[c]
		}
		line("", k.label, len(of), func(c string) float64 { return mean(of, c) }, better, worse)
	}
	line("**", "mean over kinds", len(english), func(c string) float64 { return sums[c] / rows }, wins, losses)
	fmt.Fprintln(out)
}

func printWorst(out io.Writer, english []result) {
	heading(out, "Worst sets", "The English set on which the default is farthest below a column.",
		"below", "set", "difference")
	against := func(label string, lead func(*result) (float64, bool)) {
		name, least := "", math.Inf(1)
		for i := range english {
			if d, ok := lead(&english[i]); ok && d < least {
				name, least = english[i].key(), d
			}
		}
		if name != "" {
			row(out, []string{label, name, signed(least)})
		}
	}
	against("the better of words and meaning", func(r *result) (float64, bool) {
		words, ok := r.lead("words")
		meaning, both := r.lead("meaning")
		return min(words, meaning), ok && both
	})
	for _, c := range []string{"bm25", old} {
		against(c, func(r *result) (float64, bool) { return r.lead(c) })
	}
	fmt.Fprintln(out)
}

// marked returns the value of column c, or "-" if the set lacks the column. A star follows if both tests find a
// difference from the default.
func (r *result) marked(c string) string {
	v, ok := r.values[c]
	if !ok {
		return "-"
	}
	if r.signs[c] != 0 {
		return score(v) + "*"
	}
	return score(v)
}

// cells returns the marked values of columns after some labels.
func (r *result) cells(used []string, labels ...string) []string {
	for _, c := range used {
		labels = append(labels, r.marked(c))
	}
	return labels
}

func printLanguages(out io.Writer, used []string, others []result) {
	if len(others) == 0 {
		return
	}
	heading(out, "Other languages", "nDCG@10. A star: differs from the default by both paired tests.",
		slices.Concat([]string{"set", "language"}, used, []string{"default less words"})...)
	for _, r := range others {
		words, _ := r.lead("words")
		row(out, append(r.cells(used, r.key(), r.language), signed(words)))
	}
	fmt.Fprintln(out)
}

// printAcross prints one row per language. crossing has two neighboring sets for each language. The first has questions
// in the language and English texts, the second has English questions and texts in the language.
func printAcross(out io.Writer, crossing []result) {
	if len(crossing) == 0 {
		return
	}
	heading(out, "Across languages", "Share of questions whose text is among the first ten (recall@10).",
		"language", "over English", "words", "meaning", "English over it", "words", "meaning")
	line := func(label string, over, under []result) {
		cells := []string{label}
		for _, side := range [][]result{over, under} {
			for _, c := range []string{usual, "words", "meaning"} {
				cells = append(cells, score(mean(side, c)))
			}
		}
		row(out, cells)
	}
	var over, under []result
	for i := 0; i+1 < len(crossing); i += 2 {
		line(crossing[i].language, crossing[i:i+1], crossing[i+1:i+2])
		over, under = append(over, crossing[i]), append(under, crossing[i+1])
	}
	line("**mean**", over, under)
	fmt.Fprintln(out)
}

func printClasses(out io.Writer, used []string, english []result) {
	heading(out, "Links by class", "English. nDCG@10, mean of the links of all sets.",
		slices.Concat([]string{"class", "links"}, used)...)
	for _, name := range []string{"title", "overlap", "low", "none"} {
		sums, queries := map[string]float64{}, 0
		for _, r := range english {
			if r.kind != "links" {
				continue
			}
			queries += r.classes[name][usual].queries
			for _, c := range used {
				sums[c] += float64(r.classes[name][c].queries) * r.classes[name][c].value
			}
		}
		if queries == 0 {
			continue
		}
		cells := []string{name, fmt.Sprint(queries)}
		for _, c := range used {
			cells = append(cells, score(sums[c]/float64(queries)))
		}
		row(out, cells)
	}
	fmt.Fprintln(out)
}

func printLosses(out io.Writer, used []string, all []result) {
	heading(out, "Losses", "Where another column is better by 0.01 or more, or by both paired tests (star).",
		"set", "kind", "better", "default less that")
	type loss struct {
		r      *result
		column string
		by     float64
	}
	var losses []loss
	for i := range all {
		for _, c := range used[1:] {
			if d, ok := all[i].lead(c); ok && (d <= -0.01 || all[i].signs[c] < 0) {
				losses = append(losses, loss{&all[i], c, d})
			}
		}
	}
	slices.SortStableFunc(losses, func(a, b loss) int { return cmp.Compare(a.by, b.by) })
	for _, l := range losses {
		star := ""
		if l.r.signs[l.column] < 0 {
			star = "*"
		}
		row(out, []string{l.r.key(), l.r.kind, l.column, signed(l.by) + star})
	}
	fmt.Fprintln(out)
}

func printLatency(out io.Writer, used []string, all []result) {
	heading(out, "Latency", "Median latency of a query for 100 answers, as a ratio to words on the same set.",
		"column", "median of the sets", "largest")
	for _, c := range used {
		var ratios []float64
		for _, r := range all {
			if p, words := r.p50[c], r.p50["words"]; p > 0 && words > 0 {
				ratios = append(ratios, p/words)
			}
		}
		if len(ratios) > 0 {
			slices.Sort(ratios)
			last := len(ratios) - 1
			row(out, []string{c, fmt.Sprintf("%.2f", ratios[len(ratios)/2]), fmt.Sprintf("%.2f", ratios[last])})
		}
	}
	fmt.Fprintln(out)
}

func printConfidence(out io.Writer, all []quality) {
	if len(all) == 0 {
		return
	}
	heading(out, "Confidence", "Each set by a fit of the others. Error: expected calibration error.", "set", "queries",
		"first right", "error, first", "error, first five", "Brier", "answerable, of found", "answerable, of others")
	line := func(name string, q quality, sets int) {
		n := float64(sets)
		row(out, []string{name, fmt.Sprint(q.Questions), percent(q.Right, q.Questions), fmt.Sprintf("%.3f", q.First/n),
			fmt.Sprintf("%.3f", q.FirstFive/n), fmt.Sprintf("%.3f", q.Brier/n),
			percent(q.Found.Answerable, q.Found.Queries), percent(q.Unanswerable.Answerable, q.Unanswerable.Queries)})
	}
	var total quality
	for _, q := range all {
		line(q.Dataset, q, 1)
		total.Questions += q.Questions
		total.Right += q.Right
		total.First += q.First
		total.FirstFive += q.FirstFive
		total.Brier += q.Brier
		total.Found.Queries += q.Found.Queries
		total.Found.Answerable += q.Found.Answerable
		total.Unanswerable.Queries += q.Unanswerable.Queries
		total.Unanswerable.Answerable += q.Unanswerable.Answerable
	}
	line("**mean, or all**", total, len(all))
	fmt.Fprintln(out)
}

func percent(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

func printSets(out io.Writer, used []string, all []result) {
	heading(out, "All sets", "A star: differs from the default by both paired tests.",
		slices.Concat([]string{"set"}, used)...)
	for i := range all {
		row(out, all[i].cells(used, all[i].key()))
	}
}
