package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
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
		Use:   "fuse RUN RUN...",
		Short: "Join rankings that other systems made",
		Long: `Joins runs, query by query, into one, and prints it. A run is a file in the
format of TREC (QUERY Q0 DOCUMENT RANK SCORE NAME) or JSON, the answers of sheaf
search --json among it; - is the standard input. See doc/stages.md.`,
		Example: `  sheaf fuse --method rrf --k 60 bm25.run vectors.run
  sheaf fuse --method weighted_sum --weights 0.3,0.7 words.json meaning.json --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 { // joining one run changes its scores only
				return nil
			}
			return checkArguments(cmd, args)
		},
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
	f.StringVar(&name, "name", "sheaf", "name of the run that is printed")
	f.IntVarP(&limit, "limit", "n", 1000, "the most hits of a query")
	f.BoolVar(&a.json, "json", false, "print JSON: a list of {id, score} for each query")
	return cmd
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
	for i, name := range files {
		if name == "-" && slices.Contains(files[:i], "-") {
			return nil, sheaf.Invalidf("the standard input (-) can be read once only")
		}
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

func (a *app) stageCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "stage NAME [--SETTING=VALUE...] RUN",
		Short: "Apply a ranking stage to rankings that other systems made",
		Long: `Applies one stage, as profiles have them, to the rankings of a run (a TREC run
file or JSON; - is the standard input) and prints the result. Settings are those
of the stage: sheaf stage NAME --help lists them. What stands before the last #
of an ID is its document. Beside the settings: --limit N, the most hits of a query
(1000), --name NAME, the name of the run that is printed, --json. See
doc/stages.md.`,
		Example: `  sheaf stage aggregate --method=top_m_sum --m=3 chunks.run
  sheaf stage elbow --ratio=0.5 --max=20 bm25.run | sheaf stage normalize -`,
		// The settings depend on the stage, so RunE parses them.
		DisableFlagParsing: true,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return profile.RunStages(), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := parseStageArguments(args)
			if err != nil {
				return err
			}
			if o.help {
				return a.stageHelp(cmd, o.name)
			}
			a.json = o.json
			if o.name == "" || len(o.files) != 1 {
				return sheaf.Invalidf("want a stage and one run: sheaf stage NAME [--SETTING=VALUE...] RUN")
			}
			step, err := profile.NewRunStage(o.name, o.set, o.limit)
			if err != nil {
				return err
			}
			runs, err := a.readRuns(o.files)
			if err != nil {
				return err
			}
			out, err := runs[0].Apply(step.Stage)
			if err != nil {
				return err
			}
			return a.printRun(out, o.run, o.limit)
		},
	}
}

type stageArguments struct {
	name, run  string
	files      []string
	set        map[string]string
	limit      int
	json, help bool
}

func parseStageArguments(args []string) (stageArguments, error) {
	o := stageArguments{run: "sheaf", limit: 1000, set: map[string]string{}}
	for i := 0; i < len(args); i++ {
		arg := cmp.Or(map[string]string{"-h": "--help", "-n": "--limit"}[args[i]], args[i])
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			if o.name == "" {
				o.name = arg
			} else {
				o.files = append(o.files, arg)
			}
			continue
		}
		name, value, given := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		switch {
		case name == "help":
			o.help = true
			continue
		case name == "json":
			o.json = true
			continue
		case !given && i+1 < len(args):
			i++
			value = args[i]
		case !given:
			return o, sheaf.Invalidf("%s has no value: write %s=VALUE", arg, arg)
		}
		if _, twice := o.set[name]; twice {
			return o, sheaf.Invalidf("--%s is given twice", name)
		}
		switch name {
		case "limit":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return o, sheaf.Invalidf("--limit %q: must be a whole number of at least 1", value)
			}
			o.limit = n
		case "name":
			o.run = value
		default:
			o.set[name] = value
		}
	}
	return o, nil
}

// stageHelp prints the list of stages, or the settings of the stage called name.
func (a *app) stageHelp(cmd *cobra.Command, name string) error {
	if name == "" {
		if err := cmd.Help(); err != nil {
			return err
		}
		_, err := a.stdout.WriteString("\nStages: " + strings.Join(profile.RunStages(), ", ") + "\n")
		return err
	}
	text, err := profile.StageHelp(name)
	if err != nil {
		return err
	}
	if !slices.Contains(profile.RunStages(), name) {
		text += "\nIt needs to know documents, and works in profiles only.\n"
	}
	_, err = a.stdout.WriteString(text)
	return err
}
