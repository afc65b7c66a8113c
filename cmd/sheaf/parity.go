package main

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/config"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/eval/parity"
	"sheaf/internal/wording"
	"sheaf/search"
	"sheaf/store"
)

func (a *app) parityCommand() *cobra.Command {
	var stores []string
	var html string
	var set []string
	cmd := &cobra.Command{
		Use:     "parity --stores STORE,STORE... QUERIES",
		GroupID: groupRank,
		Short:   "Compare what stores answer, stage by stage",
		Long: `Asks every store the queries of the file QUERIES, one a line ("-" is the standard
input), with one profile, and compares each store with the first: for every stage of
the profile whether the same hits come in the same order, Kendall's tau, rank-biased
overlap (p = 0.9), the largest difference of a score, and the reason for it.

Some servers count what scores of words are made of in ways of their own: Lucene
rounds lengths, Weaviate's idf counts all chunks. Beside such a server the engine
counts likewise (setting bm25), and the overlap with exact counting stands beside.

A store is "embedded" or an address as in sheaf copy; each is filled, or brought up
to date, before it is asked.`,
		Example: "  sheaf parity --stores embedded,postgres://me@127.0.0.1/notes --profile rrf queries.txt " +
			"--html report.html",
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.parity(cmd, stores, args[0], html, set)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&stores, "stores", nil, "the stores to compare, the yardstick first")
	f.StringVar(&html, "html", "", "also write the report to this file, as a page")
	f.StringArrayVar(&set, "set", nil, "set a parameter of the profile")
	f.IntP("limit", "n", 0, "number of results")
	f.StringP("profile", "p", "", "ranking profile (see: sheaf profile list)")
	return a.withJSON(cmd)
}

// parityJSON is the report.
type parityJSON struct {
	Schema  string             `json:"schema"`
	Profile string             `json:"profile"`
	Limit   int                `json:"limit"`
	Queries int                `json:"queries"`
	First   string             `json:"first"`
	Stores  []*parityStoreJSON `json:"stores"`
}

// parityStoreJSON compares one store with the first.
type parityStoreJSON struct {
	Store string `json:"store"`
	// Counted is the engine's setting bm25 for the comparison: the server's way of counting, or
	// "exact".
	Counted string             `json:"counted"`
	Stages  []*parityStageJSON `json:"stages"`
}

// Alike says how both stores counted; "" if each counted in its own way.
func (s *parityStoreJSON) Alike() string {
	switch s.Counted {
	case config.BM25Lucene:
		return "the engine counts lengths as Lucene keeps them; exact: with exact lengths"
	case config.BM25Weaviate:
		return "the engine's idf counts all chunks, as Weaviate's; exact: the chunks that have the field"
	}
	return ""
}

// parityStageJSON is one stage, over all queries.
type parityStageJSON struct {
	// Stage is branch and step; the last stage is the answer.
	Stage string `json:"stage"`
	// Refused counts queries that the store cannot answer. The other numbers leave them out.
	Refused int `json:"refused"`
	// SameSet and SameOrder count queries.
	SameSet   int `json:"same_set"`
	SameOrder int `json:"same_order"`
	// Tau and RBO are means, LeastRBO is the smallest.
	Tau      float64 `json:"kendall_tau"`
	RBO      float64 `json:"rbo"`
	LeastRBO float64 `json:"least_rbo"`
	// Exact is the mean overlap when the engine counts exactly; null if it already does, or has no
	// such stage then.
	Exact *float64 `json:"exact_rbo"`
	// ScoreDifference and ScoreShare are the maximum over all queries.
	ScoreDifference float64 `json:"score_difference"`
	ScoreShare      float64 `json:"score_share"`
	// Reasons count queries.
	Reasons map[string]int    `json:"reasons"`
	Queries []parityQueryJSON `json:"queries"` // in order, without refused ones
}

type parityQueryJSON struct {
	Query string `json:"query"`
	parity.Agreement
	Reasons []string `json:"reasons"`
}

