package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/eval"
	"sheaf/eval/metric"
	"sheaf/eval/self"
	"sheaf/eval/tune"
	"sheaf/internal/wording"
	"sheaf/profile"
)

type tuneOptions struct {
	self.Wanted
	params      []string
	fields      bool
	folds       int
	dataset     string
	measure     string
	split       string
	apply, undo bool
}

const tuneHelp = `Searches the parameters of a profile that rank these documents best: weights of
branches and stages, constants and decays. With --fields, also the weights of fields.
The branches retrieve once; for each setting only the stages run again.

The queries are made from the documents (see sheaf eval self), or come from a judged
data set with --dataset. Each setting is chosen on some queries and judged on the
others, because a setting may fit its own queries only by chance. If the gain may be
chance, the advice is to keep the defaults.

--apply makes the index of the folder use the setting if it is better by more than
chance. sheaf status --all shows an applied setting, and --undo removes it.`

func (a *app) tuneCommand() *cobra.Command {
	var o tuneOptions
	cmd := &cobra.Command{
		Use:   "tune [FOLDER]",
		Short: "Find the ranking parameters that serve your documents",
		Long:  tuneHelp,
		Example: `  sheaf tune ~/notes
  sheaf tune ~/notes --param meaning=0,0.2,0.4,0.6 --apply
  sheaf tune --dataset data/scifact --metric nDCG@10`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.tune(cmd, args, o) },
	}
	f := cmd.Flags()
	f.StringP("profile", "p", "", "ranking profile (see: sheaf profile list)")
	f.StringArrayVar(&o.params, "param", nil, "search this parameter among these values, as in --param meaning=0,0.5; "+
		"without it, all parameters that can change the order")
	f.BoolVar(&o.fields, "fields", false, "search the weights of fields too")
	f.IntVarP(&o.PerKind, "queries", "n", 60, "queries of each kind")
	f.IntVar(&o.folds, "folds", 5, "parts of the queries, each held out once")
	f.Uint64Var(&o.Seed, "seed", 1, "another number makes other queries and other parts")
	f.StringVar(&o.dataset, "dataset", "", "judged data set to use instead of the folder (see: sheaf eval)")
	f.StringVar(&o.measure, "metric", "nDCG@10", "measure for --dataset, in the names of ir_measures")
	f.StringVar(&o.split, "split", "", "file of judgements of --dataset, without .tsv (test)")
	f.BoolVar(&o.apply, "apply", false, "use the best setting for this folder if it is better by more than chance")
	f.BoolVar(&o.undo, "undo", false, "use the defaults again")
	f.Bool("no-refresh", false, "do not look for changed files first")
	return a.withJSON(cmd)
}

func (a *app) tune(cmd *cobra.Command, args []string, o tuneOptions) error {
	switch {
	case o.apply && o.undo:
		return sheaf.Invalidf("--apply and --undo exclude each other")
	case o.dataset != "" && (o.apply || o.undo || len(args) > 0):
		return sheaf.Invalidf("--dataset takes no folder, --apply or --undo: save the printed parameters as a profile")
	}
	if o.dataset != "" {
		return a.tuneDataset(cmd, o)
	}
	return a.withOwn(cmd, args, o.Wanted, func(s *session, c *eval.Collection) error {
		return s.tune(cmd.Context(), c, o)
	})
}

func (s *session) tune(ctx context.Context, c *eval.Collection, o tuneOptions) error {
	if o.undo {
		return s.undoTuning()
	}
	cached, err := self.Judged(ctx, c, o.Wanted)
	if err != nil {
		return err
	}
	t := &tuning{app: s.app, collection: cached, depth: 10, plain: true, weights: self.Weights(cached.Dataset.Queries),
		values: func(run *eval.Run) []float64 { return self.Values(cached.Dataset, run) }}
	r, err := t.search(ctx, o)
	if err != nil {
		return err
	}
	if err := t.print(r, self.Measure+" of document and place"); err != nil {
		return err
	}
	if !o.apply {
		return nil
	}
	return s.applyTuning(t, r)
}

