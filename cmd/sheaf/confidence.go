package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/collection"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/eval/calibrate"
	"sheaf/eval/confidence"
	"sheaf/eval/knownitem"
	"sheaf/eval/report"
	"sheaf/eval/self"
	"sheaf/search"
)

// confidenceJSON is what `sheaf eval confidence` found, as it is printed and as
// it is kept beside the index.
type confidenceJSON struct {
	Schema    string `json:"schema"`
	Model     string `json:"model"`
	Documents int    `json:"documents"`
	*confidence.Report
}

const confidenceSchema = "sheaf.confidence/2"

type confidenceOptions struct {
	queries    int
	impossible int
	seed       uint64
	reset      bool
	plot       string
}

func (a *app) evalConfidenceCommand() *cobra.Command {
	var o confidenceOptions
	cmd := &cobra.Command{
		Use:   "confidence [FOLDER]",
		Short: "Learn how sure answers from your own documents are",
		Long: `Asks the documents questions whose answers are known, as sheaf eval self does, and
others that nothing answers, and learns from what spoke for the right answers and
for the wrong ones how sure an answer is. Searches show it as high, medium, low or
none from then on; before, they show what holds for documents on average. What was
learned is kept beside the index until it is made again; --reset forgets it.

The error is how far the confidences are from how often answers are right, on
questions that were not learned from (expected calibration error, ten bins).`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return a.evalConfidence(cmd, args, o) },
	}
	f := cmd.Flags()
	f.StringP("profile", "p", "", "ranking profile to learn for")
	f.IntVarP(&o.queries, "queries", "n", 300, "questions of each kind that has an answer")
	f.IntVar(&o.impossible, "impossible", 300, "questions of each kind that has none")
	f.Uint64Var(&o.seed, "seed", 1, "makes other questions of the same documents")
	f.StringVar(&o.plot, "plot", "", "draw how often answers of each confidence are right, as an SVG file")
	f.BoolVar(&o.reset, "reset", false, "forget what was learned")
	f.Bool("no-refresh", false, "do not look for changed files first")
	a.addJSON(cmd)
	_ = cmd.RegisterFlagCompletionFunc("profile", completeProfiles)
	return cmd
}

func (a *app) evalConfidence(cmd *cobra.Command, args []string, o confidenceOptions) error {
	for name, n := range map[string]int{"--queries": o.queries, "--impossible": o.impossible} {
		if n < 1 || n > 100_000 {
			return sheaf.Invalidf("%s is %d: must be within 1..100000", name, n)
		}
	}
	s, c, err := a.openOwn(cmd, args)
	if err != nil {
		return err
	}
	defer s.close()
	file := filepath.Join(s.where.Dir, collection.ConfidenceName)
	if o.reset {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget confidence: %w", err)
		}
		return nil
	}
	p, _, err := s.profileOf(nil)
	if err != nil {
		return err
	}
	source, err := self.Source(c)
	if err != nil {
		return err
	}
	searcher := s.searcher()
	searcher.Confidence = nil
	progress := terminal.NewProgress(a.err, "asking")
	r, err := confidence.Calibrate(cmd.Context(), searcher, source, p, confidence.Options{
		Queries:  knownitem.Options{PerKind: o.queries, Impossible: o.impossible, Seed: o.seed},
		Progress: func(done, all int) { progress.Update(done, all, 0, "questions") },
	})
	progress.Done()
	if err != nil {
		return err
	}
	out := &confidenceJSON{Schema: confidenceSchema, Model: s.view.Settings().Embedder, Documents: s.view.Docs(), Report: r}
	content, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	if err := collection.WriteFile(file, append(content, '\n')); err != nil {
		return s.advise(err)
	}
	if o.plot != "" {
		err := writeFile(o.plot, func(w io.Writer) error {
			_, err := io.WriteString(w, report.Reliability(r.Bins, "confidence of first answers"))
			return err
		})
		if err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(out)
	}
	a.printConfidence(r)
	return nil
}

func (a *app) printConfidence(r *confidence.Report) {
	fmt.Fprintf(a.stdout, "profile %s: %s, %s nothing answers; the first answer was right %d times\n", r.Profile,
		terminal.Plural(r.Queries, "question", "questions"), terminal.Count(r.Impossible), r.Right)
	fmt.Fprintf(a.stdout, "expected calibration error %.3f, Brier score %.3f, on questions that were not learned from\n", r.Error, r.Brier)
	fmt.Fprintf(a.stdout, "called answerable: %d of %d questions of which a right answer was found, %d of %d of other subjects\n\n",
		r.Found.Answerable, r.Found.Queries, r.Foreign.Answerable, r.Foreign.Queries)
	rows := [][]string{{"confidence", "answers", "said", "right"}}
	for _, b := range r.Bins {
		if b.Count > 0 {
			rows = append(rows, []string{fmt.Sprintf("%.1f to %.1f", b.From, b.To), terminal.Count(b.Count), fmt.Sprintf("%.2f", b.Mean), fmt.Sprintf("%.2f", b.Right)})
		}
	}
	a.printTable(rows)
}

// confidence is what tells how sure answers are: learned from this index, or else
// what holds for documents on average; nil when neither is known for the profile
// and the model in use.
func (s *session) confidence(profile string) *calibrate.Logistic {
	model := s.view.Settings().Embedder
	content, err := os.ReadFile(filepath.Join(s.where.Dir, collection.ConfidenceName))
	if err == nil {
		var kept confidenceJSON
		kept.Report = &confidence.Report{}
		if json.Unmarshal(content, &kept) == nil && kept.Schema == confidenceSchema && kept.Profile == profile && kept.Model == model && len(kept.Fit.Weights) == len(search.Evidence{}.Features()) {
			return &kept.Fit
		}
	}
	return search.AverageConfidence(profile, model)
}
