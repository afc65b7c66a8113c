package catalog

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"sheaf"
	"sheaf/internal/fold"
)

// The catalog does not store where links lead, because that changes when documents come and go. Each segment stores
// the names of its documents and the names that their links point at. Both are looked up by hash. So resolving a
// link, or finding the links to a document, needs no scan and is always up to date.

// These kinds of keyItem say how a document has a name.
const (
	kindPath   = iota // its path
	kindName          // its file name
	kindAlias         // one of its aliases
	kindFolder        // the name of its folder, if a link to the folder means the document
)

// These kinds of keyItem say how a link names its target.
const (
	pointPath     = iota // by a path, without the ending of Markdown files
	pointMd              // by a path that ended with .md
	pointMarkdown        // by a path that ended with .markdown
	pointName            // by a name without folders
	pointOther           // in another way: the link itself must be read
	pointMdx             // by a path that ended with .mdx
	pointSite            // by a path that may start at the root of a site: the link itself must be read
)

var pointSuffix = [...]string{pointPath: "", pointMd: ".md", pointMarkdown: ".markdown", pointMdx: ".mdx"}

func pathKey(tree, plain string) uint64 { return xxh3.HashString("p" + tree + ":" + plain) }

// siteKey returns the key of a path that begins at the root of a web site.
func siteKey(tree, plain string) uint64 { return nameKey(tree, "/"+plain) }

func nameKey(tree, name string) uint64 { return xxh3.HashString("n" + tree + ":" + name) }

// nameKeys returns an item for each name under which links can find a document.
func nameKeys(doc *sheaf.Document) []keyItem {
	plain, _ := cutMarkdown(fold.Text(doc.Path))
	items := []keyItem{{key: pathKey(doc.Tree, plain), kind: kindPath},
		{key: nameKey(doc.Tree, path.Base(plain)), kind: kindName}}
	if folder := path.Dir(plain); standsForFolder(plain) && folder != "." {
		items = append(items, keyItem{key: nameKey(doc.Tree, path.Base(folder)), kind: kindFolder})
	}
	for _, alias := range doc.Aliases {
		if name, _ := cutMarkdown(fold.Text(alias)); name != "" {
			items = append(items, keyItem{key: nameKey(doc.Tree, name), kind: kindAlias})
		}
	}
	return items
}

// targetKeys returns an item for each name that a link of the document contains.
func targetKeys(doc *sheaf.Document) []keyItem {
	var items []keyItem
	for i := range doc.Chunks {
		for _, link := range doc.Chunks[i].Links {
			t := parseTarget(doc.Path, link)
			if t.path != "" {
				items = append(items, keyItem{key: pathKey(doc.Tree, t.path), kind: slices.Index(pointSuffix[:], t.suffix)})
			}
			if t.site {
				items = append(items, keyItem{key: siteKey(doc.Tree, t.path), kind: pointSite})
			}
			switch {
			case t.name == "":
			case t.certain:
				items = append(items, keyItem{key: nameKey(doc.Tree, t.name), kind: pointName})
			default:
				items = append(items, keyItem{key: nameKey(doc.Tree, t.name), kind: pointOther},
					keyItem{key: nameKey(doc.Tree, path.Base(t.name)), kind: pointOther})
			}
		}
	}
	slices.SortFunc(items, compareItems)
	return slices.Compact(items)
}

// calledBy is the key of the cache View.names. key is the hash of a name; kind says how documents have this name, for
// example kindAlias.
type calledBy struct {
	key  uint64
	kind int
}

// sameName has the documents with one name. The order is by number of path parts, then by length of the path, then by
// path.
type sameName struct {
	all []namedDocument
	// byFolder has the same documents by folder; each list has the same order. Thousands of documents may share a name,
	// and most links lead to a document in their own folder.
	byFolder map[string][]namedDocument
}

// namedDocument is a document that has a name. plain is its folded path without a Markdown ending, suffix is this
// ending.
type namedDocument struct {
	id            sheaf.ID
	plain, suffix string
}

