package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/config"
	"sheaf/collection"
	"sheaf/internal/wording"
	"sheaf/store"
)

func (a *app) copyCommand() *cobra.Command {
	var to, from, alias string
	cmd := &cobra.Command{
		Use:     "copy --to ADDRESS",
		GroupID: groupKeep,
		Short:   "Fill another store with what is indexed here",
		Long: `Fills the store at ADDRESS with the documents of this folder's index, then verifies
it: every chunk is searched for and found. The
index in use stays as it is.

With --from, documents come out of that store instead, with their texts and vectors: no
file is read and nothing is embedded again. With --alias, that name moves to the new
store at once when it is verified: who searches by the name finds the old one or the
new one, never nothing. OpenSearch and Elasticsearch have such names.

When it is interrupted, the same command goes on where it was; run again later, it
brings only what changed. Vectors of a model behind an endpoint are taken from the
memory beside the index, not computed again. To search the copy, set ` + "`store`" + ` to its
address; to compare the two first, see sheaf parity.

Addresses:
  postgres://user@host/database?schema=notes&hnsw=16
  opensearch://host:9200/index     opensearch+https://user@host/index
  elasticsearch://host:9200/index
  weaviate://host:8080/Class       vespa://host:8080/schema?config=host:19071
  embedded                         the engine beside the index
Passwords and keys: see store_key_env and store_key_file in sheaf config.`,
		Example: `  sheaf copy --to postgres://me@127.0.0.1/notes
  sheaf copy --from opensearch://127.0.0.1:9200/notes --to embedded
  sheaf copy --to opensearch://127.0.0.1:9200/notes-2 --alias notes
  SHEAF_STORE_KEY_FILE=~/.key sheaf copy --to opensearch+https://me@search.example.org/notes`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to == "" {
				return withHint(sheaf.Invalidf("--to is not set"), "name the store to fill, as in --to postgres://me@host/database")
			}
			return a.copyTo(cmd, from, to, alias)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "address of a store to copy out of, instead of the files")
	cmd.Flags().StringVar(&alias, "alias", "", "second name that moves to the filled store")
	cmd.Flags().StringVar(&to, "to", "", "address of the store to fill")
	a.addJSON(cmd)
	return cmd
}

type copyJSON struct {
	Schema    string `json:"schema"`
	Store     string `json:"store"`
	Documents int    `json:"documents"`
	Chunks    int    `json:"chunks"`
	Vectors   int    `json:"vectors"`
	// Alias is the name that moved to the store.
	Alias string `json:"alias,omitempty"`
	// Verified is how many chunks were searched for and found.
	Verified int     `json:"verified"`
	TookMS   float64 `json:"took_ms"`
}

// with is the app with another store in its settings, which flag named.
func (a *app) with(flag, store string) *app {
	b, c := *a, *a.config
	c.Store.URL, c.Refresh, c.BM25 = store, true, config.BM25Exact
	b.config, b.elsewhere = &c, flag
	return &b
}

func (a *app) copyTo(cmd *cobra.Command, from, to, alias string) error {
	folder, err := a.commandFolder()
	if err != nil {
		return err
	}
	if _, err := a.settings(cmd, folder); err != nil {
		return err
	}
	began := time.Now()
	if from != "" {
		if err := a.stream(cmd, from, to); err != nil {
			return err
		}
	}
	s, err := a.with("--to", to).open(cmd, openOptions{Refresh: from == "", Whole: true, Make: true})
	if err != nil {
		return err
	}
	defer s.Close()
	out, err := s.verifyCopy(cmd.Context())
	if err != nil {
		return withHint(err, "repair it: %s", s.RepairCommand())
	}
	if out.Alias = alias; alias != "" {
		if err := s.moveAlias(cmd.Context(), alias); err != nil {
			return err
		}
	}
	out.TookMS = millis(time.Since(began).Seconds())
	if a.json {
		return a.printJSON(out)
	}
	fmt.Fprintf(a.stdout, "%s holds %s, %s and %s; %s were looked for and found\n", wording.Clean(out.Store),
		wording.Plural(out.Documents, "document", "documents"), wording.Plural(out.Chunks, "chunk", "chunks"),
		wording.Plural(out.Vectors, "vector", "vectors"), wording.Count(out.Verified))
	return nil
}

// sampled is how many chunks of a copy out of a store are compared with those of that store.
const sampled = 200

// verifyCopy counts what the store holds, and searches for every chunk: by its ID, its tree and, where
// the server can lose that by itself, its meaning.
func (s *session) verifyCopy(ctx context.Context) (*copyJSON, error) {
	out := &copyJSON{Schema: "sheaf.copy/1", Store: s.StoreName(), Documents: s.View.Docs(), Chunks: s.View.Chunks()}
	if r, ok := s.Backend.(store.Reporter); ok {
		stats, err := r.Stats(ctx)
		if err != nil {
			return nil, err
		}
		out.Vectors = stats.Vectors
		if stats.Chunks != out.Chunks {
			return nil, fmt.Errorf("%w: %s holds %d chunks, the documents have %d", sheaf.ErrCorrupt, out.Store, stats.Chunks,
				out.Chunks)
		}
	}
	reached, err := s.SearchOurs(ctx)
	if err != nil {
		return nil, err
	}
	if n := len(reached.Missing); n > 0 {
		return nil, fmt.Errorf("%w: %s does not find %d of %d chunks, %s among them", sheaf.ErrCorrupt, out.Store, n,
			out.Chunks, reached.Missing[0])
	}
	if reached.Unreached > 0 {
		return nil, fmt.Errorf("%w: %s keeps %w: %d", sheaf.ErrCorrupt, out.Store, collection.ErrUnreached, reached.Unreached)
	}
	out.Verified = reached.Found
	return out, nil
}
