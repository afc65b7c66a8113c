package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sheaf"
	"sheaf/cmd/sheaf/internal/config"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/wording"
	"sheaf/text/chunk"
)

func (a *app) chunksCommand() *cobra.Command {
	o := chunksRun{app: a, seen: map[string]bool{},
		found: verifiedJSON{Schema: "sheaf.chunks-verify/1", Broken: []string{}, Skipped: []collection.Skip{}}}
	cmd := &cobra.Command{
		Use:   "chunks PATH...",
		Short: "Show how files are cut, without an index",
		Long: `Cuts files into chunks and prints the chunks. In a folder, it cuts the documents that
an index of the folder has. - is the standard input, read as Markdown. With --json,
each chunk is one line of JSON. The error stream names the skipped files.

Paths in identifiers are relative to --root. The default is the folder, if it is the
only path; the folder of the file, if one file outside the current folder is the only
path; else the current folder. The tree has the name of that folder, or of --tree.`,
		Example: `  sheaf chunks notes/git.md
  sheaf chunks --chunker window --json notes > chunks.jsonl
  sheaf chunks --verify notes`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.tree, "tree", "", "name of the tree in identifiers")
	f.StringVar(&o.root, "root", "", "folder that paths in identifiers are relative to")
	f.BoolVar(&o.verify, "verify", false, "check what must hold for every file instead of printing chunks")
	addChunkerFlags(f)
	addWalkFlags(f)
	f.BoolVar(&a.json, "json", false, "print one JSON object a line, with --verify one in all (see doc/json.md)")
	markFolder(f, "root")
	return cmd
}

func addChunkerFlags(f *pflag.FlagSet) {
	for _, k := range config.Keys() {
		if k.Name != "chunker" && !strings.HasPrefix(k.Name, "chunk.") {
			continue
		}
		switch k.Kind {
		case config.KindNumber:
			standard, _ := strconv.Atoi(k.Default)
			f.Int(k.Flag, standard, k.Help)
		case config.KindBool:
			f.Bool(k.Flag, false, k.Help)
		default:
			f.String(k.Flag, "", k.Help)
		}
	}
}

// chunkJSON is a chunk, on one line of the answer of `sheaf chunks`.
type chunkJSON struct {
	ID           sheaf.ID   `json:"id"`                // the ID of the chunk
	Doc          sheaf.ID   `json:"doc"`               // the ID of the document
	Parent       *sheaf.ID  `json:"parent"`            // the chunk above; null for the document
	Depth        int        `json:"depth"`             // 0 for the document, the level for a heading
	Position     int        `json:"position"`          // the position among the chunks of the document, from 0
	Title        string     `json:"title"`             // the title of the chunk
	Slug         *string    `json:"slug"`              // the end of the ID; null for the document
	Breadcrumb   string     `json:"breadcrumb"`        // the titles from the document down, joined by ›
	Heading      *span      `json:"heading"`           // the range of the heading line
	Span         span       `json:"span"`              // the range of the chunk with its parts below
	Body         span       `json:"body"`              // the range of its own text
	SiblingCount int        `json:"sibling_count"`     // how many chunks have the same parent
	Tags         []string   `json:"tags"`              // the tags of the chunk and its document
	Links        []linkJSON `json:"links"`             // the links in the text
	Members      []sheaf.ID `json:"members,omitempty"` // the chunks that a large window joins
}

// linkJSON is a link in a text.
type linkJSON struct {
	Kind     string    `json:"kind"`     // the syntax: markdown, wiki or embed
	Target   string    `json:"target"`   // the file or address, as written
	Fragment string    `json:"fragment"` // the heading or block, as written
	Text     string    `json:"text"`     // what a reader sees
	Span     span      `json:"span"`     // the range of the link in the file
	To       *sheaf.ID `json:"to"`       // the chunk or document that the link leads to; null when it is unknown
}

// chunkOf converts a chunk for output. It asks view for the targets of links.
func chunkOf(c *sheaf.Chunk, view *catalog.View) chunkJSON {
	out := chunkJSON{
		ID: c.ID, Doc: c.Doc, Depth: c.Depth, Position: c.Position, Title: c.Title, Breadcrumb: c.Breadcrumb(),
		Span: span(c.Span), Body: span(c.Body), SiblingCount: c.SiblingCount,
		Tags: orEmpty(c.Tags), Links: make([]linkJSON, len(c.Links)), Members: c.Members,
	}
	if c.Parent != "" {
		out.Parent = &c.Parent
	}
	if c.Slug != "" {
		out.Slug = &c.Slug
	}
	if c.HasHeading() {
		heading := span(c.Heading)
		out.Heading = &heading
	}
	for i, l := range c.Links {
		out.Links[i] = linkJSON{l.Kind.String(), l.Target, l.Fragment, l.Text, span(l.Span), nil}
		if to, ok := view.Resolve(c.Doc, l); ok {
			out.Links[i].To = &to
		}
	}
	return out
}