// ends reports whether the document's path ends with the folders and name in plain, and with the Markdown ending
// suffix. If suffix is "", any ending fits.
func (c *namedDocument) ends(plain, suffix string) bool {
	rest, ok := strings.CutSuffix(c.plain, plain)
	return ok && (rest == "" || strings.HasSuffix(rest, "/")) && (suffix == "" || suffix == c.suffix)
}

// documentsNamed returns the documents that have a name of this kind. key is the hash of the name.
func (v *View) documentsNamed(key uint64, kind int) *sameName {
	found, ok := v.names.Get(calledBy{key, kind})
	if ok {
		return found
	}
	found = &sameName{byFolder: map[string][]namedDocument{}}
	v.each(key, func(s *segment) *keyTable { return &s.names }, func(item keyItem, id sheaf.ID) {
		if item.kind == kind {
			plain, suffix := cutMarkdown(fold.Text(id.Path()))
			found.all = append(found.all, namedDocument{id, plain, suffix})
		}
	})
	slices.SortFunc(found.all, func(a, b namedDocument) int {
		pa, pb := a.id.Path(), b.id.Path()
		return cmp.Or(strings.Count(pa, "/")-strings.Count(pb, "/"), len(pa)-len(pb), strings.Compare(pa, pb))
	})
	for _, c := range found.all {
		folder := path.Dir(c.id.Path())
		found.byFolder[folder] = append(found.byFolder[folder], c)
	}
	v.names.Put(calledBy{key, kind}, found, 1)
	return found
}

// nearest returns the first document in the folder of file whose path ends with end. If that folder has none, nearest
// returns the first such document of any folder, or false. If end is "", every path fits.
func (n *sameName) nearest(among Among, file, end string) (sheaf.ID, bool) {
	for _, list := range [][]namedDocument{n.byFolder[path.Dir(file)], n.all} {
		for i := range list {
			if c := &list[i]; (end == "" || c.ends(end, "")) && among.includes(c.id) {
				return c.id, true
			}
		}
	}
	return "", false
}

// each calls yield for every current document that has this key. It looks into one table of each segment, which the
// function table selects. It records faults for Err.
func (v *View) each(key uint64, table func(*segment) *keyTable, yield func(item keyItem, id sheaf.ID)) {
	for k, s := range v.segments {
		items, err := table(s).find(key)
		if err != nil {
			v.note(translate(err))
			continue
		}
		for _, item := range items {
			id, err := s.ids.id(item.doc)
			newest := err == nil // no later segment has an entry with this ID
			for i := k + 1; i < len(v.segments) && newest; i++ {
				var at int
				at, err = v.segments[i].find(sheaf.ID(id))
				newest = err == nil && at < 0
			}
			if newest {
				yield(item, sheaf.ID(id))
			}
			v.note(translate(err))
		}
	}
}

// Links returns the documents that doc links to, in order of ID, without doc and without
// duplicates. The slice is shared; the caller must not change it.
func (v *View) Links(doc sheaf.ID) []sheaf.ID {
	found, ok := v.links.Get(doc)
	if !ok {
		found = v.LinksAmong(nil, doc)
		v.links.Put(doc, found, int64(1+len(found)))
	}
	return found
}

