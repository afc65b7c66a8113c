package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
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
		Use:   "parity --stores STORE,STORE... QUERIES",
		Short: "Compare what stores answer, stage by stage",
		Long: `Asks every store the queries in the file QUERIES, one query a line ("-" is the
standard input), with one profile. It compares each store with the first one, stage
by stage: whether the same hits come in the same order, Kendall's tau, rank-biased
overlap (p = 0.9), the largest difference of a score, and the reason for it.

Some servers count words in another way: Lucene rounds lengths, and Weaviate's idf
counts all chunks. Compared with such a server, the engine counts the same way
(setting bm25). Another column then has the overlap with exact counting.

A store is "embedded" or an address as in sheaf copy. Each store is filled or updated
before it is asked.`,
		Example: "  sheaf parity --stores embedded,postgres://me@127.0.0.1/notes --profile rrf queries.txt " +
			"--html report.html",
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
	if err := checkFiles(html); err != nil {
		return err
	}
	out := &parity.Report{Schema: "sheaf.parity/1", Profile: p.Name, Limit: usualLimit(a.config, p, parameters),
		Queries: len(queries)}
	q := collection.SearchRequest{Parameters: parameters, Limit: out.Limit, Window: out.Limit, Brief: true}
	var first *parity.Store
	for i, address := range stores {
		asked, err := a.askStore(cmd, address, stores, queries, q)
		if err != nil {
			return err
		}
		if i == 0 {
			first, out.First = asked, asked.Name
			continue
		}
		way := countedAlike(first.Kind, asked.Kind)
		compared := parity.CompareStores(queries, first, asked, way)
		compared.Alike = alikeTexts[way]
		out.Stores = append(out.Stores, compared)
	}
	if html != "" {
		if err := writeFile(html, out.HTML); err != nil {
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

// kindOf returns the kind of the store at address, or parity.Engine if the address means the engine.
func kindOf(address string) string {
	kind, _, _ := strings.Cut(address, ":")
	kind, _, _ = strings.Cut(kind, "+")
	return kind
}

// countedAlike returns the value of the setting bm25 for a comparison of two kinds of store. With this value, the
// engine counts words like the other store. If neither store is the engine, the value has no effect.
func countedAlike(first, other string) string {
	switch parity.Engine {
	case first:
		return countsAs(other)
	case other:
		return countsAs(first)
	}
	return config.BM25Exact
}

// alikeTexts explains, for each value of the setting bm25, how the engine counted words for a comparison.
var alikeTexts = map[string]string{
	config.BM25Lucene:   "the engine counts lengths as Lucene keeps them; exact: with exact lengths",
	config.BM25Weaviate: "the engine's idf counts all chunks, as Weaviate's; exact: the chunks that have the field",
}

// askStore sends all queries to the store at address, one of stores. It sends each query to the engine several times.
// The engine first counts words exactly, and then as each other store does.
func (a *app) askStore(cmd *cobra.Command, address string, stores, queries []string,
	q collection.SearchRequest) (*parity.Store, error) {
	out := &parity.Store{Kind: kindOf(address), Approximate: strings.Contains(address, "hnsw="),
		Answers: map[string][]parity.Answer{}}
	ways := []string{config.BM25Exact}
	if out.Kind == parity.Engine {
		for _, other := range stores {
			if way := countsAs(kindOf(other)); !slices.Contains(ways, way) {
				ways = append(ways, way)
			}
		}
	}
	for _, way := range ways {
		with := a.withStore("--stores", address)
		with.config.BM25 = way
		s, err := with.open(cmd, openOptions{Refresh: true, Make: true})
		if err != nil {
			return nil, err
		}
		out.Answers[way], err = s.askAll(cmd.Context(), out, queries, q)
		s.Close()
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *session) askAll(ctx context.Context, out *parity.Store, queries []string,
	q collection.SearchRequest) ([]parity.Answer, error) {
	out.Name = s.StoreName()
	if sharded, ok := s.Backend.(store.Sharded); ok {
		out.Shards = sharded.Shards()
	}
	progress := terminal.NewProgress(s.err, "asking "+out.Name)
	defer progress.Done()
	all := make([]parity.Answer, len(queries))
	for i, text := range queries {
		q.Text = text
		e, err := s.explainQuery(ctx, q)
		if err != nil {
			err = fmt.Errorf("query %q on %s: %w", text, out.Name, err)
		}
		switch {
		case errors.Is(err, sheaf.ErrUnsupported):
			all[i].Refused = err.Error()
		case err != nil:
			return nil, err
		default:
			final := make(sheaf.Ranking, len(e.Results))
			for i, h := range e.Results {
				final[i] = sheaf.Hit{ID: h.ID, Score: h.Score}
			}
			all[i] = parity.Answer{Warnings: e.Warnings,
				Trace: append(e.Details.Trace, search.Snapshot{Step: parity.FinalStep, Ranking: final})}
		}
		progress.Update(i+1, len(queries), 0, "queries")
	}
	return all, nil
}

func (a *app) printParity(out *parity.Report) {
	fmt.Fprintf(a.stdout, "profile %s, %s, %d results, against %s\n", out.Profile,
		wording.Plural(out.Queries, "query", "queries"), out.Limit, wording.Clean(out.First))
	for _, store := range out.Stores {
		fmt.Fprintf(a.stdout, "\n%s\n", wording.Clean(store.Store))
		rows := [][]string{{"stage", "refused", "same set", "same order", "tau", "RBO", "least", "score", "because"}}
		if store.Alike != "" {
			fmt.Fprintln(a.stdout, store.Alike)
			rows[0] = slices.Insert(rows[0], 7, "exact")
		}
		for _, s := range store.Stages {
			row := []string{s.Stage, fmt.Sprint(s.Refused), fmt.Sprint(s.SameSet), fmt.Sprint(s.SameOrder),
				fmt.Sprintf("%.4f", s.Tau), fmt.Sprintf("%.4f", s.RBO),
				fmt.Sprintf("%.4f", s.LeastRBO), fmt.Sprintf("%.2g", s.ScoreDifference),
				wording.Clean(strings.Join(s.Because(), "; "))}
			if store.Alike != "" {
				row = slices.Insert(row, 7, s.ExactText())
			}
			rows = append(rows, row)
		}
		a.printTable(rows)
	}
}
