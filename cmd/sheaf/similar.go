package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/salient"
)

func (a *app) similarCommand() *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use:     "similar ADDRESS",
		GroupID: groupSearch,
		Short:   "Find passages like one that you have",
		Long: `Finds passages in other documents that are like the one named, which is given as
for sheaf get. By words, those that are frequent in it and rare elsewhere count;
by meaning, when an embedder is configured, its whole text does.`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd, openOptions{refresh: true, make: true})
			if err != nil {
				return err
			}
			defer s.close()
			t, err := s.resolver().resolve(args[0])
			if err != nil {
				return err
			}
			content, err := s.view.Text(t.doc.ID)
			if err != nil {
				return fmt.Errorf("read %s: %w", t.doc.Path, err)
			}
			q, err := s.like(cmd.Context(), textOf(&t.doc, &t.chunk, content), string(t.chunk.ID))
			if err != nil {
				return err
			}
			q.Filter = sheaf.Not{Filter: textIn(sheaf.ColumnDoc, string(t.doc.ID))}
			o.label = args[0]
			return s.show(cmd, q, o)
		},
	}
	a.addSearchFlags(cmd.Flags(), &o)
	return cmd
}

// textOf is what a chunk says, with the titles of it and of what lies in it.
func textOf(doc *sheaf.Document, c *sheaf.Chunk, content []byte) salient.Text {
	where := c.Span
	where.Start = min(max(where.Start, doc.Frontmatter.End), where.End)
	text := salient.Text{Body: string(content[where.Start:where.End]), Titles: append([]string{}, c.Hierarchy...)}
	if c.ID == doc.ID {
		text.Titles = append(append(text.Titles, doc.Aliases...), doc.Tags...)
	}
	for i := range doc.Chunks {
		inside := &doc.Chunks[i]
		if !c.Span.Contains(inside.Span) {
			continue
		}
		if inside.ID != c.ID {
			text.Titles = append(text.Titles, inside.Title)
		}
		for _, l := range inside.Links {
			text.Titles = append(text.Titles, l.Text)
		}
	}
	return text
}

// like is a query for passages like text, called name.
func (s *session) like(ctx context.Context, text salient.Text, name string) (sheaf.Query, error) {
	words, err := salient.Query(s.analyzer, text, salient.Collection{
		Size:  s.view.Chunks(),
		Count: func(word string) (int, error) { return s.count(ctx, word) },
	})
	if err != nil {
		return sheaf.Query{}, err
	}
	if words == nil && s.embedQuery() == nil {
		s.notice("%s has no words in common with the index", name)
		return sheaf.Query{}, errNothing
	}
	return sheaf.Query{Text: text.Body, Words: words, Limit: s.config.Limit}, nil
}
