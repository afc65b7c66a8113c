package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/internal/wording"
)

func (a *app) getCommand() *cobra.Command {
	var o collection.GetOptions
	var open openOptions
	cmd := &cobra.Command{
		Use:   "get ADDRESS...",
		Short: "Print a passage or a document",
		Long: `Prints what an address names:
  an identifier         as search --json gives it
  guides/git.md         the document
  guides/git.md#undo    a heading by its slug or title, with all that lies under it
  guides/git.md#^k3f    the block that is marked ^k3f
  guides/git.md:42      the section that line 42 is in
  guides/git.md:42:10   ten lines from line 42 on
  [[git#undo]]          what a link between notes leads to; names and aliases alone, too`,
		Example: `  sheaf get guides/git.md#undo
  sheaf get --neighbors 1 guides/git.md:42`,
		RunE: func(cmd *cobra.Command, args []string) error {
			open.Make = open.Refresh
			return a.withIndex(cmd, open, func(s *session) error { return s.get(cmd.Context(), args, o) })
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.Body, "body", false, "without what lies under sub-headings")
	f.IntVarP(&o.Neighbors, "neighbors", "C", 0, "also so many chunks before and after")
	f.BoolVar(&open.Refresh, "refresh", true, "look for changed files first")
	return a.withJSON(cmd)
}

// getJSON is the answer of `sheaf get`.
type getJSON struct {
	Schema   string     `json:"schema"`
	Warnings []string   `json:"warnings"` // why the answer may be wrong
	Results  []partJSON `json:"results"`  // one part for each address
}

// partJSON is a chunk with its text.
type partJSON struct {
	ID         sheaf.ID   `json:"id"`               // the ID of the chunk or document
	Doc        sheaf.ID   `json:"doc"`              // the ID of the document
	Parent     *sheaf.ID  `json:"parent"`           // the chunk above; null for a document
	Path       string     `json:"path"`             // the path in the searched folder
	Title      string     `json:"title"`            // the title of the chunk or document
	Breadcrumb string     `json:"breadcrumb"`       // the titles from the document down, joined by ›
	Position   int        `json:"position"`         // the position among the chunks of the document, from 0
	Span       span       `json:"span"`             // the range of the text in the file
	Line       int        `json:"line"`             // the line where the text begins, from 1
	Lines      int        `json:"lines"`            // how many lines the text has
	Text       string     `json:"text"`             // the text as in the file
	Tags       []string   `json:"tags"`             // the tags of the chunk
	Links      []linkJSON `json:"links"`            // the links in the text, in order
	Before     []partJSON `json:"before,omitempty"` // the chunks before it, with --neighbors
	After      []partJSON `json:"after,omitempty"`  // the chunks after it, with --neighbors

	file string
}

func (s *session) get(ctx context.Context, addresses []string, o collection.GetOptions) error {
	if o.Neighbors < 0 || o.Neighbors > 1000 {
		return sheaf.Invalidf("neighbors is %d: must be within 0..1000", o.Neighbors)
	}
	parts, err := read(s, func(r *collection.Reader) ([]partJSON, error) {
		parts := []partJSON{}
		for _, text := range addresses {
			t, err := s.resolve(ctx, text)
			if err != nil {
				return nil, err
			}
			o.Line, o.Lines = t.Line, t.Count
			part, err := r.Get(ctx, t.Chunk.ID, o)
			if err != nil {
				return nil, err
			}
			parts = append(parts, s.partOf(part))
		}
		if err := r.Err(); err != nil {
			return nil, s.Advise(fmt.Errorf("read index: %w", err))
		}
		return parts, nil
	})
	if err != nil {
		return err
	}
	return s.print(getJSON{"sheaf.get/1", s.allWarnings(), parts}, func() {
		for i := range parts {
			if i > 0 {
				fmt.Fprintln(s.stdout)
			}
			for k := range parts[i].Before {
				s.printText(&parts[i].Before[k], terminal.Dim)
			}
			s.printText(&parts[i], terminal.Title)
			for k := range parts[i].After {
				s.printText(&parts[i].After[k], terminal.Dim)
			}
		}
	})
}

func (s *session) partOf(p *collection.Part) partJSON {
	out := partJSON{ID: p.ID, Doc: p.Doc, Parent: p.Parent, Path: s.relative(p.Doc.Tree(), p.Path), Title: p.Title,
		Breadcrumb: p.Breadcrumb, Position: p.Position, Span: span(p.Span), Line: p.Line, Lines: p.Lines,
		Text: p.Text, Tags: p.Tags, Links: []linkJSON{}, file: p.File}
	for i := range p.Links {
		l := &p.Links[i]
		shown := linkJSON{Kind: l.Kind, Target: l.Target, Fragment: l.Fragment, Text: l.Text,
			Span: span(l.Span)}
		if l.To != "" {
			shown.To = &l.To
		}
		out.Links = append(out.Links, shown)
	}
	for i := range p.Before {
		out.Before = append(out.Before, s.partOf(&p.Before[i]))
	}
	for i := range p.After {
		out.After = append(out.After, s.partOf(&p.After[i]))
	}
	return out
}

// printText writes a text. On a terminal it removes control characters, because a document must not control the
// terminal. Elsewhere it writes the text unchanged.
func (s *session) printText(p *partJSON, style terminal.Style) {
	if s.out.Terminal {
		place := p.Path + ":" + strconv.Itoa(p.Line)
		address := terminal.FileAddress(s.config.LinkURL, p.file, p.Line)
		fmt.Fprintf(s.stdout, "%s  %s\n", s.out.Paint(style, wording.Clean(p.Breadcrumb)),
			s.out.Link(address, s.out.Paint(terminal.Path, wording.Clean(place))))
		fmt.Fprintln(s.stdout, wording.CleanLines(p.Text))
		return
	}
	fmt.Fprint(s.stdout, p.Text)
	if n := len(p.Text); n > 0 && p.Text[n-1] != '\n' {
		fmt.Fprintln(s.stdout)
	}
}
