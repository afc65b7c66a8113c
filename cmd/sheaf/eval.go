package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"
	"github.com/zeebo/xxh3"

	"sheaf"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/eval"
	"sheaf/eval/dataset"
	"sheaf/eval/indexing"
	"sheaf/eval/metric"
	"sheaf/eval/report"
	"sheaf/ingest"
	"sheaf/internal/wording"
	"sheaf/profile"
	"sheaf/text/chunk"
)

// evalJSON is the answer of `sheaf eval`.
type evalJSON struct {
	Datasets []*eval.Report `json:"datasets"` // one report for each data set
	Schema   string         `json:"schema"`
}

type evalOptions struct {
	profiles  []string
	params    []string
	measures  []string
	failBelow []string
	stores    []string
	split     string
	queries   string
	topics    string
	qrels     string
	class     string
	depth     int
	show      int
	plain     bool
	fresh     bool
	words     bool
	cache     string
	runs      []string
	saveRuns  string
	html      string
	markdown  bool
}

const evalHelp = `Indexes each data set like a folder and runs its queries with the profiles. It says
how good and how fast the answers are, and which differences are more than chance
(doc/judging-and-tuning.md).

A data set is one of
  a folder in BEIR layout: corpus.jsonl, queries.jsonl, qrels/test.tsv, each also
    with .gz; or a folder of such folders
  a YAML file with queries for a folder of notes and the notes that are right
  any folder of documents, with --topics and --qrels in the formats of TREC

Every profile is a column; --param x=1,2 makes a column for each value, and --store
one for each store. The other columns are compared with the first.

With --fail-below, the exit status is 1 if the first column has a lower value on any
data set.`

func (a *app) evalCommand() *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "eval DATASET...",
		Short: "Measure rankings on judged collections",
		Long:  evalHelp,
		Example: `  sheaf eval data/scifact
  sheaf eval data/* --profile sheaf,sonar,rrf --metrics nDCG@10,R@100 --html report.html
  sheaf eval data/scifact --param meaning=0,0.3,0.5
  sheaf eval notes.yaml --fail-below nDCG@10=0.55`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.eval(cmd, args, o) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.params, "param", nil, "set a parameter to each of some values, as in --param meaning=0,0.5")
	f.StringArrayVar(&o.measures, "metrics", []string{"nDCG@10,RR@10,R@100"}, "measures, in the names of ir_measures")
	f.StringArrayVar(&o.failBelow, "fail-below", nil, "end with status 1 when a measure is lower, as in nDCG@10=0.55")
	f.StringSliceVar(&o.stores, "store", []string{"embedded"}, "stores to run on: embedded, memory (exhaustive, for "+
		"comparison)")
	f.StringVar(&o.split, "split", "", "file of judgements in the folder qrels, without .tsv (test)")
	f.StringVar(&o.queries, "queries", "", "YAML file of queries for the folder of notes that is named")
	f.StringVar(&o.topics, "topics", "", "file of queries in a format of TREC")
	f.StringVar(&o.qrels, "qrels", "", "file of judgements in the format of TREC")
	f.StringVar(&o.class, "by", "", "report also by this metadata of the queries, such as class")
	f.IntVar(&o.depth, "depth", 100, "answers asked for each query")
	f.IntVar(&o.show, "changed", 0, "list so many queries that gained, and that lost, most")
	f.BoolVar(&o.plain, "plain", false, "take queries as plain words, not as the query language")
	f.StringArrayVar(&o.runs, "run", nil, "add a column from a TREC run file")
	f.StringVar(&o.saveRuns, "save-runs", "", "write a TREC run file for every column into this folder")
	f.StringVar(&o.html, "html", "", "write the report as one HTML file, with plots")
	f.BoolVar(&o.markdown, "markdown", false, "print tables in Markdown, data sets down and rankings across")
	a.withJSON(cmd)
	f.StringSliceVarP(&o.profiles, "profile", "p", []string{"sheaf"}, "ranking profiles to compare; the first is what "+
		"the others are compared with")
	f.BoolVar(&o.fresh, "fresh", false, "index again, whatever is kept of earlier runs")
	f.BoolVar(&o.words, "no-model", false, "make no vectors")
	f.StringVar(&o.cache, "cache", "", "folder that keeps the indexes (sheaf/eval in your cache folder)")
	f.String("chunker", "", "how documents are cut: tree, sections or window")
	f.String("language", "", "language of the words: auto, none or a code such as en")
	markFolder(f, "save-runs", "cache")
	cmd.AddCommand(a.evalSelfCommand(), a.evalConfidenceCommand())
	return cmd
}

