package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/collection"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/eval"
	"sheaf/eval/calibrate"
	"sheaf/eval/confidence"
	"sheaf/eval/knownitem"
	"sheaf/eval/report"
	"sheaf/eval/self"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/vfs"
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

// togetherJSON is what holds for several folders together.
type togetherJSON struct {
	Schema  string   `json:"schema"`
	Folders []string `json:"folders"`
	*confidence.Average
}

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
		Use:   "confidence [FOLDER]...",
		Short: "Learn how sure answers from your own documents are",
		Long: `Asks the documents questions whose answers are known, as sheaf eval self does, and
others that nothing answers, and learns from what spoke for the right answers and
for the wrong ones how sure an answer is. Searches show it as high, medium, low or
none from then on; before, they show what holds for documents on average. What was
learned is kept beside the index until it is made again; --reset forgets it.

The error is how far the confidences are from how often answers are right, on
questions that were not learned from (expected calibration error, ten bins).

Several folders are learned from together, and each is judged by what the others
show: what searches start with came from public documentation in this way. Nothing
is kept of that.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return a.evalConfidenceTogether(cmd, args, o)
			}
			return a.evalConfidence(cmd, args, o)
		},
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
	return cmd
}

func (a *app) evalConfidence(cmd *cobra.Command, args []string, o confidenceOptions) error {
	if err := o.check(); err != nil {
		return err
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
	var r *confidence.Report
	err = a.asking(s, c, o, func(searcher *search.Searcher, source knownitem.Source, p *profile.Profile, how confidence.Options) error {
		r, err = confidence.Calibrate(cmd.Context(), searcher, source, p, how)
		return err
	})
	if err != nil {
		return err
	}
	out := &confidenceJSON{Schema: confidenceSchema, Model: s.view.Settings().Embedder, Documents: s.view.Docs(), Report: r}
	content, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	if err := vfs.WriteFile(file, append(content, '\n'), 0); err != nil {
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

func (o confidenceOptions) check() error {
	return cmp.Or(checkCount("--queries", o.queries), checkCount("--impossible", o.impossible))
}

// asking gives do what a collection is asked with.
func (a *app) asking(s *session, c *eval.Collection, o confidenceOptions,
	do func(*search.Searcher, knownitem.Source, *profile.Profile, confidence.Options) error) error {
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
	defer progress.Done()
	return do(searcher, source, p, confidence.Options{
		Queries:  knownitem.Options{PerKind: o.queries, Impossible: o.impossible, Seed: o.seed},
		Progress: func(done, all int) { progress.Update(done, all, 0, "questions") },
	})
}

// evalConfidenceTogether learns from several folders, and keeps nothing.
func (a *app) evalConfidenceTogether(cmd *cobra.Command, folders []string, o confidenceOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.reset || o.plot != "" {
		return sheaf.Invalidf("--reset and --plot are for one folder")
	}
	var infos []fs.FileInfo
	for i, folder := range folders {
		info, err := os.Stat(folder)
		if err != nil {
			return fileFault(err)
		}
		if same := slices.IndexFunc(infos, func(other fs.FileInfo) bool { return os.SameFile(info, other) }); same >= 0 {
			return sheaf.Invalidf("%s and %s are one folder: each is asked once", folders[same], folders[i])
		}
		infos = append(infos, info)
	}
	var all []*confidence.Answers
	in := a.in
	for _, folder := range folders {
		a.in = in
		s, c, err := a.openOwn(cmd, []string{folder})
		if err != nil {
			return err
		}
		err = a.asking(s, c, o, func(searcher *search.Searcher, source knownitem.Source, p *profile.Profile, how confidence.Options) error {
			answers, err := confidence.Ask(cmd.Context(), searcher, source, p, how)
			all = append(all, answers)
			return err
		})
		s.close()
		if err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
	}
	r, err := confidence.Together(all)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(&togetherJSON{Schema: "sheaf.confidences/1", Folders: folders, Average: r})
	}
	fmt.Fprintf(a.stdout, "%s\n\n", r)
	rows := [][]string{{"folder", "calibration error", "answerable: found", "of", "of other subjects", "of"}}
	for i, m := range r.Collections {
		rows = append(rows, []string{folders[i], fmt.Sprintf("%.3f", m.Error), terminal.Count(m.Found.Answerable), terminal.Count(m.Found.Queries),
			terminal.Count(m.Foreign.Answerable), terminal.Count(m.Foreign.Queries)})
	}
	a.printTable(rows)
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
func (s *session) confidence(p *profile.Profile) *calibrate.Logistic {
	return s.confidenceWith(p, s.view.Settings().Embedder)
}

// confidenceNow is confidence for a server, whose index gets its first vectors, or
// others, after it was opened.
func (s *session) confidenceNow(p *profile.Profile) *calibrate.Logistic {
	view := s.catalog.View()
	defer view.Close()
	return s.confidenceWith(p, view.Settings().Embedder)
}

// confidenceWith is confidence where a model made the vectors; "" when there are none.
func (s *session) confidenceWith(p *profile.Profile, model string) *calibrate.Logistic {
	kept := s.sureness.read(filepath.Join(s.where.Dir, collection.ConfidenceName))
	if kept != nil && kept.of(p) && kept.Model == model {
		return &kept.Fit
	}
	return search.AverageConfidence(p, model)
}

// learnedFile is the file of what was learned of how sure answers are, as it was read last: every
// answer asks for it. It is safe for concurrent use.
type learnedFile struct {
	mu   sync.Mutex
	info fs.FileInfo // nil when there was none
	kept *confidenceJSON
}

// read is what the file says now; nil when it is not there, or cannot be used.
func (l *learnedFile) read(file string) *confidenceJSON {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.info != nil {
		if still, err := vfs.Still(vfs.Disk{}, file, l.info); err == nil && still {
			return l.kept
		}
	}
	l.info, l.kept = nil, nil
	info, err := os.Stat(file) // before it is read: who writes into it after that changes its time
	if err != nil {
		return nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	l.info = info
	kept := confidenceJSON{Report: &confidence.Report{}}
	if json.Unmarshal(content, &kept) == nil && kept.Schema == confidenceSchema && len(kept.Fit.Weights) == len(search.Evidence{}.Features()) {
		l.kept = &kept
	}
	return l.kept
}

// of reports whether c was learned of what p computes. Before profiles had digests it
// was noted by name, which is taken to be that of a built-in one.
func (c *confidenceJSON) of(p *profile.Profile) bool {
	if c.Digest == "" {
		return c.Profile == p.Name && p.IsBuiltin()
	}
	return c.Digest == p.Digest()
}
