package collection

import (
	"fmt"
	"slices"

	"sheaf"
	"sheaf/collection/location"
	"sheaf/ingest"
	"sheaf/search"
	"sheaf/search/scan"
	"sheaf/store"
)

// Local says where the person stands who asks on this machine. Requests of a person have no limits of size, and name
// any column.
type Local struct {
	// Scope narrows every query to the person's folder; nil for no bound.
	Scope sheaf.Filter
	// Spellings are the ways in which documents write a path that the person typed.
	Spellings func(written string) []string
	// Expander rewrites queries for profiles that ask for it; nil without such a model.
	Expander *search.Expander
}

// Ask answers questions of a person in the folder of the site; it writes nothing. scanner, unless nil, reads files for
// an index without a store. expander may be nil. Close the collection before the index.
func (x *Index) Ask(scanner *scan.Scanner, expander *search.Expander) (*Collection, error) {
	o := x.answering()
	o.Local = &Local{Scope: x.Scope(), Spellings: x.spellings, Expander: expander}
	o.CacheBytes, o.Store = -1, x.StoreInErrors()
	if scanner != nil {
		o.Scanner, o.Store, o.Embed = scanner, "the scanned files", x.QueryVector()
	} else if o.Embed = x.EmbedQuery(); o.Embed != nil {
		o.Model = x.LocalModel()
	}
	return New(o)
}

// details are what a person is told of an answer; nil for other callers.
func (r *Reader) details(a *answer) *Details {
	if r.c.o.Local == nil {
		return nil
	}
	d := &Details{Read: a.query.Notes, Unmet: a.result.Unmet, Found: a.result.Total, Facets: a.result.Facets}
	if a.scanned != nil {
		d.Files = a.scanned.Files
	}
	return d
}

// text is the text of a document. The error names the file for a person on this machine.
func (r *Reader) text(doc sheaf.ID) ([]byte, error) {
	if r.c.o.Local == nil {
		return r.guard.text(doc)
	}
	content, err := ingest.Shown(r.view, doc)
	if err != nil {
		err = fmt.Errorf("read %s: %w", doc.Path(), err)
	}
	return content, err
}

// scannedRarity says how rare words are among what a scan of files found.
func (s *showing) scannedRarity(docs scannedFiles, scanned *search.Scanned) func(word string) float64 {
	counter, ok := scanned.Backend.(store.Counter)
	if !ok {
		return nil
	}
	return rarityOf(docs.Chunks(), func(word string) (int, error) {
		return counter.Count(s.ctx, store.Request{Limit: 1, Text: everyField(sheaf.Match{Text: word})})
	}, &s.guessed)
}

// Place is the folder of the site, as documents have it, when the index covers more than it; else both are "".
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

// Scope bounds a query to the folder of the site, and leaves out folders that are missing: their passages would take
// the place of those that can be shown. It is nil when nothing is to be bounded.
func (x *Index) Scope() (scope sheaf.Filter) {
	tree, folder := x.Place()
	if tree != "" {
		scope = textIn(sheaf.ColumnTree, tree)
	}
	if folder != "" {
		scope = both(scope, textIn(sheaf.ColumnFolder, folder))
	}
	for _, t := range x.View.Settings().Trees {
		if slices.Contains(x.Gone(), t.Root) {
			scope = both(scope, sheaf.Not{Filter: textIn(sheaf.ColumnTree, t.Name)})
		}
	}
	return scope
}

func textIn(column, value string) sheaf.Filter {
	return sheaf.In{Column: column, Values: []sheaf.Value{sheaf.TextValue(value)}}
}

// spellings are the ways in which documents write a path: from the folder of the site, as results show it, or from
// the top of the index.
func (x *Index) spellings(written string) []string {
	_, folder := x.Place()
	if folder == "" {
		return x.View.Spellings(written)
	}
	below := folder + "/" + written
	return slices.Concat([]string{below}, x.View.Spellings(below), x.View.Spellings(written))
}