func (a *app) eval(cmd *cobra.Command, args []string, o evalOptions) error {
	_, _, err := a.folderSettings(cmd)
	if err != nil {
		return err
	}
	if o.depth < 1 || o.depth > profile.MaxLimit {
		return sheaf.Invalidf("--depth %d: must be within 1..%d", o.depth, profile.MaxLimit)
	}
	e := eval.Evaluation{Class: o.class, Options: eval.Options{Depth: o.depth, Plain: o.plain, Workers: 1}}
	if e.Measures, err = measuresOf(o.measures); err != nil {
		return err
	}
	if e.Columns, err = columnsOf(o.profiles, o.params); err != nil {
		return err
	}
	bounds, err := boundsOf(o.failBelow, &e.Measures)
	if err != nil {
		return err
	}
	if args, err = expandDatasets(args, o); err != nil {
		return err
	}
	if o.saveRuns != "" {
		if err := os.MkdirAll(o.saveRuns, 0o755); err != nil {
			return collection.FileFault("folder", err)
		}
	}
	if err := checkFiles(o.html); err != nil {
		return err
	}
	indexing, err := a.evalIndexing(cmd.Context(), o)
	if err != nil {
		return err
	}
	var reports []*eval.Report
	for _, arg := range args {
		r, err := a.evalOne(cmd.Context(), arg, e, indexing, o)
		if err != nil {
			return err
		}
		reports = append(reports, r)
	}
	switch {
	case a.json:
		err = a.printJSON(evalJSON{Schema: "sheaf.eval/1", Datasets: reports})
	case o.markdown:
		for _, r := range reports { // warnings, which the tables have no place for
			for _, warning := range r.Warnings {
				a.notice("%s: %s", r.Dataset, warning)
			}
		}
		err = report.Markdown(a.stdout, reports)
	default:
		err = report.Text(a.stdout, reports, o.show)
	}
	if err != nil {
		return err
	}
	if o.html != "" { // written after the requested output
		if err := writeFile(o.html, func(w io.Writer) error { return report.HTML(w, reports) }); err != nil {
			return err
		}
	}
	return a.checkBounds(bounds, reports)
}

// expandDatasets replaces each folder that contains data sets by the list of these data sets.
func expandDatasets(args []string, o evalOptions) ([]string, error) {
	var out []string
	for _, arg := range args {
		entries, err := os.ReadDir(arg)
		if err != nil || dataset.IsBEIR(arg) || o.queries+o.topics+o.qrels != "" {
			out = append(out, arg)
			continue
		}
		n := len(out)
		for _, e := range entries {
			if inner := filepath.Join(arg, e.Name()); e.IsDir() && dataset.IsBEIR(inner) {
				out = append(out, inner)
			}
		}
		if n == len(out) {
			return nil, withHint(sheaf.Invalidf("%s is not a data set: it has no corpus.jsonl", arg),
				"name the queries of a folder of notes with --queries FILE.yaml, or with --topics and --qrels; to make queries "+
					"of the notes themselves: sheaf eval self %s", wording.ShellQuoted(arg))
		}
	}
	return out, nil
}

func readDataset(arg string, o evalOptions) (*dataset.Dataset, error) {
	switch ext := strings.ToLower(filepath.Ext(arg)); {
	case o.queries != "":
		return dataset.Notes(o.queries, arg)
	case o.topics != "" && o.qrels != "":
		return dataset.TREC(arg, o.topics, o.qrels)
	case o.topics+o.qrels != "":
		return nil, sheaf.Invalidf("--topics and --qrels belong together: name both")
	case ext == ".yaml" || ext == ".yml":
		return dataset.Notes(arg, "")
	}
	if _, err := os.Stat(arg); err != nil {
		return nil, collection.NearFile(collection.FileFault("data set", err), arg)
	}
	return dataset.BEIR(arg, o.split)
}

