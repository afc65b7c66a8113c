package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/collection/address"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/internal/wording"
)

func (a *app) getCommand() *cobra.Command {
	var body, refresh bool
	var neighbors int
	cmd := &cobra.Command{
		Use:     "get ADDRESS...",
		GroupID: groupFind,
		Short:   "Print a passage or a document",
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
		Args: arguments(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd, openOptions{Refresh: refresh, Make: true})
			if err != nil {
				return err
			}
			defer s.Close()
			return s.get(args, getOptions{body: body, neighbors: neighbors})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&body, "body", false, "without what lies under sub-headings")
	f.IntVarP(&neighbors, "neighbors", "C", 0, "also so many chunks before and after")
	f.BoolVar(&refresh, "refresh", true, "look for changed files first")
	a.addJSON(cmd)
	return cmd
}

type getOptions struct {
	body      bool
	neighbors int
}

type getJSON struct {
	Schema   string     `json:"schema"`
	Warnings []string   `json:"warnings"`
	Results  []partJSON `json:"results"`
}

// partJSON is a chunk with its text.
type partJSON struct {
	ID         sheaf.ID   `json:"id"`
	Doc        sheaf.ID   `json:"doc"`
	Parent     *sheaf.ID  `json:"parent"`
	Path       string     `json:"path"`
	Title      string     `json:"title"`
	Breadcrumb string     `json:"breadcrumb"`
	Position   int        `json:"position"`
	Span       span       `json:"span"`
	Line       int        `json:"line"`
	Lines      int        `json:"lines"`
	Text       string     `json:"text"`
	Tags       []string   `json:"tags"`
	Links      []linkJSON `json:"links"`
	Before     []partJSON `json:"before,omitempty"`
	After      []partJSON `json:"after,omitempty"`

	file string
}

func (s *session) get(addresses []string, o getOptions) error {
	if o.neighbors < 0 || o.neighbors > 1000 {
		return sheaf.Invalidf("neighbors is %d: must be within 0..1000", o.neighbors)
	}
	out := getJSON{Schema: "sheaf.get/1", Results: []partJSON{}}
	for _, text := range addresses {
		t, err := s.resolve(text)
		if err != nil {
			return err
		}
		part, err := s.part(t, o)
		if err != nil {
			return err
		}
		out.Results = append(out.Results, part)
	}
	if err := s.View.Err(); err != nil {
		return s.Advise(fmt.Errorf("read index: %w", err))
	}
	out.Warnings = s.allWarnings()
	if s.json {
		return s.printJSON(out)
	}
	for i := range out.Results {
		if i > 0 {
			fmt.Fprintln(s.stdout)
		}
		s.printPart(&out.Results[i])
	}
	return nil
}

// part reads the text of a target, and of its neighbors.
func (s *session) part(t address.Target, o getOptions) (partJSON, error) {
	content, err := ingest.Shown(s.View, t.Doc.ID)
	if err != nil {
		return partJSON{}, fmt.Errorf("read %s: %w", t.Doc.Path, err)
	}
	where := collection.WholeSpan(&t.Chunk)
	switch {
	case t.Count > 0:
		where = address.Lines(content, t.Line, t.Count)
	case o.body || t.Line > 0 && collection.Leads(&t.Chunk):
		where.End = max(t.Chunk.Body.End, where.Start)
	}
	part := s.partOf(&t.Doc, &t.Chunk, content, where)
	if o.neighbors > 0 {
		position := t.Chunk.Position
		for i := max(0, position-o.neighbors); i < min(len(t.Doc.Chunks), position+o.neighbors+1); i++ {
			c := &t.Doc.Chunks[i]
			near := s.partOf(&t.Doc, c, content, sheaf.Span{Start: collection.WholeSpan(c).Start,
				End: max(c.Body.End, collection.WholeSpan(c).Start)})
			switch {
			case i < position:
				part.Before = append(part.Before, near)
			case i > position && (o.body || t.Count > 0 || c.Span.Start >= where.End):
				part.After = append(part.After, near)
			}
		}
	}
	return part, nil
}

func (s *session) partOf(doc *sheaf.Document, c *sheaf.Chunk, content []byte, where sheaf.Span) partJSON {
	where.End = min(where.End, len(content))
	where.Start = min(where.Start, where.End)
	text := content[where.Start:where.End]
	shape, links, seen := chunkOf(c, s.View), []linkJSON{}, map[sheaf.Span]bool{}
	for i := range doc.Chunks {
		d := &doc.Chunks[i]
		if d.ID != c.ID && !where.Contains(d.Body) {
			continue
		}
		for _, l := range d.Links {
			if where.Contains(l.Span) && !seen[l.Span] { // windows overlap
				seen[l.Span] = true
				links = append(links, linkOf(doc.ID, l, s.View))
			}
		}
	}
	return partJSON{
		ID: c.ID, Doc: c.Doc, Parent: shape.Parent, Path: s.relative(doc.Tree, doc.Path), Title: c.Title,
		Breadcrumb: c.Breadcrumb, Position: c.Position,
		Span: spanOf(where), Line: catalog.Line(content, where.Start), Lines: address.LineCount(text), Text: string(text),
		Tags: shape.Tags, Links: links, file: s.file(doc.Tree, doc.Path),
	}
}

// printPart writes a part for people. Its text is written as it stands in the
// file, except on a terminal, which a document must not steer.
func (s *session) printPart(p *partJSON) {
	for i := range p.Before {
		s.printText(&p.Before[i], terminal.Dim)
	}
	s.printText(p, terminal.Title)
	for i := range p.After {
		s.printText(&p.After[i], terminal.Dim)
	}
}

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
