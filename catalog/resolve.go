package catalog

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"sheaf"
)

// nameIndex finds documents by what links call them.
type nameIndex struct {
	// paths holds every document under its tree, ":" and path in lower case,
	// with and without ".md"; of equal ones the first in order of ID.
	paths map[string]sheaf.ID
	// names holds documents under their tree, ":" and the lower-case file
	// name without extension, or an alias.
	names map[string][]sheaf.ID
}

func (v *View) indexNames() *nameIndex {
	index := &nameIndex{paths: map[string]sheaf.ID{}, names: map[string][]sheaf.ID{}}
	aliases := map[string][]sheaf.ID{}
	v.note(v.heads(func(id sheaf.ID, h head) {
		tree, file, _ := strings.Cut(string(id), ":")
		low := strings.ToLower(file)
		for _, key := range []string{low, withoutMarkdown(low)} {
			if _, ok := index.paths[tree+":"+key]; !ok {
				index.paths[tree+":"+key] = id
			}
		}
		key := tree + ":" + withoutMarkdown(path.Base(low))
		index.names[key] = append(index.names[key], id)
		for _, alias := range h.aliases {
			key := tree + ":" + strings.ToLower(alias)
			aliases[key] = append(aliases[key], id)
		}
	}))
	for key, ids := range aliases {
		if len(index.names[key]) == 0 {
			index.names[key] = ids // a file's own name wins over an alias
		}
	}
	return index
}

func withoutMarkdown(name string) string {
	for _, ext := range []string{".md", ".markdown"} {
		if s, ok := strings.CutSuffix(name, ext); ok && s != "" {
			return s
		}
	}
	return name
}

// Resolve is the document or chunk that a link in the document from leads to:
// the chunk of the heading or block that the link names, and the document when
// it names none or the document has no such place. ok is false for links that
// lead outside the collection or nowhere.
//
// Markdown links are paths relative to the linking file, or to the tree's folder
// when they begin with a slash. Wiki links name a note as Obsidian does: by its
// path, the end of its path, its file name, or an alias, without regard to case;
// of several notes the one in the same folder, then the one with the shortest
// path, then the first in order of ID.
func (v *View) Resolve(from sheaf.ID, link sheaf.Link) (id sheaf.ID, ok bool) {
	doc, ok := v.resolveDocument(from, link)
	if !ok {
		return "", false
	}
	if link.Fragment == "" {
		return doc, true
	}
	r, err := v.Record(doc)
	if err != nil {
		return doc, true
	}
	return place(&r.Document, link), true
}

func (v *View) resolveDocument(from sheaf.ID, link sheaf.Link) (sheaf.ID, bool) {
	if link.Target == "" {
		return from, link.Fragment != ""
	}
	if strings.HasPrefix(link.Target, "//") || hasScheme(link.Target) {
		return "", false
	}
	tree, file, _ := strings.Cut(string(from), ":")
	names := v.names()
	wiki := link.Kind != sheaf.LinkMarkdown
	target := strings.ToLower(strings.TrimSuffix(link.Target, "/"))
	if !wiki || strings.HasPrefix(target, ".") {
		if id, ok := names.relative(tree, file, target); ok {
			return id, true
		}
	}
	if !wiki {
		return "", false
	}
	target = strings.TrimPrefix(target, "/")
	if id, ok := names.paths[tree+":"+target]; ok && strings.Contains(target, "/") {
		return id, true
	}
	bare := withoutMarkdown(target)
	var candidates []sheaf.ID
	for _, id := range names.names[tree+":"+path.Base(bare)] {
		if own := withoutMarkdown(strings.ToLower(string(id[len(tree)+1:]))); own == bare || strings.HasSuffix(own, "/"+bare) || !strings.Contains(bare, "/") {
			candidates = append(candidates, id)
		}
	}
	return nearest(candidates, tree, file)
}

// relative finds the target of a Markdown link, which is in lower case.
func (n *nameIndex) relative(tree, file, target string) (sheaf.ID, bool) {
	full := strings.TrimPrefix(target, "/")
	if !strings.HasPrefix(target, "/") {
		full = path.Join(path.Dir(strings.ToLower(file)), target)
	}
	full = path.Clean(full)
	for _, candidate := range []string{full, full + "/readme", full + "/index"} {
		if id, ok := n.paths[tree+":"+candidate]; ok {
			return id, true
		}
	}
	return "", false
}

