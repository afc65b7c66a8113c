package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"
	"github.com/zeebo/xxh3"

	"sheaf"
	"sheaf/analysis"
	"sheaf/backend"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/eval"
	"sheaf/eval/dataset"
	"sheaf/eval/metric"
	"sheaf/eval/report"
	"sheaf/inference"
	"sheaf/inference/static/english"
	"sheaf/ingest"
)

// evalOptions are the flags of sheaf eval.
type evalOptions struct {
	profiles []string
	params   []string
	measures []string
	split    string
	class    string
	depth    int
	plain    bool
	fresh    bool
	words    bool
	cache    string
}

func (a *app) evalCommand() *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:     "eval DATASET...",
		GroupID: groupOther,
		Short:   "Measure rankings on judged collections",
		Long: `Indexes each data set as a folder is indexed, runs its queries through the
profiles, and says how good the answers are, how fast they came, and which
differences are more than chance.

A data set is a folder in BEIR layout (corpus.jsonl, queries.jsonl,
qrels/test.tsv, each also with .gz).

Every profile is a column; --param x=1,2 makes one for each value.`,
		Example: `  sheaf eval data/scifact
  sheaf eval data/* --profile sheaf,sonar,rrf --metrics nDCG@10,R@100
  sheaf eval data/scifact --param meaning=0,0.3,0.5`,
		Args: arguments(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return a.eval(cmd, args, o) },
	}
	f := cmd.Flags()
	f.StringSliceVarP(&o.profiles, "profile", "p", []string{"sheaf"}, "ranking profiles to compare; the first is what the others are compared with")
	f.StringArrayVar(&o.params, "param", nil, "set a parameter to each of some values, as in --param meaning=0,0.5")
	f.StringSliceVar(&o.measures, "metrics", []string{"nDCG@10", "RR@10", "R@100"}, "measures, in the names of ir_measures")
	f.StringVar(&o.split, "split", "", "file of judgements in the folder qrels, without .tsv (test)")
	f.StringVar(&o.class, "by", "", "report also by this metadata of the queries, such as class")
	f.IntVar(&o.depth, "depth", 100, "answers asked for each query")
	f.BoolVar(&o.plain, "plain", false, "take queries as plain words, not as the query language")
	f.BoolVar(&o.fresh, "fresh", false, "index again, whatever is kept of earlier runs")
	f.BoolVar(&o.words, "no-model", false, "make no vectors")
	f.StringVar(&o.cache, "cache", "", "folder that keeps the indexes (sheaf/eval in your cache folder)")
	f.String("chunker", "", "how documents are cut: tree, sections or window")
	f.String("language", "", "language of the words: auto, none or a code such as en")
	a.addJSON(cmd)
	markFolder(f, "cache")
	_ = cmd.RegisterFlagCompletionFunc("profile", completeProfiles)
	return cmd
}

func (a *app) eval(cmd *cobra.Command, args []string, o evalOptions) error {
	dir, err := a.folder()
	if err != nil {
		return err
	}
	if _, err := a.settings(cmd, dir); err != nil {
		return err
	}
	measures, err := measuresOf(o.measures)
	if err != nil {
		return err
	}
	columns, err := columnsOf(o.profiles, o.params)
	if err != nil {
		return err
	}
	indexing, err := a.evalIndexing(cmd.Context(), o)
	if err != nil {
		return err
	}
	var reports []*eval.Report
	for _, arg := range args {
		r, err := a.evalOne(cmd.Context(), arg, columns, measures, indexing, o)
		if err != nil {
			return err
		}
		reports = append(reports, r)
	}
	if a.json {
		return a.printJSON(map[string]any{"schema": "sheaf.eval/1", "datasets": reports})
	}
	return report.Text(a.stdout, reports)
}

