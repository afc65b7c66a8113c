package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/collection"
	"sheaf/ingest"
	"sheaf/search/salient"
)

func (a *app) similarCommand() *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use:     "similar ADDRESS",
		GroupID: groupFind,
		Short:   "Find passages like one that you have",
		Long: `Finds passages in other documents that are like the one named, which is given as
for sheaf get. By words, those that are frequent in it and rare elsewhere count;
by meaning, where a model knows its words, its whole text does.`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd, openOptions{Refresh: true, Make: true})
			if err != nil {
				return err
			}
			defer s.Close()
			t, err := s.resolve(args[0])
			if err != nil {
				return err
			}
			content, err := ingest.Shown(s.View, t.Doc.ID)
			if err != nil {
				return fmt.Errorf("read %s: %w", t.Doc.Path, err)
			}
			q, err := s.like(cmd.Context(), collection.SalientText(&t.Doc, &t.Chunk, content), string(t.Chunk.ID))
			if err != nil {
				return err
			}
			q.Filter = sheaf.Not{Filter: textIn(sheaf.ColumnDoc, string(t.Doc.ID))}
			o.label, o.alike = args[0], true
			return s.show(cmd, q, o)
		},
	}
	a.addSearchFlags(cmd.Flags(), &o)
	return cmd
}

// like is a query for passages like text, called name.
func (s *session) like(ctx context.Context, text salient.Text, name string) (sheaf.Query, error) {
	words, err := salient.Query(s.Analyzer, text, salient.Collection{
		Size:  s.View.Chunks(),
		Count: func(word string) (int, error) { return s.count(ctx, word) },
	})
	if err != nil {
		return sheaf.Query{}, err
	}
	if words == nil && s.EmbedQuery() == nil {
		s.warn("%s has no words in common with the index", name)
	}
	return sheaf.Query{Text: text.Body, Words: words, Limit: s.config.Limit}, nil
}
