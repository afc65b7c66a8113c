package scan

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/fold"
	"sheaf/text/chunk"
)

// facts tells stages about the candidates of a scan. It knows links between candidates. Folder sizes count all files.
type facts struct {
	*catalog.View // of the candidates
	tree          string
	folders       func() map[string]int
	links         func() (*catalog.View, error)
}

// newFacts returns the facts about the candidates in g. view is the catalog of these candidates.
func newFacts(s *Scanner, files []ingest.File, g *gatherResult, view *catalog.View) *facts {
	return &facts{View: view, tree: s.o.Tree,
		folders: sync.OnceValue(func() map[string]int { return countFolders(files) }),
		links:   sync.OnceValues(func() (*catalog.View, error) { return s.openLinks(files, g) })}
}

func (f *facts) FolderSize(tree, folder string) int {
	if tree != f.tree {
		return 0
	}
	return f.folders()[folder]
}

func countFolders(files []ingest.File) map[string]int {
	counts := map[string]int{}
	for i := range files {
		dir := path.Dir(files[i].Path)
		if dir == "." {
			dir = ""
		}
		counts[dir]++
	}
	return counts
}

func (f *facts) Links(doc sheaf.ID) []sheaf.ID {
	if view, err := f.links(); err == nil {
		return view.Links(doc)
	}
	return nil
}

func (f *facts) Backlinks(doc sheaf.ID) []sheaf.ID {
	if view, err := f.links(); err == nil {
		return view.Backlinks(doc)
	}
	return nil
}

// text returns the indexed text of a chunk.
func (f *facts) text(id sheaf.ID) (string, error) {
	c, ok := f.Chunk(id)
	if !ok {
		return "", fmt.Errorf("chunk %s: %w", id, sheaf.ErrNotFound)
	}
	text, err := ingest.Shown(f.View, c.Doc)
	if err != nil {
		return "", err
	}
	return chunk.IndexedText(f.SharedDocument(c.Doc), &c, string(text)).Text, nil
}

// linking returns a document for a catalog of links: its names and links, as one chunk.
func linking(doc *sheaf.Document) (catalog.Encoded, error) {
	all := sheaf.Chunk{ID: doc.ID, Doc: doc.ID, Title: doc.Title, SiblingCount: 1}
	for i := range doc.Chunks {
		all.Links = append(all.Links, doc.Chunks[i].Links...)
	}
	return catalog.Encode(&catalog.Record{Document: sheaf.Document{ID: doc.ID, Tree: doc.Tree, Path: doc.Path,
		Title: doc.Title, Aliases: doc.Aliases, Chunks: []sheaf.Chunk{all}}})
}

// openLinks returns a catalog of the names and links of candidates. It adds other files with a candidate's name, so
// that links to them do not lead to the candidate.
func (s *Scanner) openLinks(files []ingest.File, g *gatherResult) (*catalog.View, error) {
	var docs []catalog.Encoded
	called := map[string]bool{}
	for i := range g.docs {
		docs = append(docs, g.docs[i].links)
		for _, name := range g.docs[i].names {
			called[name] = true
		}
	}
	for i := range files {
		if name := files[i].Path; !g.paths[name] && called[withoutExt(path.Base(fold.Text(name)))] {
			other, err := linking(&sheaf.Document{ID: sheaf.DocumentID(s.o.Tree, name), Tree: s.o.Tree, Path: name})
			if err != nil {
				return nil, err
			}
			docs = append(docs, other)
		}
	}
	return s.openView(docs, nil)
}

func withoutExt(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }

// Empty returns a catalog in memory without documents. tree is the tree of the folder root. The caller closes the
// catalog.
func Empty(tree, root string) (*catalog.Catalog, error) {
	return (&Scanner{o: Options{Tree: tree, Root: root}}).openCatalog(nil, nil)
}

// openView returns a view of a new catalog of docs. The view stays valid after the catalog closes.
func (s *Scanner) openView(docs []catalog.Encoded, skipped []catalog.Skip) (*catalog.View, error) {
	c, err := s.openCatalog(docs, skipped)
	if err != nil {
		return nil, err
	}
	view := c.View()
	return view, c.Close()
}

// openCatalog returns a new catalog of docs, in memory. It reads texts from the files.
func (s *Scanner) openCatalog(docs []catalog.Encoded, skipped []catalog.Skip) (*catalog.Catalog, error) {
	c, err := catalog.Open(vfs.NewMem(), "/scan", catalog.Options{})
	if err != nil {
		return nil, fmt.Errorf("scan: %w", err)
	}
	settings := catalog.Settings{Trees: []catalog.Tree{{Name: s.o.Tree, Root: s.o.Root}},
		Extra: ingest.CommentsExtra(s.o.HideComments)}
	u := catalog.Update{Settings: &settings, Skipped: &skipped, Encoded: docs}
	if err := c.Update(context.Background(), u); err != nil {
		return nil, errors.Join(fmt.Errorf("scan: %w", err), c.Close())
	}
	return c, nil
}