func (a *app) tuneDataset(cmd *cobra.Command, o tuneOptions) error {
	if _, _, err := a.folderSettings(cmd); err != nil {
		return err
	}
	measures, err := measuresOf([]string{o.measure})
	if err != nil {
		return err
	}
	if len(measures) != 1 {
		return sheaf.Invalidf("--metric %q: must be one measure, not %d", o.measure, len(measures))
	}
	eo := evalOptions{split: o.split}
	in, err := a.evalIndexing(cmd.Context(), eo)
	if err != nil {
		return err
	}
	c, err := a.openDataset(cmd.Context(), o.dataset, in, eo)
	if err != nil {
		return err
	}
	defer c.Close()
	t := &tuning{app: a, collection: c.Cached(), depth: min(max(measures[0].Cutoff(), 100), profile.MaxLimit),
		weights: slices.Repeat([]float64{1}, len(c.Dataset.Queries)),
		values: func(run *eval.Run) []float64 {
			out := make([]float64, len(c.Dataset.Queries))
			for i, q := range c.Dataset.Queries {
				out[i] = measures[0].Of(metric.IDs(run.Rankings[q.ID]), c.Dataset.Qrels[q.ID])
			}
			return out
		}}
	r, err := t.search(cmd.Context(), o)
	if err != nil {
		return err
	}
	return t.print(r, measures[0].String())
}

type tuning struct {
	*app
	collection *eval.Collection
	depth      int                           // how many results each query gets
	plain      bool                          // queries are plain words, as in eval.Options
	values     func(run *eval.Run) []float64 // the measure of each query, to be maximized
	weights    []float64                     // weight of each query in values
	base       *profile.Profile
	// fields are the current weights of fields, by branch. They are nil if tune does not search for field weights.
	fields map[string]map[string]string
}

func (t *tuning) search(ctx context.Context, o tuneOptions) (*tune.Result, error) {
	var err error
	if t.base, err = loadProfile(t.config.Profile); err != nil {
		return nil, err
	}
	params, err := searched(t.base, o.params)
	if err != nil {
		return nil, err
	}
	if o.fields {
		fields, err := t.fieldParameters()
		if err != nil {
			return nil, err
		}
		params = append(params, fields...)
	}
	progress := terminal.NewProgress(t.err, "tuning "+t.base.Name)
	defer progress.Done()
	return tune.Search(ctx, tune.Problem{Parameters: params, Values: t.run, Weights: t.weights, Folds: o.folds,
		Seed: o.Seed, Progress: func(tried int) { progress.Update(tried, 0, 0, "settings") }})
}

// run returns the measure of every query. set has the values of the parameters that differ from their defaults.
func (t *tuning) run(ctx context.Context, set map[string]string) ([]float64, error) {
	p, err := t.profile(set)
	if err != nil {
		return nil, err
	}
	run, err := t.collection.Run(ctx, eval.Column{Name: p.Name, Profile: p},
		eval.Options{Depth: t.depth, Plain: t.plain, Workers: runtime.GOMAXPROCS(0)})
	if err != nil {
		return nil, err
	}
	return t.values(run), nil
}

// profile returns the base profile with the values in the map set as new defaults.
func (t *tuning) profile(set map[string]string) (*profile.Profile, error) {
	if len(set) == 0 {
		return t.base, nil
	}
	return profile.Parse(t.base.Name+"-tuned.yaml", t.text(set, "Found by sheaf tune."),
		func(name string) (string, []byte, error) {
			if name == t.base.Name {
				name = t.config.Profile // may be the path of a file
			}
			return profileSource(name)
		})
}

// fieldMark separates the branch and the field in the parameter name of a field weight.
const fieldMark = " weight of "

func (t *tuning) text(set map[string]string, about string) []byte {
	change := profile.Tuning{Parameters: map[string]string{}, Fields: map[string]map[string]string{}}
	for name, value := range set {
		branch, field, ok := strings.Cut(name, fieldMark)
		if !ok {
			change.Parameters[name] = value
			continue
		}
		if change.Fields[branch] == nil {
			change.Fields[branch] = map[string]string{}
			maps.Copy(change.Fields[branch], t.fields[branch])
		}
		change.Fields[branch][field] = value
	}
	return change.Text(t.base.Name, about)
}