// LinksAmong returns what Links would return if only doc and the documents in among existed. The result is not cached.
func (v *View) LinksAmong(among Among, doc sheaf.ID) (found []sheaf.ID) {
	r, err := v.Record(doc)
	if err != nil {
		v.noteFault(err)
		return nil
	}
	for i := range r.Document.Chunks {
		for _, link := range r.Document.Chunks[i].Links {
			if to, ok := v.resolveDocument(among, doc, link); ok && to != doc {
				found = append(found, to)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// Backlinks returns the documents that link to doc, in order of ID, without doc and without
// duplicates. The slice is shared; the caller must not change it.
func (v *View) Backlinks(doc sheaf.ID) []sheaf.ID {
	found, ok := v.backlinks.Get(doc)
	if !ok {
		found = v.BacklinksAmong(nil, doc)
		v.backlinks.Put(doc, found, 1)
	}
	return found
}

// BacklinksAmong returns what Backlinks would return if only doc and the documents in among existed. The result is not
// cached.
func (v *View) BacklinksAmong(among Among, doc sheaf.ID) (found []sheaf.ID) {
	s, st, err := v.find(doc)
	if err != nil || s == nil {
		v.note(err)
		return nil
	}
	for from, leads := range v.sources(among, doc, st.aliases) {
		if leads && from != doc {
			found = append(found, from)
		}
	}
	slices.Sort(found)
	return found
}

// sources returns true for each document that links to doc, and may return false for others. aliases says that doc has
// aliases.
func (v *View) sources(among Among, doc sheaf.ID, aliases bool) map[sheaf.ID]bool {
	tree, file := doc.Tree(), doc.Path()
	plain, _ := cutMarkdown(fold.Text(file))
	decided := map[sheaf.ID]bool{}
	point := func(key uint64, leads func(item keyItem, from sheaf.ID) (yes, sure bool)) {
		v.each(key, func(s *segment) *keyTable { return &s.targets }, func(item keyItem, from sheaf.ID) {
			if _, done := decided[from]; done || !among.includes(from) {
				return
			}
			yes, sure := leads(item, from)
			if !sure { // the links of the document must be read
				links := v.Links
				if among != nil {
					links = func(from sheaf.ID) []sheaf.ID { return v.LinksAmong(among, from) }
				}
				decided[from] = slices.Contains(links(from), doc)
			} else if yes {
				decided[from] = true
			}
		})
	}
	byPath := func(plain string, folder bool) {
		point(pathKey(tree, plain), func(item keyItem, _ sheaf.ID) (yes, sure bool) {
			if item.kind == pointName || item.kind == pointOther || item.kind >= len(pointSuffix) ||
				folder && item.kind != pointPath {
				return false, true
			}
			found := v.byPath(among, tree, plain, pointSuffix[item.kind], "")
			return slices.Contains(found, doc), len(found) < 2
		})
	}
	fromSite := func(plain string) {
		point(siteKey(tree, plain), func(item keyItem, _ sheaf.ID) (yes, sure bool) { return false, item.kind != pointSite })
	}
	// The root of a site may be each folder of doc, or any folder above.
	bySite := func(plain string) {
		for rest := plain; strings.Contains(rest, "/"); _, rest, _ = strings.Cut(rest, "/") {
			fromSite(rest)
			if collection, ok := strings.CutPrefix(rest, "_"); ok {
				fromSite(collection)
			}
		}
		for _, end := range v.rootEnds(tree) {
			fromSite(end + "/" + plain)
		}
	}
	byName := func(name string) {
		point(nameKey(tree, name), func(item keyItem, from sheaf.ID) (yes, sure bool) {
			if item.kind != pointName {
				return false, item.kind != pointOther
			}
			file := from.Path()
			to, ok := v.byName(among, tree, file, name)
			return ok && to == doc, true
		})
	}
	for _, p := range [...]string{plain, plain + ".html"} {
		byPath(p, false)
		bySite(p)
	}
	if standsForFolder(plain) {
		byPath(path.Dir(plain), true)
		bySite(path.Dir(plain))
	}
	byName(path.Base(plain))
	if aliases {
		r, err := v.Record(doc)
		if err != nil {
			v.noteFault(err)
			return decided
		}
		for _, alias := range r.Document.Aliases {
			if name, _ := cutMarkdown(fold.Text(alias)); name != "" {
				byName(name)
			}
		}
	}
	return decided
}

// Reference is a link to a document, with the chunk that contains the link.
type Reference struct {
	From sheaf.ID // the chunk with the link
	Link sheaf.Link
}

// References returns the links to a document or to a place in it, including its own links to itself. They are sorted by
// the ID of the linking document.
func (v *View) References(doc sheaf.ID) []Reference {
	from := append(slices.Clone(v.Backlinks(doc)), doc)
	slices.Sort(from)
	var refs []Reference
	for _, id := range from {
		r, err := v.Record(id)
		if err != nil {
			v.noteFault(err)
			continue
		}
		for i := range r.Document.Chunks {
			chunk := &r.Document.Chunks[i]
			for _, link := range chunk.Links {
				if target, ok := v.resolveDocument(nil, id, link); ok && target == doc {
					refs = append(refs, Reference{From: chunk.ID, Link: link})
				}
			}
		}
	}
	return refs
}