func (a *app) evalOne(ctx context.Context, arg string, columns []eval.Column, measures []metric.Measure, in eval.Indexing, o evalOptions) (*eval.Report, error) {
	d, err := dataset.BEIR(arg, o.split)
	if err != nil {
		return nil, err
	}
	progress := terminal.NewProgress(a.err, "indexing "+d.Name)
	in.Progress = func(p ingest.Progress) { progress.Update(p.Files, p.AllFiles, p.Bytes, "documents") }
	c, err := eval.Open(ctx, d, in)
	progress.Done()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	progress = terminal.NewProgress(a.err, "searching "+d.Name)
	defer progress.Done()
	run := eval.Options{Depth: o.depth, Plain: o.plain, Workers: 1, Progress: func(done, all int) { progress.Update(done, all, 0, "queries") }}
	r, _, err := c.Evaluate(ctx, columns, measures, o.class, run, eval.DefaultStatistics)
	return r, err
}

func measuresOf(names []string) ([]metric.Measure, error) {
	var out []metric.Measure
	for _, name := range names {
		m, err := metric.Parse(name)
		if err != nil {
			return nil, sheaf.Invalidf("%w", err)
		}
		out = append(out, m)
	}
	return out, nil
}

// columnsOf makes a column of every profile with every combination of values.
func columnsOf(profiles, params []string) ([]eval.Column, error) {
	var out []eval.Column
	for _, name := range profiles {
		p, err := loadProfile(name)
		if err != nil {
			return nil, err
		}
		columns := []eval.Column{{Name: name, Profile: p}}
		for _, param := range params {
			key, values, ok := strings.Cut(param, "=")
			if !ok || key == "" || values == "" {
				return nil, sheaf.Invalidf("--param %q: want NAME=VALUE,VALUE", param)
			}
			var next []eval.Column
			for _, c := range columns {
				for value := range strings.SplitSeq(values, ",") {
					set, err := parseSet([]string{key + "=" + value}, p)
					if err != nil {
						return nil, err
					}
					for k, v := range c.Parameters {
						set[k] = v
					}
					next = append(next, eval.Column{Name: c.Name + " " + key + "=" + value, Profile: p, Parameters: set})
				}
			}
			columns = next
		}
		out = append(out, columns...)
	}
	for i, c := range out {
		if slices.ContainsFunc(out[:i], func(d eval.Column) bool { return d.Name == c.Name }) {
			return nil, sheaf.Invalidf("the column %q is there twice", c.Name)
		}
	}
	return out, nil
}

// evalIndexing is how data sets are indexed: as the settings say a folder is.
func (a *app) evalIndexing(ctx context.Context, o evalOptions) (eval.Indexing, error) {
	c := a.config
	in := eval.Indexing{Cache: o.cache, Store: embeddedStore, Language: c.Language, StopWords: c.StopWords,
		Chunk: configuredChunker(c), Walk: ingest.WalkOptions{Include: c.Include, Exclude: c.Exclude, MaxFileBytes: c.MaxFileSize, FollowLinks: c.FollowSymlinks},
		Fresh: o.fresh, Workers: c.Workers}
	if in.Cache == "" {
		in.Cache = filepath.Join(xdg.CacheHome, "sheaf", "eval")
	}
	if in.Language == "none" {
		in.Language = ""
	}
	var err error
	if in.Program, err = programHash(); err != nil || o.words {
		return in, err
	}
	if in.Embedder, err = newEmbedder(ctx, c, 0, 0); err != nil || in.Embedder != nil {
		return in, err
	}
	in.Embedder, err = english.New()
	return in, err
}

// embeddedStore is the engine of this program.
var embeddedStore = eval.Store{Name: "embedded", Open: func(dir string, an *analysis.Analyzer, e inference.Embedder) (backend.Backend, error) {
	return openBackend(dir, an, e, true)
}}

// programHash tells builds of this program apart.
func programHash() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	defer f.Close()
	h := xxh3.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read this program: %w", err)
	}
	sum := h.Sum128().Bytes()
	return hex.EncodeToString(sum[:]), nil
}