// fieldParameters returns a parameter for each field weight of the branches that search words in several fields.
func (t *tuning) fieldParameters() ([]tune.Parameter, error) {
	plan, err := t.base.Plan(10, nil)
	if err != nil {
		return nil, err
	}
	t.fields = map[string]map[string]string{}
	var out []tune.Parameter
	for _, b := range plan.Main.Branches {
		if b.Text == nil || len(b.Text.Fields) < 2 {
			continue
		}
		t.fields[b.Name] = map[string]string{}
		for _, f := range b.Text.Fields {
			w := strconv.FormatFloat(f.Weight, 'g', -1, 64)
			t.fields[b.Name][f.Name] = w
			out = append(out, tune.Parameter{Name: b.Name + fieldMark + f.Name, Default: w,
				Values: nearValues(f.Weight, 0, 1e6, nil, 0.25, 0.5, 1, 1.5, 2, 4)})
		}
	}
	return out, nil
}

// searched returns the parameters to tune. A text in named has the form NAME=VALUE,VALUE, with the values to try. If
// named is empty, searched returns all parameters that can change the order of results.
func searched(p *profile.Profile, named []string) ([]tune.Parameter, error) {
	var out []tune.Parameter
	for _, text := range named {
		name, list, err := cutParam(text)
		if err != nil {
			return nil, err
		}
		for _, v := range list {
			if _, err := parseSet([]string{name + "=" + v}, p); err != nil {
				return nil, err
			}
			if _, err := p.Plan(10, map[string]string{name: v}); err != nil {
				return nil, err
			}
		}
		i := slices.IndexFunc(p.Parameters, func(q profile.Parameter) bool { return q.Name == name })
		out = append(out, tune.Parameter{Name: name, Default: p.Parameters[i].Default, Values: list})
	}
	if len(named) > 0 {
		return out, nil
	}
	for i := range p.Parameters {
		if values := grid(&p.Parameters[i]); len(values) > 1 {
			out = append(out, tune.Parameter{Name: p.Parameters[i].Name, Default: p.Parameters[i].Default, Values: values})
		}
	}
	if len(out) == 0 {
		return nil, withHint(sheaf.Invalidf("profile %s has no parameter that changes the order of results", p.Name),
			"name some with --param, or search the weights of fields with --fields")
	}
	return out, nil
}

// taste lists parameters that tune changes only if the user names them. Most of these parameters limit how many results
// are shown or retrieved. For the others, each new value costs calls of a model server.
var taste = []string{"per_document", "pool", "multiplier", "chunk_top_k", "candidates", "rerank_count", "window", "top",
	"rerank", "hyde"}

// grid returns the values to try. It returns nil for taste, and for a default that depends on other parameters.
func grid(p *profile.Parameter) []string {
	if slices.Contains(taste, p.Name) {
		return nil
	}
	if len(p.OneOf) > 0 {
		return p.OneOf
	}
	standard, err := strconv.ParseFloat(p.Default, 64)
	switch {
	case err != nil:
		return nil
	case p.Integer() && p.Max <= 1:
		return []string{"0", "1"}
	case p.Integer():
		whole := func(v float64) float64 { return max(math.Trunc(v), 1) }
		return nearValues(standard, p.Min, p.Max, whole, 0.1, 0.25, 0.5, 1, 2, 4)
	case p.Min >= -1 && p.Max <= 1:
		var out []float64
		for v := 0.0; v <= 1.0001; v += 0.1 {
			if v >= p.Min && v <= p.Max {
				out = append(out, v)
			}
		}
		return numbers(append(out, standard))
	case standard == 0:
		return nil
	}
	return nearValues(standard, p.Min, p.Max, nil, 0.25, 0.5, 1, 1.5, 2, 4)
}

// nearValues returns the number standard and its products with the factors, sorted. It leaves out products below low or
// above high. If round is not nil, it rounds each product.
func nearValues(standard, low, high float64, round func(float64) float64, factors ...float64) []string {
	var out []float64
	for _, f := range factors {
		v := standard * f
		if round != nil {
			v = round(v)
		}
		if v >= low && v <= high {
			out = append(out, v)
		}
	}
	return numbers(append(out, standard))
}