type chunksRun struct {
	*app
	tree, root string
	verify     bool
	options    chunk.Options
	seen       map[string]bool // paths of files that were read: arguments may name a file twice

	found  verifiedJSON // what the run found so far
	unread int
	// records are the documents so far. The run prints them at the end, because links may point to later documents.
	records []catalog.Record
}

func (r *chunksRun) run(cmd *cobra.Command, args []string) (err error) {
	if r.root, err = chunksRoot(args, r.root); err != nil {
		return err
	}
	if _, err = r.settings(cmd, r.root); err != nil {
		return err
	}
	r.tree = cmp.Or(r.tree, catalog.TreeName(r.root))
	if strings.Contains(r.tree, ":") {
		return sheaf.Invalidf("tree %q: must not hold a colon", r.tree)
	}
	if r.options, err = r.newChunker(); err == nil {
		_, err = chunk.New(r.options)
	}
	for _, arg := range args {
		if err == nil {
			err = r.path(cmd.Context(), arg)
		}
	}
	if err == nil && r.json && !r.verify {
		err = r.printRecords(cmd.Context())
	}
	if err != nil {
		return err
	}
	return r.end()
}

// chunksRoot returns the absolute root folder; paths in identifiers are relative to it. The root is the value of the
// flag root. Without this flag, a single argument may decide. If it is a folder, this folder is the root. If it is a
// file outside the current folder, the root is the file's folder. In all other cases, the root is the current folder.
func chunksRoot(args []string, root string) (string, error) {
	if root != "" || len(args) != 1 {
		return collection.RealFolder(root)
	}
	here, err := collection.RealFolder("")
	st, missing := os.Stat(args[0])
	switch {
	case err != nil || missing != nil:
		return here, err
	case st.IsDir():
		return collection.RealFolder(args[0])
	}
	above, err := collection.RealFolder(filepath.Dir(args[0]))
	if _, ok := location.Under(here, above); ok && err == nil {
		return here, nil
	}
	return above, err
}

// path cuts the files that the argument arg names: a file of any type, or standard input for "-". If arg is a folder,
// path cuts the files that an index of this folder would have.
func (r *chunksRun) path(ctx context.Context, arg string) error {
	if arg == "-" {
		content, err := io.ReadAll(io.LimitReader(r.stdin, r.config.MaxFileSize))
		if err != nil {
			return fmt.Errorf("read the standard input: %w", err)
		}
		text, ok := ingest.Text(content)
		if !ok {
			return sheaf.Invalidf("the standard input is %s", ingest.ReasonBinary)
		}
		_, err = r.document("stdin.md", text) // a text without words has no chunks
		return err
	}
	info, err := os.Stat(arg)
	if err != nil {
		return collection.FileFault("file or folder", err)
	}
	real, err := collection.RealPath(arg)
	if err != nil {
		return collection.FileFault("file or folder", err)
	}
	if _, ok := location.Under(r.root, real); !ok {
		return sheaf.Invalidf("%s is not below %s: name a folder above both with --root", arg, r.root)
	}
	if !info.IsDir() {
		left := &catalog.Skip{Reason: ingest.ReasonTooLarge,
			Detail: fmt.Sprintf("%d bytes, the limit is %d", info.Size(), r.config.MaxFileSize)}
		if info.Size() <= r.config.MaxFileSize {
			left, err = r.file(real)
		}
		r.recordSkip(real, left, true)
		return err
	}
	files, skipped, err := ingest.Files(ctx, real, r.config.Walk.Options())
	if err != nil {
		return err
	}
	for _, k := range skipped {
		if path := filepath.Join(real, filepath.FromSlash(k.Path)); !r.seen[path] {
			r.seen[path] = true
			r.recordSkip(path, &k, false)
		}
	}
	for _, f := range files {
		path := filepath.Join(real, filepath.FromSlash(f.Path))
		left, err := r.file(path)
		if err = cmp.Or(ctx.Err(), err); err != nil {
			return err
		}
		r.recordSkip(path, left, false)
	}
	return nil
}

