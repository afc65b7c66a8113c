package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/backend"
	"sheaf/cmd/sheaf/internal/config"
	"sheaf/cmd/sheaf/internal/terminal"
)

func (a *app) copyCommand() *cobra.Command {
	var to, from, alias string
	cmd := &cobra.Command{
		Use:     "copy --to ADDRESS",
		GroupID: groupIndex,
		Short:   "Fill another store with what is indexed here",
		Long: `Fills the store at ADDRESS with the documents of this folder's index, then verifies
it: as many chunks, and those of documents from all over the index are found. The
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
	// Verified is how many chunks were looked for, one by one.
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
	folder, err := a.folder()
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
	s, err := a.with("--to", to).open(cmd, openOptions{refresh: from == "", whole: true, make: true})
	if err != nil {
		return err
	}
	defer s.close()
	out, err := s.verifyCopy(cmd.Context())
	if err != nil {
		return withHint(err, "fill it anew: %s", s.app.rebuildCommand())
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
	fmt.Fprintf(a.stdout, "%s holds %s, %s and %s; %s were looked for and found\n", terminal.Clean(out.Store),
		terminal.Plural(out.Documents, "document", "documents"), terminal.Plural(out.Chunks, "chunk", "chunks"),
		terminal.Plural(out.Vectors, "vector", "vectors"), terminal.Count(out.Verified))
	return nil
}

// sampled is how many chunks of a copy are looked for.
const sampled = 200

// verifyCopy counts what the store holds, and looks for chunks of documents from
// all over the index.
func (s *session) verifyCopy(ctx context.Context) (*copyJSON, error) {
	out := &copyJSON{Schema: "sheaf.copy/1", Store: s.storeName(), Documents: s.view.Docs(), Chunks: s.view.Chunks()}
	if r, ok := s.backend.(backend.Reporter); ok {
		stats, err := r.Stats(ctx)
		if err != nil {
			return nil, err
		}
		out.Vectors = stats.Vectors
		if stats.Chunks != out.Chunks {
			return nil, fmt.Errorf("%w: %s holds %d chunks, the documents have %d", sheaf.ErrCorrupt, out.Store, stats.Chunks, out.Chunks)
		}
	}
	var ids []sheaf.ID
	step, at := max(1, s.view.Docs()/sampled), 0
	for id := range s.view.Files() {
		if at++; at%step != 0 {
			continue
		}
		doc, ok := s.view.Document(id)
		if !ok || len(doc.Chunks) == 0 {
			continue
		}
		ids = append(ids, doc.Chunks[at%len(doc.Chunks)].ID)
	}
	if len(ids) == 0 {
		return out, nil
	}
	found, err := s.backend.Retrieve(ctx, backend.Request{Within: ids, Limit: len(ids), Text: &backend.TextRequest{
		Query: sheaf.Bool{}, Fields: []backend.FieldWeight{{Name: sheaf.FieldBody, Weight: 1}}, K1: backend.DefaultK1, B: backend.DefaultB,
	}})
	if err != nil {
		return nil, err
	}
	if len(found) != len(ids) {
		return nil, fmt.Errorf("%w: %s lacks %d of %d chunks that were looked for", sheaf.ErrCorrupt, out.Store, len(ids)-len(found), len(ids))
	}
	out.Verified = len(ids)
	return out, nil
}

// storeName names the store of the session for people.
func (s *session) storeName() string {
	if s.target == nil {
		return engineStore
	}
	return s.target.String()
}
