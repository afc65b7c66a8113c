package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/eval"
	"sheaf/eval/indexing"
	"sheaf/eval/self"
	"sheaf/profile"
)

type selfOptions struct {
	self.Wanted
	profiles []string
	params   []string
}

func (a *app) evalSelfCommand() *cobra.Command {
	var o selfOptions
	cmd := &cobra.Command{
		Use:   "self [FOLDER]",
		Short: "Measure rankings on your own documents, without judgements",
		Long: `Makes queries with known answers from the documents: a heading asks for its section,
the words of a link for their page, an alias for its note, a rare phrase for its
chunk, and a sentence without some of its words for its chunk. It runs the queries
with each ranking. Then it says which ranking is best for these documents, and
whether the difference is more than chance (doc/judging-and-tuning.md).

The first column is the profile in use. Without --profile and --param, it is
compared with some other profiles.`,
		Example: `  sheaf eval self ~/notes
  sheaf eval self --param meaning=0,0.25,0.5,0.75`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withOwn(cmd, args, o.Wanted, func(s *session, c *eval.Collection) error {
				return s.evalSelf(cmd.Context(), c, o)
			})
		},
	}
	f := cmd.Flags()
	f.StringSliceVarP(&o.profiles, "profile", "p", nil, "ranking profiles to compare; the others are compared with the "+
		"first")
	f.StringArrayVar(&o.params, "param", nil, "set a parameter to each of some values, as in --param meaning=0,0.5")
	f.IntVarP(&o.PerKind, "queries", "n", 60, "queries of each kind")
	f.Uint64Var(&o.Seed, "seed", 1, "another number makes other queries from the same documents")
	f.Bool("no-refresh", false, "do not look for changed files first")
	return a.withJSON(cmd)
}

func (s *session) evalSelf(ctx context.Context, c *eval.Collection, o selfOptions) error {
	columns, err := s.selfColumns(o)
	if err != nil {
		return err
	}
	progress := terminal.NewProgress(s.err, "searching")
	r, err := self.Evaluate(ctx, c, o.Wanted, columns,
		func(done, all int) { progress.Update(done, all, 0, "queries") })
	progress.Done()
	if err != nil {
		return err
	}
	if !s.json {
		return r.Text(s.stdout)
	}
	return s.printJSON(evalSelfJSON{"sheaf.eval-self/1", r})
}

// evalSelfJSON is the answer of `sheaf eval self`.
type evalSelfJSON struct {
	Schema string `json:"schema"`
	*self.Report
}

// checkCount returns an error if the number of questions n is not within 1..100000.
func checkCount(flag string, n int) error {
	if n < 1 || n > 100_000 {
		return sheaf.Invalidf("%s is %d: must be within 1..100000", flag, n)
	}
	return nil
}

// withOwn opens the index of the folder in args, or else of the command's folder. It calls run with the session, and
// with the index as a collection for eval.
func (a *app) withOwn(cmd *cobra.Command, args []string, wanted self.Wanted,
	run func(*session, *eval.Collection) error) error {
	if err := checkCount("--queries", wanted.PerKind); err != nil {
		return err
	}
	if len(args) == 1 {
		if a.in != "" {
			return sheaf.Invalidf("the folder is named twice: %s and --in %s", args[0], a.in)
		}
		a.in = args[0]
	}
	return a.withIndex(cmd, openOptions{Refresh: true, Make: true}, func(s *session) error {
		c, err := indexing.Of(cmd.Context(), s.Index, s.expander)
		if err != nil {
			return err
		}
		defer c.Close()
		return run(s, c)
	})
}

// selfColumns returns the columns that the flags name. Without such flags it returns the profile in force, variants
// with another weight for meaning, and some other profiles.
func (s *session) selfColumns(o selfOptions) ([]eval.Column, error) {
	if len(o.profiles) > 0 {
		return columnsOf(o.profiles, o.params)
	}
	used := []string{s.config.Profile}
	columns, err := columnsOf(used, nil)
	if err != nil {
		return nil, err
	}
	if len(o.params) > 0 {
		variants, err := columnsOf(used, o.params)
		return append(columns, variants...), err
	}
	others, err := columnsOf([]string{"sonar", "rrf"}, nil)
	if err == nil && s.Embedder != nil && slices.ContainsFunc(columns[0].Profile.Parameters,
		func(p profile.Parameter) bool { return p.Name == "meaning" }) {
		var variants []eval.Column
		variants, err = columnsOf(used, []string{"meaning=0,0.25,0.75,1"})
		columns = append(columns, variants...)
	}
	return append(columns, others...), err
}