// recordSkip records that the file at path was skipped for the reason k. It does nothing if k is nil. The command fails
// at its end if a file is unreadable or kept changing. If named is true, an argument names the file. The command then
// also fails for a binary or too large file.
func (r *chunksRun) recordSkip(path string, k *catalog.Skip, named bool) {
	if k == nil {
		return
	}
	rel, _ := location.Under(r.root, path)
	r.found.Skipped = append(r.found.Skipped, collection.Skip{Path: cmp.Or(sheaf.PathText(rel), "."), Reason: k.Reason,
		Detail: k.Detail})
	if k.Reason == ingest.ReasonUnreadable || k.Reason == ingest.ReasonChanging ||
		named && (k.Reason == ingest.ReasonBinary || k.Reason == ingest.ReasonTooLarge) {
		r.unread++
	}
}

// file cuts a file into chunks, unless the run has read it before. If it skips the file, left is the reason.
func (r *chunksRun) file(path string) (left *catalog.Skip, err error) {
	if r.seen[path] {
		return nil, nil
	}
	r.seen[path] = true
	content, left := ingest.Read(path)
	if left != nil {
		return left, nil
	}
	rel, _ := location.Under(r.root, path)
	return r.document(rel, content)
}

// document cuts a text into chunks. If it skips the text, left is the reason.
func (r *chunksRun) document(path string, content []byte) (left *catalog.Skip, err error) {
	chunker, err := chunk.For(path, r.options)
	if err != nil {
		return nil, err
	}
	doc := chunker.Chunk(r.tree, path, content)
	if len(doc.Chunks) == 0 {
		return &catalog.Skip{Reason: ingest.ReasonEmpty}, nil
	}
	r.found.Files++
	r.found.Chunks += len(doc.Chunks)
	for _, w := range doc.Warnings {
		r.notice("%s:%d: %s", path, w.Line, w.Message)
	}
	switch {
	case r.verify:
		if err := chunk.Verify(&doc, content); err != nil {
			r.found.Broken = append(r.found.Broken, err.Error())
		}
	case r.json:
		r.records = append(r.records, catalog.Record{Document: doc})
	default:
		for _, c := range doc.Chunks { // indented by depth
			fmt.Fprintf(r.stdout, "%s%s  %s\n", strings.Repeat("  ", c.Depth), wording.Clean(string(c.ID)),
				r.out.Paint(terminal.Dim, fmt.Sprintf("%d-%d, body %s", c.Span.Start, c.Span.End,
					wording.Bytes(int64(c.Body.Len())))))
		}
	}
	return nil, nil
}

// printRecords prints the chunks of all documents, with the targets of links between them.
func (r *chunksRun) printRecords(ctx context.Context) error {
	c, err := catalog.Open(vfs.NewMem(), "/chunks", catalog.Options{})
	if err != nil {
		return err
	}
	defer c.Close()
	settings := &catalog.Settings{Trees: []catalog.Tree{{Name: r.tree, Root: r.root}}}
	if err := c.Update(ctx, catalog.Update{Settings: settings, Put: r.records}); err != nil {
		return err
	}
	view := c.View()
	defer view.Close()
	for _, rec := range r.records {
		for i := range rec.Document.Chunks {
			if err := r.printLine(chunkOf(&rec.Document.Chunks[i], view)); err != nil {
				return err
			}
		}
	}
	return view.Err()
}

// verifiedJSON is the answer of `sheaf chunks --verify`.
type verifiedJSON struct {
	Broken  []string          `json:"broken"` // one fault for each file with wrong chunks
	Chunks  int               `json:"chunks"` // how many chunks were checked
	Files   int               `json:"files"`  // how many files were checked
	Schema  string            `json:"schema"`
	Skipped []collection.Skip `json:"skipped"` // the files that were not cut
}

// end prints the findings of --verify, and returns an error if --verify found wrong chunks. Otherwise it prints the
// skipped files, and returns an error if the run could not read some files.
func (r *chunksRun) end() error {
	if r.verify {
		err := r.print(r.found, func() {
			for _, fault := range r.found.Broken {
				fmt.Fprintln(r.stdout, wording.Clean(fault))
			}
			fmt.Fprintf(r.stdout, "%s, %s checked: %s broken\n", wording.Plural(r.found.Files, "file", "files"),
				wording.Plural(r.found.Chunks, "chunk", "chunks"), wording.Count(len(r.found.Broken)))
		})
		if n := len(r.found.Broken); n > 0 && err == nil {
			err = fmt.Errorf("%s cut wrongly: report this as a bug of sheaf",
				wording.Plural(n, "file is", "files are"))
		}
		if err != nil {
			return err
		}
	}
	for i, k := range r.found.Skipped {
		if i == statusLines {
			r.notice("left out are %s", skippedSummary(r.found.Skipped))
			break
		}
		r.notice("left out: %s", skipText(k))
	}
	if r.unread > 0 {
		return fmt.Errorf("some files could not be read: %d", r.unread)
	}
	return nil
}
