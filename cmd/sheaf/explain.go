package main

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/index/catalog"
	"sheaf/internal/wording"
	"sheaf/search"
)

func (a *app) explainCommand() *cobra.Command {
	var o searchOptions
	var change []string
	var whyNot string
	var full bool
	cmd := &cobra.Command{
		Use:   "explain QUERY [ADDRESS]",
		Short: "Say why results stand where they stand, or why one is missing",
		Long: `Says in a few words why each result has its place, each part in percent of its
score. --full prints the ranking after every step of the profile, and every
score with its whole arithmetic.
With an address, as for sheaf get, or --why-not ADDRESS: why this passage is not
among the results, or where it is.
With --what-if NAME=VALUE (or --change): which results would move if a parameter
of the profile were another.`,
		Example: `  sheaf explain "undo commit"
  sheaf explain "undo commit" -n 1 --full
  sheaf explain "undo commit" guides/git.md#reset
  sheaf explain "undo commit" --change meaning=0`,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.openOrScan(cmd, openOptions{Refresh: true, Make: true}, o.set)
			if err != nil {
				return err
			}
			defer s.Close()
			if whyNot != "" {
				args = append(args, whyNot)
			}
			if len(args) == 2 { // the address may name any file
				err = s.readAll(cmd.Context(), o.set)
			} else {
				err = s.readNamed(cmd.Context(), args[0], o.set)
			}
			if err != nil {
				return err
			}
			q, err := s.request(&o)
			if err != nil {
				return err
			}
			q.Text, q.Plain = args[0], true
			switch {
			case len(args) > 2:
				return sheaf.Invalidf("give one address, or one to --why-not")
			case len(args) == 2 && len(change) > 0:
				return sheaf.Invalidf("give an address or --change, not both")
			case len(args) == 2:
				return s.whyNot(cmd.Context(), q, o, args[1], full)
			case len(change) > 0:
				return s.whatIf(cmd.Context(), q, o, change)
			}
			return s.explain(cmd.Context(), q, full)
		},
	}
	f := cmd.Flags()
	addRankingFlags(f, &o.set)
	f.StringVar(&whyNot, "why-not", "", "say why this address is not among the results")
	f.StringArrayVar(&change, "change", nil, "show what would move with this parameter")
	f.StringArrayVar(&change, "what-if", nil, "the same as --change")
	addNarrowFlags(f, &o)
	f.BoolVar(&full, "full", false, "show every step and the whole arithmetic of every score")
	f.Bool("no-refresh", false, "do not look for changed files first")
	return a.withJSON(cmd)
}

// explainJSON is the answer of `sheaf explain`.
type explainJSON struct {
	Schema     string            `json:"schema"`
	Query      string            `json:"query"`      // the text of the query
	Profile    string            `json:"profile"`    // the name of the ranking profile
	Parameters map[string]string `json:"parameters"` // the parameters of the profile, with their values
	Degraded   bool              `json:"degraded"`   // whether a part of the ranking failed
	Warnings   []string          `json:"warnings"`   // why the answer may be wrong
	Notes      []string          `json:"notes"`      // how the query was read
	Steps      []stepJSON        `json:"steps"`      // the ranking after every step, in the order of the profile
	Results    []explainedJSON   `json:"results"`    // the results, best first
}

// stepJSON is the ranking after one step. It has at most ten hits.
type stepJSON struct {
	Branch string              `json:"branch"`      // the branch of the step; empty after the fusion
	First  bool                `json:"first_phase"` // whether the step is in the first of two phases
	Step   string              `json:"step"`        // the stage as in the profile
	Found  int                 `json:"found"`       // how many hits the ranking has
	Best   []collection.Scored `json:"best"`        // the ten best hits

	change string // how the step changed the ranking
}

// explainedJSON is a result with the reasons for its score.
type explainedJSON struct {
	Rank        int                `json:"rank"`        // the rank, from 1
	ID          sheaf.ID           `json:"id"`          // the ID of the chunk or document
	Path        string             `json:"path"`        // the path in the searched folder
	Breadcrumb  string             `json:"breadcrumb"`  // the titles from the document down, joined by ›
	Score       float64            `json:"score"`       // the score after the last step
	Summary     []sheaf.Reason     `json:"summary"`     // the reasons for the score, the largest first
	Explanation *sheaf.Explanation `json:"explanation"` // how the score was computed
}

const stepBest = 10

// explainQuery answers a query. The answer has the ranking after every step.
func (s *session) explainQuery(ctx context.Context, q collection.SearchRequest) (*collection.Explanation, error) {
	return read(s, func(r *collection.Reader) (*collection.Explanation, error) { return r.Explain(ctx, q) })
}