func hasScheme(target string) bool {
	scheme, _, ok := strings.Cut(target, ":")
	if !ok || len(scheme) < 2 {
		return false
	}
	u, err := url.Parse(scheme + ":")
	return err == nil && u.Scheme != ""
}

// nearest is the candidate in the folder of file, else the one with the fewest
// path parts, then the shortest path, then the first.
func nearest(candidates []sheaf.ID, tree, file string) (sheaf.ID, bool) {
	if len(candidates) == 0 {
		return "", false
	}
	folder := path.Dir(file)
	return slices.MinFunc(candidates, func(a, b sheaf.ID) int {
		pa, pb := string(a[len(tree)+1:]), string(b[len(tree)+1:])
		if sa, sb := path.Dir(pa) == folder, path.Dir(pb) == folder; sa != sb {
			if sa {
				return -1
			}
			return 1
		}
		if d := strings.Count(pa, "/") - strings.Count(pb, "/"); d != 0 {
			return d
		}
		if d := len(pa) - len(pb); d != 0 {
			return d
		}
		return strings.Compare(pa, pb)
	}), true
}

// place is the chunk of a document that a link's fragment names, or the document.
// "^id" names a block. Else it is a slug, or, in wiki links, a heading's title,
// without regard to case; "A#B" is the heading B.
func place(doc *sheaf.Document, link sheaf.Link) sheaf.ID {
	if block, ok := strings.CutPrefix(link.Fragment, "^"); ok {
		for i := range doc.Chunks {
			for _, b := range doc.Chunks[i].Blocks {
				if strings.EqualFold(b, block) {
					return doc.Chunks[i].ID
				}
			}
		}
		return doc.ID
	}
	for i := range doc.Chunks {
		if c := &doc.Chunks[i]; c.Slug != "" && c.Slug == link.Fragment {
			return c.ID
		}
	}
	last := link.Fragment[strings.LastIndexByte(link.Fragment, '#')+1:]
	for i := range doc.Chunks {
		if c := &doc.Chunks[i]; c.Slug != "" && (strings.EqualFold(c.Title, last) || strings.EqualFold(c.Slug, last)) {
			return c.ID
		}
	}
	return doc.ID
}

// Reference is a link seen from the document that it leads to.
type Reference struct {
	From sheaf.ID // the chunk that the link stands in
	Link sheaf.Link
	To   sheaf.ID // the document or chunk that it leads to
}

// linkGraph holds the links between documents.
type linkGraph struct {
	out, in    map[sheaf.ID][]sheaf.ID
	references map[sheaf.ID][]Reference // by document that is linked to
}

// buildGraph resolves the links of all documents.
func (v *View) buildGraph() *linkGraph {
	g := &linkGraph{out: map[sheaf.ID][]sheaf.ID{}, in: map[sheaf.ID][]sheaf.ID{}, references: map[sheaf.ID][]Reference{}}
	v.note(v.all(func(s *segment, i int) bool {
		r, err := s.record(i)
		if err != nil {
			v.note(translate(err))
			return true
		}
		from := r.Document.ID
		for c := range r.Document.Chunks {
			chunk := &r.Document.Chunks[c]
			for _, link := range chunk.Links {
				to, ok := v.resolveDocument(from, link)
				if !ok {
					continue
				}
				g.references[to] = append(g.references[to], Reference{From: chunk.ID, Link: link, To: to})
				if to != from {
					g.out[from] = append(g.out[from], to)
					g.in[to] = append(g.in[to], from)
				}
			}
		}
		return true
	}))
	for _, m := range []map[sheaf.ID][]sheaf.ID{g.out, g.in} {
		for id, ids := range m {
			slices.Sort(ids)
			m[id] = slices.Compact(ids)
		}
	}
	return g
}

// Links are the documents that doc links to, without doc itself and without
// duplicates, in order of ID.
func (v *View) Links(doc sheaf.ID) []sheaf.ID { return v.graph().out[doc] }

// Backlinks are the documents that link to doc, without doc itself and without
// duplicates, in order of ID.
func (v *View) Backlinks(doc sheaf.ID) []sheaf.ID { return v.graph().in[doc] }

// References are the links that lead to a document or a place in it, in order of
// the documents they stand in.
func (v *View) References(doc sheaf.ID) []Reference {
	refs := slices.Clone(v.graph().references[doc])
	if r, err := v.Record(doc); err == nil {
		for i := range refs {
			if refs[i].Link.Fragment != "" {
				refs[i].To = place(&r.Document, refs[i].Link)
			}
		}
	}
	return refs
}
