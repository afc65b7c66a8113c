package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/storeurl"
	"sheaf/collection"
	"sheaf/collection/location"
	"sheaf/internal/wording"
	"sheaf/profile"
	"sheaf/rank"
	"sheaf/store"
	"sheaf/store/opensearch"
	"sheaf/store/vespa"
	"sheaf/text/analysis"
)

// exports are subcommands of sheaf export. address is the default of --for; its store must be one of kinds.
var exports = []struct {
	name, address, about string
	kinds                []string
}{
	{"sql", "postgres://", "Write the SQL that makes the tables in PostgreSQL", []string{"postgres"}},
	{"mapping", "opensearch://host",
		"Write the settings and mappings that make the indices in OpenSearch or Elasticsearch",
		[]string{"opensearch", "elasticsearch"}},
	{"weaviate-class", "weaviate://host", "Write the classes of Weaviate", []string{"weaviate"}},
}

func (a *app) exportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the files for creating a store by hand",
		Long: `Writes the definitions that sheaf would make on a server for this folder, with its
analyzer and the dimensions of its model: to the standard output, or for Vespa into a
folder. It asks no server. sheaf uses a place that you make by hand with them as if
it had made the place itself. Without --for, they are for the store in the settings
if it is of that kind.`,
		Example: `  sheaf export sql | psql notes
  sheaf export mapping --for 'opensearch://host/notes?k1=0.9&b=0.4'
  sheaf export vespa-app app --profile onyx-vespa && vespa deploy app`,
	}
	for _, e := range exports {
		address := ""
		one := &cobra.Command{
			Use: e.name, Short: e.about,
			RunE: func(cmd *cobra.Command, _ []string) error { return a.export(cmd, address, e.kinds) },
		}
		one.Flags().StringVar(&address, "for", e.address, "address of the store, for its name and options")
		cmd.AddCommand(one)
	}
	cmd.AddCommand(a.exportVespaCommand())
	return cmd
}

func (a *app) export(cmd *cobra.Command, address string, kinds []string) error {
	t, an, fields, err := a.exported(cmd, address, kinds)
	if err != nil {
		return err
	}
	text, err := t.Export(an, fields)
	if err != nil {
		return err
	}
	if t.Kind == "elasticsearch" {
		a.notice("Elasticsearch before 9.2 refuses one setting; for such a server remove %q", opensearch.VectorsInSource)
	}
	_, err = fmt.Fprint(a.stdout, text)
	return err
}

// exported returns the parsed address of a store, and the analyzer and vector fields of the command's folder. It
// refuses a store whose kind is not in kinds.
func (a *app) exported(cmd *cobra.Command, address string, kinds []string) (target *storeurl.Target,
	an *analysis.Analyzer, fields []store.VectorField, err error) {
	folder, c, err := a.folderSettings(cmd)
	if err != nil {
		return nil, nil, nil, err
	}
	where, _, err := a.finder(c).Find(folder)
	if err != nil {
		return nil, nil, nil, err
	}
	s := a.newSession(folder, where)
	defer s.Close()
	if where.Exists {
		err = s.examineCatalog(cmd.Context()).Err
	} else {
		err = s.NewAnalyzer(cmd.Context())
	}
	if err != nil {
		return nil, nil, nil, err
	}
	name := filepath.Base(location.Finder{}.Own(where.Root).Dir)
	if set, err := storeurl.Parse(c.Store.URL, name, storeurl.Secrets{}); err == nil &&
		slices.Contains(kinds, set.Kind) && !cmd.Flags().Changed("for") {
		address = c.Store.URL
	}
	if target, err = storeurl.Parse(address, name, storeurl.Secrets{}); err != nil {
		return nil, nil, nil, err
	}
	if !slices.Contains(kinds, target.Kind) {
		return nil, nil, nil, sheaf.Invalidf("--for %s: must be an address of %s", target, strings.Join(kinds, " or "))
	}
	e, err := newEmbedder(cmd.Context(), c, 0, collection.Hasty)
	return target, s.Analyzer, collection.VectorFields(e), err
}