func (a *app) evalOne(ctx context.Context, arg string, e eval.Evaluation, in indexing.Options,
	o evalOptions) (*eval.Report, error) {
	d, err := readDataset(arg, o)
	if err != nil {
		return nil, err
	}
	var collections []*eval.Collection
	defer func() { closeAll(collections) }()
	for _, name := range o.stores {
		if name != collection.EngineStore && name != "memory" {
			return nil, sheaf.Invalidf("store %q: must be embedded or memory", name)
		}
		in.Memory = name == "memory"
		c, err := a.openCollection(ctx, d, in)
		if err != nil {
			return nil, err
		}
		collections = append(collections, c)
	}
	if len(collections) == 0 {
		return nil, sheaf.Invalidf("store %q: must be embedded or memory", "")
	}
	if e.Given, err = givenRuns(collections[0].Dataset, o.runs); err != nil {
		return nil, err
	}
	progress := terminal.NewProgress(a.err, "searching "+d.Name)
	e.Options.Progress = func(done, all int) { progress.Update(done, all, 0, "queries") }
	r, runs, err := eval.Evaluate(ctx, collections, e)
	progress.Done()
	if err == nil && o.saveRuns != "" {
		err = saveRuns(o.saveRuns, collections[0].Dataset, runs)
	}
	return r, err
}

// givenRuns reads run files. It adds the file name to the name of each run that shares its name with another run.
func givenRuns(d *dataset.Dataset, files []string) ([]*eval.Run, error) {
	var runs []*eval.Run
	named := map[string]int{}
	for _, file := range files {
		run, err := eval.Given(d, file)
		if err != nil {
			return nil, err
		}
		named[run.Name]++
		runs = append(runs, run)
	}
	for i, run := range runs {
		if named[run.Name] > 1 {
			run.Name += " (" + files[i] + ")"
		}
		if slices.ContainsFunc(runs[:i], func(r *eval.Run) bool { return r.Name == run.Name }) {
			return nil, sameNameError(run.Name)
		}
	}
	return runs, nil
}

func sameNameError(name string) error { return sheaf.Invalidf("the column %q appears twice", name) }

// openDataset reads the data set that arg and the flags name, and indexes it.
func (a *app) openDataset(ctx context.Context, arg string, in indexing.Options,
	o evalOptions) (*eval.Collection, error) {
	d, err := readDataset(arg, o)
	if err != nil {
		return nil, err
	}
	return a.openCollection(ctx, d, in)
}

func closeAll(collections []*eval.Collection) {
	for _, c := range collections {
		c.Close()
	}
}

func (a *app) openCollection(ctx context.Context, d *dataset.Dataset, in indexing.Options) (*eval.Collection, error) {
	progress := terminal.NewProgress(a.err, "indexing "+d.Name)
	defer progress.Done()
	in.Progress = func(p ingest.Progress) { progress.Update(p.Files, p.AllFiles, p.Bytes, "documents") }
	return indexing.Open(ctx, d, in)
}