func (a *app) parity(cmd *cobra.Command, stores []string, file, html string, set []string) error {
	if len(stores) < 2 {
		return withHint(sheaf.Invalidf("--stores names %s: at least two are compared",
			wording.Plural(len(stores), "store", "stores")), "for example: --stores embedded,postgres://me@host/database")
	}
	if _, _, err := a.folderSettings(cmd); err != nil {
		return err
	}
	queries, err := a.readQueries(file)
	if err != nil {
		return err
	}
	p, err := loadProfile(a.config.Profile)
	if err != nil {
		return err
	}
	parameters, err := parseSet(set, p)
	if err != nil {
		return err
	}
	out := &parityJSON{Schema: "sheaf.parity/1", Profile: p.Name, Limit: usualLimit(a.config, p, parameters),
		Queries: len(queries)}
	q := collection.SearchRequest{Parameters: parameters, Limit: out.Limit, Window: out.Limit, Brief: true}
	asked := make([]*askedStore, len(stores))
	for i, store := range stores {
		if asked[i], err = a.askStore(cmd, store, stores, queries, q); err != nil {
			return err
		}
		if i > 0 {
			out.Stores = append(out.Stores, compareCounted(queries, asked[0], asked[i]))
		}
	}
	out.First = asked[0].name
	if html != "" {
		page, err := template.New("parity").Parse(parityPage)
		if err == nil {
			err = writeFile(html, func(w io.Writer) error { return page.Execute(w, out) })
		}
		if err != nil {
			return err
		}
	}
	return a.print(out, func() { a.printParity(out) })
}

// readQueries reads one query per line. It skips empty lines and lines that begin with '#'.
func (a *app) readQueries(file string) ([]string, error) {
	in := a.stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, collection.FileFault("file", err)
		}
		defer f.Close()
		in = f
	}
	var out []string
	lines := bufio.NewScanner(io.LimitReader(in, 16<<20))
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" && line[0] != '#' {
			out = append(out, line)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if len(out) == 0 {
		return nil, sheaf.Invalidf("%s holds no queries: write one a line", file)
	}
	return out, nil
}

// answered is the answer of a store to a query.
type answered struct {
	trace    []search.Snapshot
	warnings []string
	refused  string // why the store refused the query; "" if it answered
}

// askedStore is a store with its answers.
type askedStore struct {
	name, address string
	// answers has the answers by the setting bm25. A server has only "exact", which is its own way
	// of counting.
	answers map[string][]answered
	// shards is the number of its parts, 0 if unknown.
	shards int
}

// kind returns the kind of store that the address names, or collection.EngineStore for the engine.
func (s *askedStore) kind() string {
	kind, _, _ := strings.Cut(s.address, ":")
	kind, _, _ = strings.Cut(kind, "+")
	return kind
}

