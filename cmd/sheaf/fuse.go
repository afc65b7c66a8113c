package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/collection"
	"sheaf/internal/wording"
	"sheaf/profile"
	"sheaf/rank/runfile"
)

func (a *app) fuseCommand() *cobra.Command {
	set := map[string]string{}
	var weights, name string
	var limit int
	cmd := &cobra.Command{
		Use:     "fuse RUN RUN...",
		GroupID: groupRank,
		Short:   "Join rankings that other systems made",
		Long: `Joins runs, query by query, into one, and prints it. A run is a file in the
format of TREC (QUERY Q0 DOCUMENT RANK SCORE NAME) or JSON, the answers of sheaf
search --json among it; - is the standard input. See doc/stages.md.`,
		Example: `  sheaf fuse --method rrf --k 60 bm25.run vectors.run
  sheaf fuse --method weighted_sum --weights 0.3,0.7 words.json meaning.json --json`,
		Args: arguments(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, option := range profile.FusionOptions() {
				if f := cmd.Flags().Lookup(option.Name); f.Changed {
					set[option.Name] = f.Value.String()
				}
			}
			fusion, err := profile.NewFusion(set, limit, "--")
			if err != nil {
				return err
			}
			list, err := parseWeights(weights)
			if err != nil {
				return err
			}
			runs, err := a.readRuns(args)
			if err != nil {
				return err
			}
			fused, err := runfile.Fuse(runs, list, fusion)
			if err != nil {
				return err
			}
			return a.printRun(fused, name, limit)
		},
	}
	f := cmd.Flags()
	for _, option := range profile.FusionOptions() {
		if option.Flag() {
			f.Bool(option.Name, false, option.About)
			continue
		}
		f.String(option.Name, option.Default, option.About)
	}
	_ = f.Set("method", "rrf")
	f.Lookup("method").DefValue = "rrf"
	f.StringVar(&weights, "weights", "", "how much each run counts, with commas between; 1 each when not given")
	a.addRunFlags(cmd, &name, &limit)
	return cmd
}

// addRunFlags adds flags for printing a run: its name, and the number of hits per query.
func (a *app) addRunFlags(cmd *cobra.Command, name *string, limit *int) {
	cmd.Flags().StringVar(name, "name", "sheaf", "name of the run that is printed")
	cmd.Flags().IntVarP(limit, "limit", "n", 1000, "the most hits of a query")
	cmd.Flags().BoolVar(&a.json, "json", false, "print JSON: a list of {id, score} for each query")
}

func parseWeights(text string) ([]float64, error) {
	if text == "" {
		return nil, nil
	}
	var list []float64
	for part := range strings.SplitSeq(text, ",") {
		w, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(w >= 0 && w <= 1000) {
			return nil, sheaf.Invalidf("--weights %q: %q: must be a number within 0..1000", text, part)
		}
		list = append(list, w)
	}
	return list, nil
}

// readRuns reads run files. At most one argument may be "-", which means standard input.
func (a *app) readRuns(files []string) ([]*runfile.Run, error) {
	var runs []*runfile.Run
	input := false
	for _, name := range files {
		if name == "-" && input {
			return nil, sheaf.Invalidf("the standard input (-) can be read once only")
		}
		input = input || name == "-"
		r, err := a.readRun(name)
		if err != nil {
			return nil, err
		}
		if r.Repeated > 0 {
			a.notice("%s: %s twice for one query; the better one counts", name,
				wording.Plural(r.Repeated, "hit appears", "hits appear"))
		}
		runs = append(runs, r)
	}
	return runs, nil
}

func (a *app) readRun(name string) (*runfile.Run, error) {
	if name == "-" {
		return runfile.Read("standard input", a.stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, collection.FileFault("file", err)
	}
	defer f.Close()
	r, err := runfile.Read(name, f)
	return r, collection.FileFault("file", err)
}

// printRun writes the first limit hits of every query. If no query has a hit, it returns an error with exit status 1.
func (a *app) printRun(r *runfile.Run, name string, limit int) error {
	switch {
	case limit < 1:
		return sheaf.Invalidf("--limit %d: must be at least 1", limit)
	case name == "" || strings.ContainsAny(name, " \t\r\n"):
		return sheaf.Invalidf("--name %q: must be one word", name)
	}
	found := false
	for q, ranking := range r.Rankings {
		r.Rankings[q] = ranking[:min(limit, len(ranking))]
		found = found || len(ranking) > 0
	}
	var err error
	if a.json {
		err = r.WriteJSON(a.stdout)
	} else {
		err = r.WriteTREC(a.stdout, name)
	}
	switch {
	case err != nil:
		return fmt.Errorf("write run: %w", err)
	case !found:
		return errNothing
	}
	return nil
}