func saveRuns(dir string, d *dataset.Dataset, runs []*eval.Run) error {
	for _, r := range runs {
		name := strings.Map(func(c rune) rune {
			if strings.ContainsRune(`/\:*?"<>| `, c) {
				return '_'
			}
			return c
		}, d.Name+"."+r.Name+".run")
		err := writeFile(filepath.Join(dir, name), func(w io.Writer) error {
			return d.WriteRun(w, r.Rankings, strings.ReplaceAll(r.Name, " ", "_"))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkFiles returns an error if a file cannot be written. Call it before long work. "" names no file.
func checkFiles(names ...string) error {
	for _, name := range names {
		if name == "" {
			continue
		}
		f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			return collection.FileFault("folder for the file", err)
		}
		_ = f.Close() // nothing was written
	}
	return nil
}

func writeFile(name string, write func(w io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func measuresOf(names []string) ([]metric.Measure, error) {
	out, err := metric.ParseList(strings.Join(names, ","))
	if err != nil {
		return nil, sheaf.Invalidf("%w", err)
	}
	return out, nil
}

type minimum struct {
	measure string
	value   float64
}

// boundsOf parses the values of --fail-below. It appends their measures to *measures if *measures lacks them.
func boundsOf(texts []string, measures *[]metric.Measure) ([]minimum, error) {
	var out []minimum
	for _, text := range texts {
		i := strings.LastIndexByte(text, '=')
		if i < 0 {
			return nil, sheaf.Invalidf("--fail-below %q: want MEASURE=VALUE, as in nDCG@10=0.55", text)
		}
		least, err := strconv.ParseFloat(text[i+1:], 64)
		if err != nil || !(least >= 0 && least <= 1) {
			return nil, sheaf.Invalidf("--fail-below %q: the value must be a number within 0..1", text)
		}
		parsed, err := measuresOf([]string{text[:i]})
		if err != nil {
			return nil, err
		}
		if !slices.Contains(*measures, parsed[0]) {
			*measures = append(*measures, parsed[0])
		}
		out = append(out, minimum{parsed[0].String(), least})
	}
	return out, nil
}

// checkBounds prints each mean of a first column that is below its minimum. If there is one, it returns errNothing.
func (a *app) checkBounds(bounds []minimum, reports []*eval.Report) error {
	failed := false
	for _, r := range reports {
		for _, b := range bounds {
			i := slices.Index(r.Measures, b.measure)
			if got := r.Columns[0].Scores[i].Mean; got < b.value {
				a.notice("%s: %s of %s is %.4f, below %v", r.Dataset, b.measure, r.Columns[0].Name, got, b.value)
				failed = true
			}
		}
	}
	if failed {
		return errNothing
	}
	return nil
}

// columnsOf makes one column for each pair of a profile and a combination of parameter values.
func columnsOf(profiles, params []string) ([]eval.Column, error) {
	var out []eval.Column
	for _, name := range profiles {
		p, err := loadProfile(name)
		if err != nil {
			return nil, err
		}
		columns := []eval.Column{{Name: name, Profile: p}}
		for _, param := range params {
			key, values, err := cutParam(param)
			if err != nil {
				return nil, err
			}
			var next []eval.Column
			for _, c := range columns {
				for _, value := range values {
					set, err := parseSet([]string{key + "=" + value}, p)
					if err != nil {
						return nil, err
					}
					maps.Copy(set, c.Parameters)
					next = append(next, eval.Column{Name: c.Name + " " + key + "=" + value, Profile: p, Parameters: set})
				}
			}
			columns = next
		}
		out = append(out, columns...)
	}
	for i, c := range out {
		if slices.ContainsFunc(out[:i], func(d eval.Column) bool { return d.Name == c.Name }) {
			return nil, sameNameError(c.Name)
		}
	}
	return out, nil
}

// cutParam splits a value of --param, NAME=VALUE,VALUE, into the name and the values. Other forms are an error.
func cutParam(param string) (name string, values []string, err error) {
	name, list, ok := strings.Cut(param, "=")
	if !ok || name == "" || list == "" {
		return "", nil, sheaf.Invalidf("--param %q: want NAME=VALUE,VALUE", param)
	}
	return name, strings.Split(list, ","), nil
}

// evalIndexing returns the options for indexing data sets, from flags and settings. With o.words there are no models.
func (a *app) evalIndexing(ctx context.Context, o evalOptions) (indexing.Options, error) {
	c := a.config
	in := indexing.Options{Cache: o.cache, Making: a.making(), Fresh: o.fresh}
	if in.Cache == "" {
		in.Cache = filepath.Join(xdg.CacheHome, "sheaf", "eval")
	}
	in.Making.Chunk = func() (chunk.Options, error) {
		cutting, err := configuredChunker(c)
		if o.words {
			cutting.Window.Tokens, cutting.Window.TokensName = nil, ""
		}
		return cutting, err
	}
	var err error
	if in.Program, err = programHash(); err != nil || o.words {
		return in, err
	}
	if in.Reranker, err = newReranker(c.Reranker); err != nil {
		return in, err
	}
	if in.Expander, err = newExpander(c.Chat); err != nil {
		return in, err
	}
	in.Embedder, err = newEmbedder(ctx, c, 0, collection.Patient)
	return in, err
}

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
