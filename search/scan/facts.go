package scan

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/fold"
)

// facts tells stages about candidates. Links connect candidates only. Folder sizes count all files.
type facts struct {
	scanner   *Scanner
	files     []ingest.File
	docs      []*document
	documents map[sheaf.ID]*document
	outlines  sync.Map // by document
	folders   func() map[string]int
	links     func() (*catalog.View, error)
}

func newFacts(s *Scanner, files []ingest.File, docs []*document) *facts {
	f := &facts{scanner: s, files: files, docs: docs, documents: make(map[sheaf.ID]*document, len(docs))}
	for _, d := range docs {
		f.documents[d.doc.ID] = d
	}
	f.folders = sync.OnceValue(f.countFolders)
	f.links = sync.OnceValues(f.openLinks)
	return f
}

// place returns the document of a chunk and the chunk's number.
func (f *facts) place(id sheaf.ID) (*document, int) {
	at := strings.LastIndexByte(string(id), '#')
	if at < 0 {
		return nil, 0
	}
	d := f.documents[id[:at]]
	n, err := strconv.Atoi(string(id[at+1:]))
	if d == nil || err != nil || n < 0 || n >= len(d.doc.Chunks) || d.doc.Chunks[n].ID != id {
		return nil, 0
	}
	return d, n
}

// Chunk implements rank.Facts. A document's ID returns a chunk that covers all of it.
func (f *facts) Chunk(id sheaf.ID) (sheaf.Chunk, bool) {
	d := f.documents[id]
	if d == nil {
		if d, n := f.place(id); d != nil {
			return d.doc.Chunks[n], true
		}
		return sheaf.Chunk{}, false
	}
	all := sheaf.Span{End: int(d.size)}
	return sheaf.Chunk{ID: id, Doc: id, Title: d.doc.Title, Hierarchy: []string{d.doc.Title}, Breadcrumb: "> " +
		d.doc.Title,
		Span: all, Body: all, SiblingCount: 1, Tags: d.doc.Tags}, true
}

// Document implements rank.Facts.
func (f *facts) Document(id sheaf.ID) (sheaf.Document, bool) {
	if d := f.documents[id]; d != nil {
		return d.doc, true
	}
	return sheaf.Document{}, false
}

// Node implements rank.Facts.
func (f *facts) Node(id sheaf.ID) *sheaf.Node {
	if c, ok := f.Chunk(id); ok {
		return sheaf.NodeOf(&c)
	}
	return nil
}

// Outline implements rank.Facts.
func (f *facts) Outline(id sheaf.ID) *sheaf.Outline {
	if o, ok := f.outlines.Load(id); ok {
		return o.(*sheaf.Outline)
	}
	d := f.documents[id]
	if d == nil {
		return nil
	}
	o, _ := f.outlines.LoadOrStore(id, sheaf.OutlineOf(&d.doc, d.date))
	return o.(*sheaf.Outline)
}

