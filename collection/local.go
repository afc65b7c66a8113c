package collection

import (
	"fmt"
	"slices"

	"sheaf"
	"sheaf/collection/location"
	"sheaf/search"
	"sheaf/search/scan"
)

// Local describes a person who runs a command on this machine. Requests of this person have no size limits, and may use
// any column.
type Local struct {
	// Scope is a filter that limits every query to the folder of the person. If it is nil, there is no limit.
	Scope sheaf.Filter
	// Spellings returns the paths in the index that a path typed by the person may mean.
	Spellings func(written string) []string
	// Expander rewrites queries, for profiles that use a chat model. Without a chat model, Expander is nil.
	Expander *search.Expander
}

// Ask returns a collection that answers a person in the folder of the site. The collection writes nothing. scanner
// reads the files if the index has no store; otherwise scanner is nil. expander may be nil. Close the collection before
// the index.
func (x *Index) Ask(scanner *scan.Scanner, expander *search.Expander) (*Collection, error) {
	o := x.answering()
	o.Local = &Local{Scope: x.Scope(), Spellings: x.spellings, Expander: expander}
	o.CacheBytes, o.Store = -1, x.StoreInErrors()
	if scanner != nil {
		o.Scanner, o.Store, o.Embed = scanner, "the scanned files", x.QueryVector()
	} else if x.View.Settings().Embedder != "" {
		o.Embed, o.Model = x.QueryVector(), x.LocalModel()
	}
	return New(o)
}

// text returns the text of a document. For a person on this machine, errors name the document.
func (r *Reader) text(doc sheaf.ID) ([]byte, error) {
	content, err := r.guard.text(doc)
	if err != nil && r.c.o.Local != nil {
		err = fmt.Errorf("read %s: %w", doc.Path(), err)
	}
	return content, err
}

// Place returns the tree of the site, and its folder inside this tree. If the site is the whole index, both are "".
func (x *Index) Place() (tree, folder string) {
	if x.Folder == x.Where.Root {
		return "", ""
	}
	for _, t := range x.View.Settings().Trees {
		if rel, ok := location.Under(t.Root, x.Folder); ok {
			return t.Name, rel
		}
	}
	return "", ""
}

// Scope returns the filter for queries in the site, or nil if none is needed. Documents in the folder of the site pass
// it, except those in missing folders, which a person could not open.
func (x *Index) Scope() (scope sheaf.Filter) {
	tree, folder := x.Place()
	if tree != "" {
		scope = sheaf.TextIn(sheaf.ColumnTree, tree)
	}
	if folder != "" {
		scope = sheaf.Both(scope, sheaf.TextIn(sheaf.ColumnFolder, folder))
	}
	for _, t := range x.View.Settings().Trees {
		if slices.Contains(x.printed.missingFolders, t.Root) {
			scope = sheaf.Both(scope, sheaf.Not{Filter: sheaf.TextIn(sheaf.ColumnTree, t.Name)})
		}
	}
	return scope
}

// spellings returns the paths in the index that the path written by a person may mean. This path is relative to the
// folder of the site or to the top of the index.
func (x *Index) spellings(written string) []string {
	_, folder := x.Place()
	if folder == "" {
		return x.View.Spellings(written)
	}
	below := folder + "/" + written
	return slices.Concat([]string{below}, x.View.Spellings(below), x.View.Spellings(written))
}