// askStore sends all queries to a store. The engine answers once for each way of counting that a
// store has.
func (a *app) askStore(cmd *cobra.Command, store string, stores, queries []string,
	q collection.SearchRequest) (*askedStore, error) {
	out := &askedStore{address: store, answers: map[string][]answered{}}
	ways := []string{config.BM25Exact}
	if out.kind() == collection.EngineStore {
		for _, other := range stores {
			if way := countsAs((&askedStore{address: other}).kind()); !slices.Contains(ways, way) {
				ways = append(ways, way)
			}
		}
	}
	for _, way := range ways {
		with := a.with("--stores", store)
		with.config.BM25 = way
		s, err := with.open(cmd, openOptions{Refresh: true, Make: true})
		if err != nil {
			return nil, err
		}
		out.answers[way], err = s.askAll(cmd.Context(), out, queries, q)
		s.Close()
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *session) askAll(ctx context.Context, out *askedStore, queries []string,
	q collection.SearchRequest) ([]answered, error) {
	out.name = s.StoreName()
	if sharded, ok := s.Backend.(store.Sharded); ok {
		out.shards = sharded.Shards()
	}
	progress := terminal.NewProgress(s.err, "asking "+out.name)
	defer progress.Done()
	all := make([]answered, len(queries))
	for i, text := range queries {
		q.Text = text
		e, err := s.explained(ctx, q)
		switch {
		case errors.Is(err, sheaf.ErrUnsupported):
			all[i].refused = fmt.Errorf("query %q on %s: %w", text, out.name, err).Error()
		case err != nil:
			return nil, fmt.Errorf("query %q on %s: %w", text, out.name, err)
		default:
			final := make(sheaf.Ranking, len(e.Results))
			for i, h := range e.Results {
				final[i] = sheaf.Hit{ID: h.ID, Score: h.Score}
			}
			all[i] = answered{warnings: e.Warnings,
				trace: append(e.Details.Trace, search.Snapshot{Step: finalStage, Ranking: final})}
		}
		progress.Update(i+1, len(queries), 0, "queries")
	}
	return all, nil
}

// compareCounted compares two stores. If one is the engine, it counts like the other, and the
// report also has the overlap with exact counting.
func compareCounted(queries []string, first, other *askedStore) *parityStoreJSON {
	way := config.BM25Exact
	switch {
	case first.kind() == collection.EngineStore:
		way = countsAs(other.kind())
	case other.kind() == collection.EngineStore:
		way = countsAs(first.kind())
	}
	exact := compareStores(queries, first, other, config.BM25Exact)
	if way == config.BM25Exact {
		return exact
	}
	out := compareStores(queries, first, other, way)
	for _, s := range out.Stages {
		if i := slices.IndexFunc(exact.Stages, func(e *parityStageJSON) bool { return e.Stage == s.Stage }); i >= 0 {
			s.Exact = &exact.Stages[i].RBO
		}
	}
	return out
}

// counted returns the answers with this way of counting, or with the store's own way.
func (s *askedStore) counted(way string) []answered {
	if all, ok := s.answers[way]; ok {
		return all
	}
	return s.answers[config.BM25Exact]
}

// finalStage is the stage of the answer itself.
const finalStage = "answer"

func stageName(s search.Snapshot) string {
	name := s.Step
	if s.Branch != "" {
		name = s.Branch + ": " + name
	}
	if s.First {
		name = "first phase, " + name
	}
	return name
}

func compareStores(queries []string, one, two *askedStore, way string) *parityStoreJSON {
	out := &parityStoreJSON{Store: two.name, Counted: way}
	first, other := one.counted(way), two.counted(way)
	stages := map[string]*parityStageJSON{}
	for i, query := range queries {
		for n, a := range first[i].trace {
			stage := stageName(a)
			var b search.Snapshot
			if j := slices.IndexFunc(other[i].trace, func(s search.Snapshot) bool { return stageName(s) == stage }); j >= 0 {
				b = other[i].trace[j]
			}
			at := stages[stage]
			if at == nil {
				at = &parityStageJSON{Stage: stage, LeastRBO: 1, Reasons: map[string]int{}}
				stages[stage] = at
				out.Stages = slices.Insert(out.Stages, min(n, len(out.Stages)), at)
			}
			if other[i].refused != "" {
				at.Refused++
				at.Reasons[other[i].refused]++
				continue
			}
			g := parity.Compare(a.Ranking, b.Ranking)
			step := stepOf(a, one, two, way, other[i].warnings)
			step.Chosen = chosen(a, first[i].trace)
			step.Noted = slices.DeleteFunc(slices.Clone(b.Notes), func(note string) bool {
				return slices.Contains(a.Notes, note)
			})
			at.add(parityQueryJSON{Query: query, Agreement: g, Reasons: orEmpty(parity.Reasons(a.Ranking, b.Ranking, g, step))})
		}
	}
	for _, s := range out.Stages {
		n := max(1, float64(len(s.Queries)))
		s.Tau, s.RBO = s.Tau/n, s.RBO/n
	}
	return out
}

// stepOf describes a stage of the second store, or of the first if the second is the engine.
func stepOf(s search.Snapshot, one, two *askedStore, way string, warnings []string) parity.Step {
	if two.kind() == collection.EngineStore {
		two = one
	}
	step := parity.Step{Store: two.kind(), Approximate: strings.Contains(two.address, "hnsw="),
		Alike: way != config.BM25Exact, Shards: two.shards}
	if s.Step != "retrieve" {
		return step
	}
	for _, w := range warnings {
		if strings.Contains(w, s.Branch) {
			step.Failed = w
		}
	}
	// Similarities of unit vectors are at most 1. BM25 hits have passage 0.
	step.Meaning = slices.ContainsFunc(s.Ranking, func(h sheaf.Hit) bool { return h.Passage > 0 }) ||
		len(s.Ranking) > 0 && !slices.ContainsFunc(s.Ranking, func(h sheaf.Hit) bool { return math.Abs(h.Score) > 1.0001 })
	step.Words = !step.Meaning
	return step
}

// chosen reports whether a stage scores hits that another stage found: a second phase, or a branch
// that its fusion completes.
func chosen(s search.Snapshot, trace []search.Snapshot) bool {
	return slices.ContainsFunc(trace, func(other search.Snapshot) bool {
		return other.First && !s.First || strings.HasPrefix(other.Step, "fuse: ") && other.First == s.First &&
			strings.Contains(other.Step, "complete: true")
	})
}

func (s *parityStageJSON) add(q parityQueryJSON) {
	if q.SameSet {
		s.SameSet++
	}
	if q.SameOrder {
		s.SameOrder++
	}
	s.Tau += q.Tau
	s.RBO += q.RBO
	s.LeastRBO = min(s.LeastRBO, q.RBO)
	s.ScoreDifference, s.ScoreShare = max(s.ScoreDifference, q.ScoreDifference), max(s.ScoreShare, q.ScoreShare)
	for _, r := range q.Reasons {
		s.Reasons[r]++
	}
	s.Queries = append(s.Queries, q)
}

// ExactText formats Exact for people.
func (s *parityStageJSON) ExactText() string {
	if s.Exact == nil {
		return "-"
	}
	return fmt.Sprintf("%.4f", *s.Exact)
}

// Because lists the reasons, the most frequent first.
func (s *parityStageJSON) Because() []string {
	out := largestFirst(s.Reasons)
	for i, r := range out {
		out[i] = fmt.Sprintf("%s (%d)", r, s.Reasons[r])
	}
	return out
}

func (a *app) printParity(out *parityJSON) {
	fmt.Fprintf(a.stdout, "profile %s, %s, %d results, against %s\n", out.Profile,
		wording.Plural(out.Queries, "query", "queries"), out.Limit, wording.Clean(out.First))
	for _, store := range out.Stores {
		fmt.Fprintf(a.stdout, "\n%s\n", wording.Clean(store.Store))
		rows := [][]string{{"stage", "refused", "same set", "same order", "tau", "RBO", "least", "score", "because"}}
		alike := store.Alike()
		if alike != "" {
			fmt.Fprintln(a.stdout, alike)
			rows[0] = slices.Insert(rows[0], 7, "exact")
		}
		for _, s := range store.Stages {
			row := []string{s.Stage, fmt.Sprint(s.Refused), fmt.Sprint(s.SameSet), fmt.Sprint(s.SameOrder),
				fmt.Sprintf("%.4f", s.Tau), fmt.Sprintf("%.4f", s.RBO),
				fmt.Sprintf("%.4f", s.LeastRBO), fmt.Sprintf("%.2g", s.ScoreDifference),
				wording.Clean(strings.Join(s.Because(), "; "))}
			if alike != "" {
				row = slices.Insert(row, 7, s.ExactText())
			}
			rows = append(rows, row)
		}
		a.printTable(rows)
	}
}

//go:embed parity.html
var parityPage string