// FolderSize implements rank.Facts.
func (f *facts) FolderSize(tree, folder string) int {
	if tree != f.scanner.o.Tree {
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

// openLinks returns a catalog of the names and links of candidates. It adds other files with the same name, so that
// a link to such a file does not lead to a candidate.
func (f *facts) openLinks() (*catalog.View, error) {
	docs, called := make([]*document, len(f.docs)), map[string]bool{}
	for i, d := range f.docs {
		all := sheaf.Chunk{ID: d.doc.ID, Doc: d.doc.ID, Title: d.doc.Title, SiblingCount: 1}
		for j := range d.doc.Chunks {
			all.Links = append(all.Links, d.doc.Chunks[j].Links...)
		}
		for _, name := range append([]string{d.path}, d.doc.Aliases...) {
			name = path.Base(fold.Text(name))
			called[name], called[withoutExt(name)] = true, true
		}
		docs[i] = &document{path: d.path, modTime: d.modTime, size: d.size, hash: d.hash,
			doc: sheaf.Document{ID: d.doc.ID, Tree: d.doc.Tree, Path: d.doc.Path, Title: d.doc.Title, Aliases: d.doc.Aliases,
				Chunks: []sheaf.Chunk{all}}}
	}
	for i := range f.files {
		file, tree := &f.files[i], f.scanner.o.Tree
		id := sheaf.DocumentID(tree, file.Path)
		if f.documents[id] == nil && called[withoutExt(path.Base(fold.Text(file.Path)))] {
			docs = append(docs, &document{path: file.Path, modTime: file.ModTime, size: file.Bytes,
				doc: sheaf.Document{ID: id, Tree: tree, Path: file.Path,
					Chunks: []sheaf.Chunk{{ID: id, Doc: id, SiblingCount: 1}}}})
		}
	}
	return f.scanner.openView(docs, nil)
}

func withoutExt(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }

// view returns a catalog of the named candidates, or of all when no ID is given. It skips other documents.
func (f *facts) view(ids ...sheaf.ID) (*catalog.View, error) {
	docs := f.docs
	if len(ids) > 0 {
		docs = nil
		for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
			if d := f.documents[id]; d != nil {
				docs = append(docs, d)
			}
		}
	}
	return f.scanner.openView(docs, nil)
}

// text returns the indexed text of a chunk.
func (f *facts) text(id sheaf.ID) (string, error) {
	d, n := f.place(id)
	if d == nil {
		return "", fmt.Errorf("chunk %s: %w", id, sheaf.ErrNotFound)
	}
	text, err := f.scanner.text(d)
	if err != nil {
		return "", err
	}
	return d.body(&d.doc.Chunks[n], text), nil
}

// text returns the text of a document, from the cache or from its file.
func (s *Scanner) text(d *document) (string, error) {
	if held, ok := s.cache.Get(d.key); ok && held.hash == d.hash {
		return held.text, nil
	}
	raw, err := s.readFile(d.path, d.size, nil)
	if err != nil {
		return "", fmt.Errorf("%w: %w", catalog.ErrStale, err)
	}
	text, ok := s.textOf(d.path, raw)
	if !ok || catalog.HashOf(raw) != d.hash {
		return "", fmt.Errorf("%s: %w", d.path, catalog.ErrStale)
	}
	return string(text), nil
}

// Empty returns a catalog without documents, in memory, of a folder whose documents are in the named tree. The caller
// closes it.
func Empty(tree, root string) (*catalog.Catalog, error) {
	return (&Scanner{o: Options{Tree: tree, Root: root}}).openCatalog(nil, nil)
}

// openView returns a view of the catalog of documents. The view stays valid after the catalog closes.
func (s *Scanner) openView(docs []*document, skipped []catalog.Skip) (*catalog.View, error) {
	c, err := s.openCatalog(docs, skipped)
	if err != nil {
		return nil, err
	}
	view := c.View()
	return view, c.Close()
}

// openCatalog returns a catalog of documents, in memory. It reads texts from the files.
func (s *Scanner) openCatalog(docs []*document, skipped []catalog.Skip) (*catalog.Catalog, error) {
	c, err := catalog.Open(vfs.NewMem(), "/scan", catalog.Options{})
	if err != nil {
		return nil, fmt.Errorf("scan: %w", err)
	}
	update := catalog.Update{Settings: &catalog.Settings{Trees: []catalog.Tree{{Name: s.o.Tree, Root: s.o.Root}},
		Extra: ingest.CommentsExtra(s.o.HideComments)}, Skipped: &skipped}
	for _, d := range docs {
		record := catalog.Record{Document: d.doc, Date: d.date,
			File: catalog.FileState{Size: d.size, ModTime: d.modTime.UnixNano(), Hash: d.hash}}
		if d.decoded { // the catalog does not read such files
			text, err := s.text(d)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("scan: %w", err), c.Close())
			}
			record.Text, record.HasText = []byte(text), true
		}
		update.Put = append(update.Put, record)
	}
	if err := c.Update(context.Background(), update); err != nil {
		return nil, errors.Join(fmt.Errorf("scan: %w", err), c.Close())
	}
	return c, nil
}