func (s *session) explain(ctx context.Context, q collection.SearchRequest, full bool) error {
	e, err := s.explainQuery(ctx, q)
	if err != nil {
		return err
	}
	out := explainJSON{Schema: "sheaf.explain/1", Query: e.Query, Profile: e.Profile, Parameters: e.Parameters,
		Degraded: e.Degraded, Warnings: e.Warnings, Notes: e.Notes[:len(e.Notes)-len(e.Details.Unmet)],
		Steps: []stepJSON{}, Results: []explainedJSON{}}
	for i, step := range e.Steps {
		out.Steps = append(out.Steps, stepJSON{step.Branch, step.First, step.Step, step.Found,
			step.Hits[:min(stepBest, len(step.Hits))], stepChange(e.Details.Trace, i)})
	}
	for _, r := range e.Results {
		out.Results = append(out.Results, explainedJSON{r.Rank, r.ID, s.relative(r.Doc.Tree(), r.Path), r.Breadcrumb,
			r.Score, orEmpty(r.Summary), r.Explanation})
	}
	if s.json {
		out.Warnings = s.allWarnings(out.Warnings...)
		err = s.printJSON(out)
	} else {
		s.printExplained(&out, full)
	}
	if err == nil && len(out.Results) == 0 {
		return errNothing
	}
	return err
}

// printSummary writes the reasons for a score for people. It breaks lines between reasons. If this makes more than
// three lines, it breaks lines between words instead.
func (s *session) printSummary(reasons []sheaf.Reason, indent int) {
	text := wording.Clean(sheaf.SummaryText(reasons))
	lines := summaryLines(strings.SplitAfter(text, "; "), indent)
	if len(lines) > 3 {
		// No line begins with a percent sign.
		words := strings.SplitAfter(strings.ReplaceAll(text, " %)", "\u00a0%)"), " ")
		lines = summaryLines(words, indent)
	}
	for _, line := range lines {
		fmt.Fprintln(s.stdout, strings.Repeat(" ", indent)+strings.ReplaceAll(line, "\u00a0%)", " %)"))
	}
}

// summaryLines joins the parts of a summary into lines of at most 100 characters with indent.
func summaryLines(parts []string, indent int) []string {
	var lines []string
	line := ""
	for _, part := range parts {
		if line != "" && indent+utf8.RuneCountInString(strings.TrimRight(line+part, " ")) > 100 {
			lines = append(lines, strings.TrimRight(line, " "))
			line = ""
		}
		line += part
	}
	return append(lines, line)
}

func (s *session) printExplained(out *explainJSON, full bool) {
	s.notices(out.Warnings...)
	s.notices(out.Notes...)
	if full {
		s.printSteps(out)
	}
	for i, r := range out.Results {
		if full || i > 0 {
			fmt.Fprintln(s.stdout)
		}
		fmt.Fprintf(s.stdout, "%s %s  %s  %s\n", s.out.Paint(terminal.Number, fmt.Sprintf("%3d", r.Rank)),
			s.out.Paint(terminal.Title, wording.Clean(strings.TrimPrefix(r.Breadcrumb, "> "))),
			s.out.Paint(terminal.Path, wording.Clean(r.Path)), s.out.Paint(terminal.Dim, "score "+formatScore(r.Score)))
		s.printSummary(r.Summary, 4)
		if full && r.Explanation != nil {
			s.printExplanation(*r.Explanation, 4)
		}
	}
}

func (s *session) printSteps(out *explainJSON) {
	fmt.Fprintf(s.stdout, "profile %s\n", out.Profile)
	rows := [][]string{}
	for _, step := range out.Steps {
		best := ""
		if len(step.Best) > 0 {
			best = s.shortID(step.Best[0].ID) + " " + formatScore(step.Best[0].Score)
		}
		rows = append(rows, []string{"  " + s.out.Paint(terminal.Title, stepPlace(step.Branch, step.First)),
			wording.Clean(step.Step), step.change, s.out.Paint(terminal.Dim, best)})
	}
	s.printTable(rows)
}

// stepPlace names the branch of a step for people. The branch "" means all branches: the step follows the fusion.
func stepPlace(branch string, first bool) string {
	if branch == "" {
		branch = "all"
	}
	if first {
		branch = "first phase, " + branch
	}
	return branch
}

