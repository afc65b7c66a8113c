package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/eval"
	"sheaf/eval/calibrate"
	"sheaf/eval/confidence"
	"sheaf/eval/report"
	"sheaf/eval/self"
	"sheaf/internal/wording"
	"sheaf/search"
)

// confidenceJSON is the result of `sheaf eval confidence`. The command prints it and keeps it in the index folder.
type confidenceJSON struct {
	Schema    string `json:"schema"`
	Model     string `json:"model"`     // the name of the embedding model
	Documents int    `json:"documents"` // how many documents the index has
	*confidence.Report
}

// judgedJSON is the result for several judged data sets together.
type judgedJSON struct {
	Schema   string              `json:"schema"`
	Profile  string              `json:"profile"`  // the name of the ranking profile
	Fit      *search.Calibration `json:"fit"`      // the calibration that was learned from all data sets
	Datasets []judgedDatasetJSON `json:"datasets"` // the quality for each data set
}

// judgedDatasetJSON says how well a calibration from the other data sets works for one data set.
type judgedDatasetJSON struct {
	Dataset string `json:"dataset"` // the name of the data set
	confidence.Quality
}

type confidenceOptions struct {
	self.Wanted
	reset bool
	plot  string
}

func (a *app) evalConfidenceCommand() *cobra.Command {
	var o confidenceOptions
	cmd := &cobra.Command{
		Use:   "confidence [FOLDER | DATASET DATASET...]",
		Short: "Learn how sure answers from your own documents are",
		Long: `Asks your documents questions with known answers, as sheaf eval self does, and
questions without an answer. From the results it learns how sure an answer is: a
calibration. It keeps the calibration beside the index if it is better than the one
that sheaf ships. --reset removes it.

The error is the difference between the confidence and the share of right results, on
questions that were not used to learn (expected calibration error, ten bins).

With several judged data sets (see sheaf eval), it learns from all data sets but one
and prints how well that fits the one left out. Then it prints the fit of all data
sets. The calibration that sheaf ships was made this way. It keeps nothing.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := cmp.Or(checkCount("--queries", o.PerKind), checkCount("--impossible", o.Impossible))
			if err != nil {
				return err
			}
			if len(args) > 1 {
				return a.evalConfidenceJudged(cmd, args, o)
			}
			return a.withOwn(cmd, args, o.Wanted, func(s *session, c *eval.Collection) error {
				return s.evalConfidence(cmd.Context(), c, o)
			})
		},
	}
	f := cmd.Flags()
	f.StringP("profile", "p", "", "ranking profile to learn for")
	f.IntVarP(&o.PerKind, "queries", "n", 300, "questions of each kind with an answer")
	f.IntVar(&o.Impossible, "impossible", 300, "questions of each kind without an answer")
	f.Uint64Var(&o.Seed, "seed", 1, "another number makes other questions from the same documents")
	f.StringVar(&o.plot, "plot", "", "draw how often answers of each confidence are right, as an SVG file")
	f.BoolVar(&o.reset, "reset", false, "remove the learned calibration")
	f.Bool("no-refresh", false, "do not look for changed files first")
	return a.withJSON(cmd)
}

func (s *session) evalConfidence(ctx context.Context, c *eval.Collection, o confidenceOptions) error {
	if o.reset {
		return s.DropCalibration("", "")
	}
	p, _, err := s.profileOf(nil)
	if err != nil {
		return err
	}
	if err := checkFiles(o.plot); err != nil {
		return err
	}
	items, err := self.Make(ctx, c, o.Wanted)
	if err != nil {
		return err
	}
	progress := terminal.NewProgress(s.err, "asking")
	answers, err := confidence.Ask(ctx, c.Searcher, p, confidence.KnownItems(items),
		func(done, all int) { progress.Update(done, all, 0, "questions") })
	progress.Done()
	if err != nil {
		return err
	}
	r, err := confidence.Learn(answers, search.ShippedCalibration(p, s.View.Settings().Embedder), o.Seed)
	if err != nil {
		return err
	}
	out := &confidenceJSON{Schema: collection.CalibrationSchema, Model: s.View.Settings().Embedder,
		Documents: s.View.Docs(), Report: r}
	if r.Better() {
		err = s.KeepCalibration(out)
	} else {
		err = s.DropCalibration(r.Digest, out.Model)
	}
	if err != nil {
		return s.Advise(err)
	}
	if o.plot != "" {
		plot := report.Reliability(r.Learned.Bins, "confidence of first answers")
		if err := os.WriteFile(o.plot, []byte(plot), 0o666); err != nil {
			return fmt.Errorf("write file: %w", err)
		}
	}
	return s.print(out, func() { s.printConfidence(r) })
}

// evalConfidenceJudged learns a calibration from several judged data sets. It does not store the calibration.
func (a *app) evalConfidenceJudged(cmd *cobra.Command, args []string, o confidenceOptions) error {
	if o.reset || o.plot != "" {
		return sheaf.Invalidf("--reset and --plot are for one folder")
	}
	if _, _, err := a.folderSettings(cmd); err != nil {
		return err
	}
	p, err := loadProfile(a.config.Profile)
	if err != nil {
		return err
	}
	in, err := a.evalIndexing(cmd.Context(), evalOptions{})
	if err != nil {
		return err
	}
	var all []*eval.Collection
	defer func() { closeAll(all) }()
	for _, arg := range args {
		c, err := a.openDataset(cmd.Context(), arg, in, evalOptions{split: "test"})
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	same := confidence.SameDocuments(all)
	answers := make([]*confidence.Answers, len(all))
	for i, c := range all {
		progress := terminal.NewProgress(a.err, "asking "+c.Dataset.Name)
		answers[i], err = confidence.Ask(cmd.Context(), c.Searcher, p, confidence.Judged(all, i, same, o.Seed),
			func(done, n int) { progress.Update(done, n, 0, "questions") })
		progress.Done()
		if err != nil {
			return fmt.Errorf("%s: %w", args[i], err)
		}
	}
	qualities, fit, err := confidence.LeaveOneOut(answers, same)
	if err != nil {
		return err
	}
	out := judgedJSON{Schema: "sheaf.confidences/2", Profile: p.Name, Fit: fit}
	for i, q := range qualities {
		out.Datasets = append(out.Datasets, judgedDatasetJSON{args[i], q})
	}
	return a.print(&out, func() {
		a.printQualities(out.Datasets)
		fmt.Fprintf(a.stdout, "\nfit of all: right %s; answered %s, at least %.3f\n", logistic(fit.Right),
			logistic(fit.Answered), fit.Least)
	})
}

// logistic formats a calibration as Go source, to be copied into this program.
func logistic(f calibrate.Logistic) string { return fmt.Sprintf("%.2f, %.2f", f.Bias, f.Weights) }

func (a *app) printQualities(all []judgedDatasetJSON) {
	rows := [][]string{{"data set", "queries", "first right", "error, first", "by chance", "error, first five", "Brier",
		"found: answerable", "no answer: answerable", "refused: right"}}
	var mean confidence.Quality
	for _, q := range all {
		row := []string{filepath.Base(strings.TrimSuffix(q.Dataset, "/queries.yaml")), wording.Count(q.Questions),
			share(q.Right, q.Questions)}
		row = append(row, qualityCells(&q.Quality)...)
		rows = append(rows, append(row, fmt.Sprintf("%d of %d", q.RefusedRight, q.Refused)))
		n := float64(len(all))
		mean.First, mean.Chance = mean.First+q.First/n, mean.Chance+q.Chance/n
		mean.FirstFive, mean.Brier = mean.FirstFive+q.FirstFive/n, mean.Brier+q.Brier/n
	}
	a.printTable(append(rows, append([]string{"mean", "", ""}, qualityCells(&mean)[:4]...)))
}

// qualityCells formats one row: the errors of a calibration, and how many answers it calls likely.
func qualityCells(q *confidence.Quality) []string {
	return []string{fmt.Sprintf("%.3f", q.First), fmt.Sprintf("%.3f", q.Chance), fmt.Sprintf("%.3f", q.FirstFive),
		fmt.Sprintf("%.3f", q.Brier),
		share(q.Found.Answerable, q.Found.Queries), share(q.Unanswerable.Answerable, q.Unanswerable.Queries)}
}

// share formats part/whole in percent. It returns "-" if whole is 0.
func share(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}

func (a *app) printConfidence(r *confidence.Report) {
	q := r.Learned
	fmt.Fprintf(a.stdout, "profile %s: %s with an answer, %s without one; the first result was right %d times\n",
		r.Profile,
		wording.Plural(q.Questions, "question", "questions"), wording.Count(q.Unanswerable.Queries), q.Right)
	rows := [][]string{{"", "error, first", "by chance", "error, first five", "Brier", "found: answerable",
		"no answer: answerable"}}
	rows = append(rows, append([]string{"learned"}, qualityCells(&q)...))
	if r.Shipped != nil {
		rows = append(rows, append([]string{"shipped"}, qualityCells(r.Shipped)...))
	}
	a.printTable(rows)
	verdict := "not kept: the shipped calibration has a smaller Brier score; searches go on with it"
	if r.Shipped == nil {
		verdict = "kept: sheaf ships no calibration for this profile and model"
	} else if r.Better() {
		verdict = "kept: what was learned has a smaller Brier score than the shipped calibration"
	}
	fmt.Fprintf(a.stdout, "%s\n\n", verdict)
	rows = [][]string{{"confidence", "first results", "mean", "right"}}
	for _, b := range q.Bins {
		if b.Count > 0 {
			rows = append(rows, []string{fmt.Sprintf("%.1f to %.1f", b.From, b.To), wording.Count(b.Count),
				fmt.Sprintf("%.2f", b.Mean), fmt.Sprintf("%.2f", b.Right)})
		}
	}
	a.printTable(rows)
}
