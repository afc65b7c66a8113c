package scan

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sync"

	"sheaf"
	"sheaf/catalog"
	"sheaf/ingest"
	"sheaf/vfs"
)

// facts are what stages ask about candidates. Links are those between
// candidates: no other file was read for them. Folders count every file of the
// folder.
type facts struct {
	tree, root string
	files      []ingest.File
	docs       []*document
	documents  map[sheaf.ID]*document
	chunks     map[sheaf.ID]place
	folders    func() map[string]int
	links      func() (*catalog.View, error)
}

// place is a chunk by its document and number.
type place struct {
	doc *document
	n   int
}

func newFacts(tree, root string, files []ingest.File, docs []*document) *facts {
	f := &facts{tree: tree, root: root, files: files, docs: docs,
		documents: make(map[sheaf.ID]*document, len(docs)), chunks: map[sheaf.ID]place{}}
	for _, d := range docs {
		f.documents[d.doc.ID] = d
		for i := range d.doc.Chunks {
			f.chunks[d.doc.Chunks[i].ID] = place{d, i}
		}
	}
	f.folders = sync.OnceValue(f.countFolders)
	f.links = sync.OnceValues(func() (*catalog.View, error) { return openView(tree, root, docs, nil) })
	return f
}

// Chunk implements rank.Facts. A document's ID gives a chunk for all of it.
func (f *facts) Chunk(id sheaf.ID) (sheaf.Chunk, bool) {
	if p, ok := f.chunks[id]; ok {
		return p.doc.doc.Chunks[p.n], true
	}
	d := f.documents[id]
	if d == nil {
		return sheaf.Chunk{}, false
	}
	all := sheaf.Span{End: int(d.size)}
	return sheaf.Chunk{ID: id, Doc: id, Title: d.doc.Title, Hierarchy: []string{d.doc.Title}, Breadcrumb: "> " + d.doc.Title,
		Span: all, Body: all, SiblingCount: 1, Tags: d.doc.Tags}, true
}

// Document implements rank.Facts.
func (f *facts) Document(id sheaf.ID) (sheaf.Document, bool) {
	if d := f.documents[id]; d != nil {
		return d.doc, true
	}
	return sheaf.Document{}, false
}

// Date implements rank.Facts.
func (f *facts) Date(doc sheaf.ID) (sheaf.Dated, bool) {
	d := f.documents[doc]
	if d == nil || d.date.Time.IsZero() {
		return sheaf.Dated{}, false
	}
	return d.date, true
}

// FolderSize implements rank.Facts.
func (f *facts) FolderSize(tree, folder string) int {
	if tree != f.tree {
		return 0
	}
	return f.folders()[folder]
}

func (f *facts) countFolders() map[string]int {
	counts := map[string]int{}
	for i := range f.files {
		dir := path.Dir(f.files[i].Path)
		if dir == "." {
			dir = ""
		}
		counts[dir]++
	}
	return counts
}

// Links implements rank.Facts.
func (f *facts) Links(doc sheaf.ID) []sheaf.ID {
	if view, err := f.links(); err == nil {
		return view.Links(doc)
	}
	return nil
}

// Backlinks implements rank.Facts.
func (f *facts) Backlinks(doc sheaf.ID) []sheaf.ID {
	if view, err := f.links(); err == nil {
		return view.Backlinks(doc)
	}
	return nil
}

// view is the candidates as a catalog.
func (f *facts) view() (*catalog.View, error) { return f.links() }

// text is the indexed text of a chunk.
func (f *facts) text(id sheaf.ID) (string, error) {
	p, ok := f.chunks[id]
	if !ok {
		return "", fmt.Errorf("chunk %s: %w", id, sheaf.ErrNotFound)
	}
	for _, field := range p.doc.entries[p.n].Fields {
		if field.Name == sheaf.FieldBody {
			return field.Text, nil
		}
	}
	return "", nil
}

// Empty is a catalog without documents, of a folder whose documents are in the
// named tree. The caller closes it.
func Empty(tree, root string) (*catalog.View, error) { return openView(tree, root, nil, nil) }

// openView makes a catalog of documents, in memory. Its texts are read from the
// files. The view outlives the catalog, which has nothing to release.
func openView(tree, root string, docs []*document, skipped []catalog.Skip) (*catalog.View, error) {
	c, err := catalog.Open(vfs.NewMem(), "/scan", catalog.Options{})
	if err != nil {
		return nil, fmt.Errorf("scan: %w", err)
	}
	update := catalog.Update{Settings: &catalog.Settings{Trees: []catalog.Tree{{Name: tree, Root: root}}}, Skipped: &skipped}
	for _, d := range docs {
		update.Put = append(update.Put, catalog.Record{Document: d.doc, Date: d.date, Text: d.decoded, HasText: d.decoded != nil,
			File: catalog.FileState{Size: d.size, ModTime: d.modTime.UnixNano(), Hash: d.hash}})
	}
	if err := c.Update(context.Background(), update); err != nil {
		return nil, errors.Join(fmt.Errorf("scan: %w", err), c.Close())
	}
	view := c.View()
	return view, c.Close()
}