func (a *app) exportVespaCommand() *cobra.Command {
	var address, name string
	cmd := &cobra.Command{
		Use:   "vespa-app DIR",
		Short: "Write the application package of Vespa into a folder",
		Long: `Writes an application package: the schema of chunks with their words, vectors and
columns, the rank profiles, services, hosts and a query profile. With --profile
onyx-vespa (or one like it) it also holds that ranking as rank profiles of two phases,
with the profile's numbers as their defaults. Deploy it with "vespa deploy DIR", or
add its schemas and the two documents to an application of your own.`,
		Example: `  sheaf export vespa-app app --profile onyx-vespa --for 'vespa://host:8080/notes?hnsw=true'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.exportVespa(cmd, address, args[0], name)
		},
	}
	cmd.Flags().StringVar(&address, "for", "vespa://host:8080", "address of the store, for its name and options")
	cmd.Flags().StringVar(&name, "profile", "", "also write this profile's ranking in two phases")
	return cmd
}

// exportVespa writes an application into the folder dir, with the ranking of the profile called name if it is not "".
func (a *app) exportVespa(cmd *cobra.Command, address, dir, name string) error {
	t, an, fields, err := a.exported(cmd, address, []string{"vespa"})
	if err != nil {
		return err
	}
	o, err := t.Vespa(an, fields, store.Make)
	if err != nil {
		return err
	}
	if name != "" {
		p, err := loadProfile(name)
		if err != nil {
			return err
		}
		if o.Ranking, err = twoPhases(p); err != nil {
			return err
		}
	}
	files, err := o.Application()
	if err != nil {
		return err
	}
	if err := vespa.WriteApplication(dir, files); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s: an application with the schema %s\n", wording.Clean(dir), t.Place)
	return nil
}

// twoPhases reads the numbers of a two-phase ranking from a profile. The profile must have the same shape as the
// built-in profile onyx-vespa. For any other shape, twoPhases returns sheaf.ErrUnsupported and names the difference.
func twoPhases(p *profile.Profile) (*vespa.TwoPhases, error) {
	var out vespa.TwoPhases
	for _, keyword := range []string{"0", "1"} {
		plan, err := p.Plan(max(p.DefaultLimit(nil), 10), map[string]string{"keyword": keyword})
		if err != nil {
			return nil, fmt.Errorf("profile %s: %w: Vespa cannot rank it in two phases: use onyx-vespa or a profile that "+
				"extends it: %w", p.Name, sheaf.ErrUnsupported, err)
		}
		one, reason := phasesOf(plan)
		if reason != "" {
			return nil, fmt.Errorf("profile %s: %w: Vespa ranks by itself as onyx-vespa does, and here %s", p.Name,
				sheaf.ErrUnsupported, reason)
		}
		if keyword == "0" {
			out = one
		} else {
			out.KeywordAlpha = one.Alpha
		}
	}
	return &out, nil
}

// phasesOf reads the numbers of a two-phase ranking from a plan. reason says why Vespa cannot rank like it, or is "".
func phasesOf(plan *profile.Plan) (out vespa.TwoPhases, reason string) {
	if plan.Candidates == nil || len(plan.Candidates.Branches) != 4 || plan.Candidates.Limit < 1 {
		return out, "there is no first phase of four branches"
	}
	out.Rerank = plan.Candidates.Limit
	b := plan.Main.Branches
	if len(b) != 4 {
		return out, fmt.Sprintf("the second phase has %d branches, not 4", len(b))
	}
	for i, want := range []struct{ retrieve, field string }{{"vector", "body"}, {"vector", "title"}, {"text", "body"},
		{"text", "title"}} {
		if string(b[i].Retrieve) != want.retrieve || !searches(&b[i], want.field) {
			return out, fmt.Sprintf("branch %s does not search %s by %s", b[i].Name, want.field, want.retrieve)
		}
	}
	if b[1].AtLeast != b[0].Name {
		return out, fmt.Sprintf("branch %s may count less than %s", b[1].Name, b[0].Name)
	}
	if f, ok := plan.Main.Fusion.(rank.Scores); !ok || f.Norm != rank.NormLinear || f.Mean != rank.MeanSum {
		return out, "the second phase is joined by " + plan.Main.FusionText
	}
	out.Alpha = b[0].Weight + b[1].Weight
	if out.Ratio = b[1].Weight + b[3].Weight; !near(b[0].Weight, out.Alpha*(1-out.Ratio)) ||
		!near(b[3].Weight, (1-out.Alpha)*out.Ratio) || !near(b[2].Weight, (1-out.Alpha)*(1-out.Ratio)) {
		return out, "the weights of the branches are not made of alpha and title_content_ratio"
	}
	// Round off the error of adding weights.
	out.Alpha, out.Ratio = math.Round(out.Alpha*1e12)/1e12, math.Round(out.Ratio*1e12)/1e12
	reason = factorsOf(plan, &out)
	return out, reason
}

// factorsOf reads the numbers of the second phase into *out. reason has the same meaning as in phasesOf.
func factorsOf(plan *profile.Plan, out *vespa.TwoPhases) (reason string) {
	var stages []rank.Stage
	for _, step := range plan.Main.Then {
		if _, top := step.Stage.(rank.Top); !top {
			stages = append(stages, step.Stage)
		}
	}
	i := slices.IndexFunc(stages, func(s rank.Stage) bool { _, ok := s.(rank.Recency); return ok })
	if len(stages) != 3 || i != 1 || stages[0] != rank.Stage(rank.PropertyBoost{Name: "boost", Curve: rank.Feedback}) ||
		stages[2] != rank.Stage(rank.PropertyBoost{Name: "chunk_boost", Curve: rank.Plain}) {
		return "other stages follow than the boosts by votes, age and chunk worth"
	}
	r := stages[1].(rank.Recency)
	if r.Curve != rank.Hyperbolic || r.Blend != 0 || (r.Undated-rank.UndatedAge).Abs() > time.Second {
		return "documents lose with age by another curve"
	}
	out.Decay, out.Floor = r.Decay, r.Floor
	return ""
}

// searches reports whether a branch searches this field and no other.
func searches(b *profile.Branch, field string) bool {
	if b.Vector != nil {
		return b.Vector.Field == field
	}
	return len(b.Text.Fields) == 1 && b.Text.Fields[0].Name == field
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