// stepChange describes how step i of a trace changed the previous ranking. It says how many hits stayed, and how many
// of the best ten hits moved. For the first step of a branch, it says how many hits were found.
func stepChange(trace []search.Snapshot, i int) string {
	now := trace[i].Ranking
	j := i - 1
	for j >= 0 && (trace[j].Branch != trace[i].Branch || trace[j].First != trace[i].First) {
		j--
	}
	if j < 0 {
		return wording.Count(len(now)) + " found"
	}
	before := trace[j].Ranking
	text := "all " + wording.Count(len(now)) + " kept"
	if len(now) < len(before) {
		text = fmt.Sprintf("%s of %s kept", wording.Count(len(now)), wording.Count(len(before)))
	}
	best := now[:min(stepBest, len(now))]
	if len(now) > 0 && !slices.ContainsFunc(best, func(h sheaf.Hit) bool { return rankIn(before, h.ID) > 0 }) {
		return fmt.Sprintf("%s became %s", wording.Count(len(before)), wording.Count(len(now))) // sections become documents
	}
	moved, scores := 0, false
	for k := range best[:min(len(best), len(before))] {
		if now[k].ID != before[k].ID {
			moved++
		} else if now[k].Score != before[k].Score {
			scores = true
		}
	}
	switch {
	case moved > 0:
		text += fmt.Sprintf(", %d of the first %d moved", moved, len(best))
	case scores:
		text += ", other scores"
	}
	return text
}

// rankIn returns the rank of id in r, from 1, or 0 if id is not in r.
func rankIn(r sheaf.Ranking, id sheaf.ID) int {
	return slices.IndexFunc(r, func(h sheaf.Hit) bool { return h.ID == id }) + 1
}

// shortID shortens an ID for display. If only one tree has files, it removes the name of this tree.
func (s *session) shortID(id sheaf.ID) string {
	text, trees := string(id), s.View.Settings().Trees
	if len(trees) > 1 {
		trees = slices.DeleteFunc(slices.Clone(trees), func(t catalog.Tree) bool { return t.Root == "" })
	}
	if len(trees) == 1 {
		text = strings.TrimPrefix(text, trees[0].Name+":")
	}
	return wording.Clean(text)
}

func (s *session) whyNot(ctx context.Context, q collection.SearchRequest, o searchOptions, id string,
	full bool) error {
	p, _, err := s.profileOf(o.set)
	if err != nil {
		return err
	}
	t, err := s.resolve(ctx, id)
	if err != nil {
		return err
	}
	asked := t.Chunk.ID
	if s.scanner != nil && !strings.HasSuffix(id, "#"+t.Chunk.Slug) {
		asked = t.Doc.ID // the address names a file: any of its sections may be a result
	}
	absence, err := read(s, func(r *collection.Reader) (*collection.Absence, error) { return r.WhyNot(ctx, q, asked) })
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(whyNotJSON{Schema: "sheaf.why-not/1", Query: q.Text, Profile: p.Name, ID: absence.ID,
			Rank: absence.Rank, Inside: absence.Inside, Reasons: absence.Reasons, Warnings: s.allWarnings()})
	}
	fmt.Fprintln(s.stdout, s.out.Paint(terminal.Title, wording.Clean(string(absence.ID))))
	for _, reason := range absence.Reasons {
		fmt.Fprintln(s.stdout, "  "+wording.Clean(reason))
	}
	if absence.Rank == 0 {
		return nil
	}
	return s.explainOne(ctx, q, absence.ID, full)
}

// explainOne writes the rank of the result id after every step, and the reasons for its score. If full is true, it also
// writes the arithmetic of the score.
func (s *session) explainOne(ctx context.Context, q collection.SearchRequest, id sheaf.ID, full bool) error {
	e, err := s.explainQuery(ctx, q)
	if err != nil {
		return err
	}
	rows := [][]string{}
	for _, snap := range e.Details.Trace {
		rank, score := "-", ""
		if n := rankIn(snap.Ranking, id); n > 0 {
			rank, score = fmt.Sprintf("rank %d of %s", n, wording.Count(len(snap.Ranking))), formatScore(snap.Ranking[n-1].Score)
		}
		rows = append(rows, []string{"  " + s.out.Paint(terminal.Title, stepPlace(snap.Branch, snap.First)),
			wording.Clean(snap.Step), rank, score})
	}
	s.printTable(rows)
	for _, r := range e.Results {
		if r.ID == id && r.Explanation != nil {
			fmt.Fprintln(s.stdout)
			s.printSummary(r.Summary, 2)
			if full {
				s.printExplanation(*r.Explanation, 2)
			}
		}
	}
	return nil
}

