package ingest

import (
	"context"
	"path"
	"strings"
	"time"

	"sheaf"
	"sheaf/catalog"
	"sheaf/chunk"
)

// Given is a document that comes as a text instead of a file: from a data set or
// through an interface.
type Given struct {
	// Tree and Path name it; the path's ending says how the text is cut, as
	// a file's name does.
	Tree, Path string
	// Title is the title of a document whose text says none. Without it the
	// title is the last part of the path, as for a file, or, with Untitled,
	// nothing: a path that is only a number is no title.
	Title    string
	Untitled bool
	Text     []byte
	// Modified dates a document that says no date of its own; the zero time
	// leaves it without one.
	Modified time.Time
}

// Put indexes docs, each instead of the document of the same tree and path, and
// leaves all others as they are. The catalog keeps the texts. Trees and Walk of
// the options are not used, except that Trees is recorded; CommitBytes bounds
// what an interruption can lose. Errors are those of [Run].
func Put(ctx context.Context, o Options, docs []Given) (*Report, error) {
	o.defaults()
	began := time.Now()
	if _, err := chunk.New(o.Chunk); err != nil {
		return nil, err
	}
	release, err := o.Catalog.Hold()
	if err != nil {
		return nil, err
	}
	report, err := o.put(ctx, docs, began)
	if releaseErr := release(); err == nil {
		err = releaseErr
	}
	report.Took = time.Since(began)
	return report, err
}

func (o *Options) put(ctx context.Context, docs []Given, began time.Time) (*Report, error) {
	report := &Report{}
	view := o.Catalog.View()
	defer view.Close()
	p := &plan{pending: view.Pending()}
	for i := range docs {
		g := &docs[i]
		j := job{doc: sheaf.DocumentID(g.Tree, g.Path), tree: g.Tree, path: g.Path, size: int64(len(g.Text)), given: g}
		var err error
		if j.old, j.known, err = view.File(j.doc); err != nil {
			return report, err
		}
		p.work = append(p.work, j)
	}
	var err error
	if report.Skipped, err = view.Skipped(); err != nil {
		return report, err
	}
	p.skipped = report.Skipped
	p.planSettings(view, o)
	return report, o.carryOut(ctx, p, report, began)
}

// content is the text of g as though it had been read from a file.
func (g *Given) content() content {
	c := content{data: g.Text, state: catalog.FileState{Size: int64(len(g.Text)), Hash: catalog.HashOf(g.Text)}}
	if !g.Modified.IsZero() {
		c.modified = g.Modified.UnixNano()
		c.state.ModTime = c.modified
	}
	return c
}

// retitle puts the title that came with a text in place of the file's name.
func (g *Given) retitle(doc *sheaf.Document) {
	name := path.Base(g.Path)
	if g.Title == "" && !g.Untitled || doc.Title != name && doc.Title != strings.TrimSuffix(name, path.Ext(name)) {
		return
	}
	old := doc.Title
	doc.Title = g.Title
	for i := range doc.Chunks {
		c := &doc.Chunks[i]
		if c.Title == old && !c.HasHeading {
			c.Title = g.Title
		}
		if len(c.Hierarchy) == 0 || c.Hierarchy[0] != old {
			continue
		}
		above := c.Hierarchy[1:]
		c.Hierarchy = nil
		if g.Title != "" {
			c.Hierarchy = append(c.Hierarchy, g.Title)
		}
		c.Hierarchy = append(c.Hierarchy, above...)
		c.Breadcrumb = "> " + strings.Join(c.Hierarchy, " › ")
	}
}

// content is what the job is about: a file that is read, or a text that was given.
func (j *job) content() (content, error) {
	if j.given != nil {
		return j.given.content(), nil
	}
	return read(j.full)
}

// PutStored indexes the documents of trees without a folder again, from the
// texts that the catalog keeps: into a backend that was made anew. Errors are
// those of [Run].
func PutStored(ctx context.Context, o Options) (*Report, error) {
	o.defaults()
	o.Rebuild = true // the catalog has them already
	view := o.Catalog.View()
	defer view.Close()
	total := &Report{}
	var docs []Given
	size := int64(0)
	flush := func() error {
		if len(docs) == 0 {
			return nil
		}
		report, err := Put(ctx, o, docs)
		if err != nil {
			return err
		}
		total.Changed += report.Changed
		total.Chunks += report.Chunks
		total.Bytes += report.Bytes
		total.Pending, total.EmbedError = report.Pending, report.EmbedError
		docs, size = nil, 0
		return nil
	}
	settings := view.Settings()
	for id, state := range view.Files() {
		if settings.Root(id.Tree()) != "" {
			continue
		}
		g, err := stored(view, id, state)
		if err != nil {
			return total, err
		}
		docs = append(docs, g)
		if size += state.Size; size >= o.CommitBytes {
			if err := flush(); err != nil {
				return total, err
			}
		}
	}
	if err := view.Err(); err != nil {
		return total, err
	}
	return total, flush()
}

// stored is a document as it was given.
func stored(view *catalog.View, id sheaf.ID, state catalog.FileState) (Given, error) {
	doc, ok := view.Document(id)
	if !ok {
		return Given{}, view.Err()
	}
	text, err := view.Text(id)
	if err != nil {
		return Given{}, err
	}
	g := Given{Tree: doc.Tree, Path: doc.Path, Title: doc.Title, Untitled: doc.Title == "", Text: text}
	if state.ModTime != 0 {
		g.Modified = time.Unix(0, state.ModTime)
	}
	return g, nil
}