// numbers formats numbers in their shortest form, sorted and without duplicates.
func numbers(values []float64) []string {
	for i, v := range values {
		values[i], _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	}
	slices.Sort(values)
	var out []string
	for _, v := range slices.Compact(values) {
		out = append(out, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return out
}

// tuneJSON is the answer of `sheaf tune`.
type tuneJSON struct {
	Schema  string `json:"schema"`
	Profile string `json:"profile"` // the name of the ranking profile
	Measure string `json:"measure"` // the measure that tune raised, for example nDCG@10
	*tune.Result
	Text string `json:"text"` // the profile that tune found; "" if the defaults are best
}

func (t *tuning) print(r *tune.Result, measure string) error {
	text := ""
	if len(r.Set) > 0 {
		text = string(t.text(r.Set, "Found by sheaf tune: "+tune.Describe(r.Set)+"."))
	}
	if t.json {
		return t.printJSON(tuneJSON{"sheaf.tune/1", t.base.Name, measure, r, text})
	}
	fmt.Fprintf(t.stdout, "%s of %s, %s, %d settings tried\n", measure, t.base.Name,
		wording.Plural(r.Queries, "query", "queries"), r.Tried)
	rows := [][]string{{"  defaults", fmt.Sprintf("%.4f", r.Default)},
		{"  best on all queries", fmt.Sprintf("%.4f", r.Fitted), tune.Describe(r.Set)},
		{"  on queries held out", fmt.Sprintf("%.4f", r.HeldOut),
			fmt.Sprintf("difference within %+.4f to %+.4f (95 %%)", r.Range.Low, r.Range.High)}}
	for i, f := range r.Folds {
		rows = append(rows, []string{fmt.Sprintf("    without part %d", i+1), fmt.Sprintf("%.4f", f.HeldOut),
			fmt.Sprintf("was %.4f, with %s", f.Default, tune.Describe(f.Set))})
	}
	t.printTable(rows)
	fmt.Fprintf(t.stdout, "%s\n", r.Verdict)
	if r.Better {
		fmt.Fprintf(t.stdout, "\n%s", text)
	}
	return nil
}

// applyTuning stores the found values for the index if they are better than the defaults.
func (s *session) applyTuning(t *tuning, r *tune.Result) error {
	if !r.Better {
		s.notice("nothing is applied: the best setting is not better by more than chance")
		return nil
	}
	about := fmt.Sprintf("%s, found by sheaf tune on %s.", tune.Describe(r.Set),
		wording.Plural(r.Queries, "query", "queries"))
	if err := profile.WriteTuned(s.Where.Dir, t.base.Name, t.text(r.Set, about)); err != nil {
		return s.Advise(err)
	}
	s.notice("searches of %s use it from now on; sheaf tune --undo takes it back", s.Where.Root)
	return nil
}

// undoTuning removes the stored values. The index then uses the defaults of the profile.
func (s *session) undoTuning() error {
	name := s.config.Profile
	err := os.Remove(profile.TunedFile(s.Where.Dir, name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.notice("profile %s is not tuned to %s: nothing to take back", name, s.Where.Root)
		return nil
	case err != nil:
		return s.Advise(err)
	}
	s.notice("searches of %s use the defaults of %s again", s.Where.Root, name)
	return nil
}

// tunedJSON describes a profile that is tuned to the index.
type tunedJSON struct {
	Profile string `json:"profile"` // the name of the profile
	About   string `json:"about"`   // what tuning changed
	File    string `json:"file"`    // the file with the changes
}

// tunedProfiles lists the profiles that sheaf tune changed for the index.
func (s *session) tunedProfiles() []tunedJSON {
	out := []tunedJSON{}
	files, _ := filepath.Glob(profile.TunedFile(s.Where.Dir, "*")) // without a list no profile is shown
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		p, fault, err := profile.LoadTuned(s.Where.Dir, name, profile.In(profileFolder()))
		t := tunedJSON{Profile: name, File: file}
		if fault = cmp.Or(fault, err); fault != nil {
			t.About = "not used: " + fault.Error()
		} else {
			t.About = p.About
		}
		out = append(out, t)
	}
	return out
}