// whyNotJSON is the answer of `sheaf explain` with an address.
type whyNotJSON struct {
	ID       sheaf.ID `json:"id"`      // the ID of the chunk or document that was asked about
	Inside   sheaf.ID `json:"inside"`  // the ID of the result that replaces it, or ""
	Profile  string   `json:"profile"` // the name of the ranking profile
	Query    string   `json:"query"`   // the text of the query
	Rank     int      `json:"rank"`    // the rank among the results; 0 when it is no result
	Reasons  []string `json:"reasons"` // what each branch found, and which step removed it
	Schema   string   `json:"schema"`
	Warnings []string `json:"warnings"` // why the answer may be wrong
}

// whatIfJSON is the answer of `sheaf explain --change`.
type whatIfJSON struct {
	Change   map[string]string `json:"change"`  // the changed parameters, with their new values
	Moves    []moveJSON        `json:"moves"`   // each result before or after the change
	Profile  string            `json:"profile"` // the name of the ranking profile
	Query    string            `json:"query"`   // the text of the query
	Schema   string            `json:"schema"`
	Warnings []string          `json:"warnings"` // why the answer may be wrong
}

// moveJSON is a result with its ranks before and after a change.
type moveJSON struct {
	After       int      `json:"after"`        // the rank after the change; 0 when it is no result
	Before      int      `json:"before"`       // the rank before the change; 0 when it was no result
	ID          sheaf.ID `json:"id"`           // the ID of the chunk
	ScoreAfter  float64  `json:"score_after"`  // the score after the change
	ScoreBefore float64  `json:"score_before"` // the score before the change
	Title       string   `json:"title"`        // the title of the chunk
}

func (s *session) whatIf(ctx context.Context, q collection.SearchRequest, o searchOptions, change []string) error {
	p, _, err := s.profileOf(o.set)
	if err != nil {
		return err
	}
	changed, err := parseSet(change, p)
	if err != nil {
		return err
	}
	moves, err := read(s, func(r *collection.Reader) ([]collection.Move, error) { return r.WhatIf(ctx, q, changed) })
	if err != nil {
		return err
	}
	if s.json {
		list := []moveJSON{}
		for _, m := range moves {
			list = append(list, moveJSON{ID: m.ID, Title: m.Title, Before: m.Before, After: m.After,
				ScoreBefore: m.ScoreBefore, ScoreAfter: m.ScoreAfter})
		}
		return s.printJSON(whatIfJSON{Schema: "sheaf.what-if/1", Query: q.Text, Profile: p.Name, Change: changed,
			Moves: list, Warnings: s.allWarnings()})
	}
	rows := [][]string{{"before", "after", "", "", ""}}
	same, scores := 0, 0
	for _, m := range moves {
		if m.Before == m.After {
			same++
			if m.ScoreBefore != m.ScoreAfter {
				scores++
			}
			continue
		}
		before, scoreBefore := rankAndScore(m.Before, m.ScoreBefore)
		after, scoreAfter := rankAndScore(m.After, m.ScoreAfter)
		rows = append(rows, []string{before, after, wording.Clean(m.Title), s.out.Paint(terminal.Dim, s.shortID(m.ID)),
			s.out.Paint(terminal.Dim, scoreBefore+" to "+scoreAfter)})
	}
	if len(rows) > 1 {
		s.printTable(rows)
	}
	stay := wording.Plural(same, "result stays where it is", "results stay where they are")
	if scores > 0 {
		stay += ", " + wording.Plural(scores, "with another score", "with other scores")
	}
	fmt.Fprintln(s.stdout, stay)
	return nil
}

// rankAndScore formats a rank and a score, or dashes for rank 0.
func rankAndScore(rank int, score float64) (string, string) {
	if rank == 0 {
		return "-", "-"
	}
	return fmt.Sprint(rank), formatScore(score)
}

// printExplanation prints the arithmetic of a score. Each line has one number with its formula. If a formula is too
// long for a line, its parts follow on the next lines, indented. printExplanation omits steps without effect, such as a
// factor of 1.
func (a *app) printExplanation(e sheaf.Explanation, indent int) {
	(&formulaPrinter{app: a}).print(plainly(e), indent)
}

// formulaPrinter prints explanations. It prints the parts of a number only once if several formulas contain it.
type formulaPrinter struct {
	*app
	explained []sheaf.Explanation
}

// arithmeticWidth is the largest number of characters of a formula on one line. A longer formula is printed in parts.
const arithmeticWidth = 110

