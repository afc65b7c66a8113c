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

// facts tells stages about the candidates of a scan and the links between them. Only FolderSize counts all files.
type facts struct {
	*catalog.View // of the candidates, and of files with their names
	tree          string
	candidates    map[string]bool // by path
	folders       func() map[string]int
}

// newFacts returns the facts about the candidates in g.
func (s *Scanner) newFacts(files []ingest.File, g *gatherResult) (*facts, error) {
	others, err := s.namesakes(files, g)
	if err != nil {
		return nil, err
	}
	view, err := s.openView(append(g.records(nil), others...), nil)
	return &facts{view, s.o.Tree, g.paths, sync.OnceValue(func() map[string]int { return countFolders(files) })}, err
}

// Document implements rank.Facts. Only candidates are documents.
func (f *facts) Document(id sheaf.ID) (sheaf.Document, bool) {
	if !f.candidates[id.Path()] {
		return sheaf.Document{}, false
	}
	return f.View.Document(id)
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

// namesakes returns the files that have the name of a candidate but are no candidates. The catalog needs these files,
// because a link with this name may lead to them, not to the candidate.
func (s *Scanner) namesakes(files []ingest.File, g *gatherResult) (out []catalog.Encoded, err error) {
	names := map[string]bool{}
	for i := range g.docs {
		for _, name := range g.docs[i].names {
			names[name] = true
		}
	}
	for i := range files {
		if name := files[i].Path; !g.paths[name] && names[withoutExt(path.Base(fold.Text(name)))] {
			other, err := catalog.Encode(&catalog.Record{Document: sheaf.Document{Tree: s.o.Tree, Path: name,
				ID: sheaf.DocumentID(s.o.Tree, name)}})
			if err != nil {
				return nil, err
			}
			out = append(out, other)
		}
	}
	return out, nil
}

func withoutExt(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }

// Empty returns a catalog in memory without documents. tree is the name of its tree, and root is the tree's folder. The
// caller closes the catalog.
func Empty(tree, root string) (*catalog.Catalog, error) {
	return (&Scanner{o: Options{Tree: tree, Root: root}}).openCatalog(nil, nil)
}

// openView returns a view of a new catalog that has docs, and skipped as its list of skipped files. The view stays
// valid after the catalog closes.
func (s *Scanner) openView(docs []catalog.Encoded, skipped []catalog.Skip) (*catalog.View, error) {
	c, err := s.openCatalog(docs, skipped)
	if err != nil {
		return nil, err
	}
	view := c.View()
	return view, c.Close()
}

// openCatalog returns a new catalog in memory that has docs, and skipped as its list of skipped files. The catalog
// reads texts from the files.
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