func (a *formulaPrinter) print(e sheaf.Explanation, indent int) {
	line := strings.Repeat(" ", indent) + a.out.Paint(terminal.Number, number(e.Value)) + " " + wording.Clean(e.Label)
	if !combines(e) {
		fmt.Fprintln(a.stdout, line)
		for _, p := range e.Parts { // parts from which the value is not computed
			a.print(p, indent+2)
		}
		return
	}
	equals := a.out.Paint(terminal.Dim, " = ")
	if formula, ok := formula(e, true); ok && len(formula) <= arithmeticWidth {
		fmt.Fprintln(a.stdout, line+equals+formula)
		return
	}
	short, _ := formula(e, false)
	fits := len(short) <= arithmeticWidth
	before := slices.ContainsFunc(a.explained, func(t sheaf.Explanation) bool { return reflect.DeepEqual(t, e) })
	switch {
	case fits:
		line += equals + short
	case before:
		line += a.out.Paint(terminal.Dim, ", as above")
	default:
		line += a.out.Paint(terminal.Dim, " = "+string(e.Combine)+" of")
	}
	fmt.Fprintln(a.stdout, line)
	if before {
		return
	}
	a.explained = append(a.explained, e)
	for _, p := range e.Parts {
		if !fits || len(p.Parts) > 0 {
			a.print(p, indent+2)
		}
	}
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }

// combines reports whether the value of e is computed from its parts.
func combines(e sheaf.Explanation) bool {
	return e.Combine != sheaf.CombineNone && len(e.Parts) > 0
}

// operators are the signs between the parts of a formula. Other combinations look like calls, such as max(a, b).
var operators = map[sheaf.Combine]string{sheaf.CombineSum: " + ", sheaf.CombineDifference: " - ",
	sheaf.CombineProduct: " x ", sheaf.CombineQuotient: " / ", sheaf.CombinePower: " ^ "}

// formula returns e as a formula of its parts. If all is true, each part is followed by its own formula in brackets. ok
// is false if a part has details that a formula cannot show.
func formula(e sheaf.Explanation, all bool) (text string, ok bool) {
	parts := make([]string, len(e.Parts))
	for i, p := range e.Parts {
		parts[i] = number(p.Value) + " " + wording.Clean(p.Label)
		switch {
		case !all:
		case combines(p):
			inner, ok := formula(p, true)
			if !ok {
				return "", false
			}
			parts[i] += " (" + inner + ")"
		case len(p.Parts) > 0:
			return "", false
		}
	}
	if op, ok := operators[e.Combine]; ok {
		return strings.Join(parts, op), true
	}
	return string(e.Combine) + "(" + strings.Join(parts, ", ") + ")", true
}

// plainly returns e without the steps that do not change the value.
func plainly(e sheaf.Explanation) sheaf.Explanation {
	parts := make([]sheaf.Explanation, 0, len(e.Parts))
	for i, p := range e.Parts {
		one := p.Value == 1 && len(p.Parts) == 0 && len(e.Parts) > 1
		if one && (e.Combine == sheaf.CombineProduct || e.Combine == sheaf.CombineQuotient && i > 0) {
			continue
		}
		parts = append(parts, plainly(p))
	}
	if len(parts) == 0 && len(e.Parts) > 0 { // for example 1 times 1
		parts = append(parts, plainly(e.Parts[0]))
	}
	e.Parts = parts
	switch e.Combine {
	case sheaf.CombineSum, sheaf.CombineDifference, sheaf.CombineProduct, sheaf.CombineQuotient, sheaf.CombineMax,
		sheaf.CombineMin, sheaf.CombineRSS, sheaf.CombinePower:
		if len(parts) != 1 || parts[0].Value != e.Value {
			return e
		}
		label := joinLabels(e.Label, parts[0].Label)
		e = parts[0]
		e.Label = label
	}
	return e
}

// joinLabels returns one label for a step and its only part, because both show the same number. outer is the label of
// the step, and inner the label of the part. Usually the result is outer. If inner adds a rank, a quoted term, or a
// similarity to a rank, the result has it too.
func joinLabels(outer, inner string) string {
	ranked, term := strings.HasPrefix(outer, "rank "), strings.Contains(inner, `"`)
	slug := strings.LastIndexByte(outer, '#')
	switch {
	case strings.HasPrefix(inner, "rank ") && slug >= 0:
		return outer[slug:] + ", " + inner
	case strings.HasPrefix(inner, "rank "), term && !ranked && !strings.Contains(outer, `"`):
		return inner
	case ranked && (term || strings.HasPrefix(inner, "similarity ")):
		return outer + ": " + inner
	}
	return outer
}
