package catalog

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"sheaf"
	"sheaf/internal/fold"
	"sheaf/internal/wikilink"
)

// Resolve returns the target of a link in the document source. If link names a heading or block, the target is the
// chunk of this heading or block, otherwise the document. ok is false for links that lead outside the collection or
// nowhere.
//
// Markdown links are paths. A path is relative to the linking file, or to the tree's folder if it begins with a slash
// or "@/". A folder means its readme, index or _index. A page with the ending .html means its Markdown file. Resolve
// ignores a query such as "?plain=1".
//
// If the tree's folder has no such file, a path after a slash may begin at a site's root. Resolve first takes a folder
// above the tree as the root, as for /en/start in a folder docs/en. Then it takes any folder of the tree: first the one
// that shares most folders with the linking file. Among equal folders, the shortest path wins, then the first ID. If no
// folder has the file, the path's first folder may be a collection of Jekyll: _docs for /docs/start.
//
// Wiki links name a note as in Obsidian: by its path, the path's end, its file name, or an alias. If several notes fit,
// one in the same folder wins, then the shortest path, then the first ID. An embed, or a link that begins with a dot or
// slash, is tried as a path first. Case and Unicode composition do not matter. If files differ only in these, the exact
// spelling wins.
func (v *View) Resolve(source sheaf.ID, link sheaf.Link) (id sheaf.ID, ok bool) {
	return v.ResolveAmong(nil, source, link)
}

// Among reports whether a document counts. A nil Among counts all documents.
type Among func(doc sheaf.ID) bool

// includes reports whether a document counts. This may read the document, so callers make cheaper checks first.
func (a Among) includes(doc sheaf.ID) bool { return a == nil || a(doc) }

// ResolveAmong returns what Resolve would return if only the documents in among existed. Without a target, ok is false.
func (v *View) ResolveAmong(among Among, from sheaf.ID, link sheaf.Link) (id sheaf.ID, ok bool) {
	doc, ok := v.resolveDocument(among, from, link)
	if !ok {
		return "", false
	}
	if link.Fragment == "" {
		return doc, true
	}
	r, err := v.Record(doc)
	if err != nil {
		v.noteFault(err)
		return doc, true
	}
	return cmp.Or(Place(&r.Document, link.Fragment), doc), true
}

func (v *View) resolveDocument(among Among, from sheaf.ID, link sheaf.Link) (sheaf.ID, bool) {
	if hasScheme(link) {
		return "", false
	}
	link.Target = address(link)
	if link.Target == "" {
		return from, link.Fragment != ""
	}
	tree, file := from.Tree(), from.Path()
	t := parseTarget(file, link)
	if t.path != "" {
		if found := v.byPath(among, tree, t.path, t.suffix, t.full); len(found) > 0 {
			return found[0], true
		}
	}
	if t.site {
		for _, end := range v.rootEnds(tree) { // sites whose root is above the tree's folder
			if rest, ok := strings.CutPrefix(t.path, end+"/"); ok {
				if found := v.byPath(among, tree, rest, t.suffix, ""); len(found) > 0 {
					return found[0], true
				}
			}
		}
		return v.fromSite(among, tree, file, t)
	}
	if t.name == "" {
		return "", false
	}
	if strings.Contains(t.name, "/") {
		plain, suffix := cutMarkdown(fold.Text(strings.TrimPrefix(strings.TrimSuffix(link.Target, "/"), "/")))
		if found := v.documentsAt(among, tree, plain, suffix, ""); len(found) > 0 {
			return found[0], true
		}
	}
	return v.byName(among, tree, file, t.name)
}

// target is the parsed target of a link. Names and paths are folded (case, Unicode) and have no Markdown ending.
type target struct {
	// path is a path from the tree's folder, or "" if the link has no path. suffix is the Markdown ending that was
	// removed from the path. full is the path with the ending, in the link's spelling.
	path, suffix, full string
	// site says that path may also start at the root of a site.
	site bool
	// name is the name of the note in a wiki link or an embed. For Markdown links it is "".
	name string
	// certain says that the link can only be a name: it has no path, and the name has no slash.
	certain bool
}

// parseTarget reads the target of a link in a file. For targets outside the collection it returns the zero target.
func parseTarget(file string, link sheaf.Link) (t target) {
	link.Target = address(link)
	if link.Target == "" || strings.HasPrefix(link.Target, "//") || hasScheme(link) {
		return target{}
	}
	written := strings.TrimSuffix(link.Target, "/")
	if link.Kind != sheaf.LinkWiki || strings.HasPrefix(written, ".") || strings.HasPrefix(written, "/") {
		full := path.Clean(strings.TrimPrefix(written, "/"))
		if !strings.HasPrefix(link.Target, "/") { // "/" alone means the tree's folder
			full = path.Join(path.Dir(file), written)
		}
		if full != ".." && !strings.HasPrefix(full, "../") {
			t.full = full
			t.path, t.suffix = cutMarkdown(fold.Text(full))
			t.site = link.Kind == sheaf.LinkMarkdown && strings.HasPrefix(written, "/") && strings.Contains(t.path, "/")
		}
	}
	if link.Kind != sheaf.LinkMarkdown {
		t.name, _ = cutMarkdown(fold.Text(strings.TrimPrefix(written, "/")))
		t.certain = link.Kind == sheaf.LinkWiki && !strings.Contains(written, "/") && !strings.HasPrefix(written, ".")
	}
	return t
}

// address returns the target of a link as a path. It removes a query after the name of a page or a folder. In other
// links, a question mark may be part of the file name.
func address(link sheaf.Link) string {
	if link.Kind != sheaf.LinkMarkdown {
		return link.Target
	}
	target := link.Target
	if strings.HasPrefix(target, "@/") {
		target = target[1:]
	}
	before, asked, ok := strings.Cut(target, "?")
	if !ok {
		return target
	}
	if _, ending := cutMarkdown(fold.Text(target)); ending != "" && !strings.Contains(asked, "=") {
		return target // for example "Who? Me.md", "???.md"
	}
	plain, suffix := cutMarkdown(fold.Text(before))
	if _, page := cutPage(plain, suffix); page || suffix != "" || before == "" || strings.HasSuffix(before, "/") {
		return before
	}
	return target
}

// cutMarkdown splits a folded name before the Markdown ending. If the name has none, suffix is "".
func cutMarkdown(name string) (plain, suffix string) {
	for _, suffix := range wikilink.MarkdownEndings {
		if plain, ok := strings.CutSuffix(name, suffix); ok && plain != "" && !strings.HasSuffix(plain, "/") {
			return plain, suffix
		}
	}
	return name, ""
}

// cutPage returns the folded path of the Markdown file from which a site generator makes a page: "a/b" for "a/b.html".
// If plain and suffix cannot be such a page, it returns false.
func cutPage(plain, suffix string) (string, bool) {
	source, ok := strings.CutSuffix(plain, ".html")
	if !ok || suffix != "" || source == "" || strings.HasSuffix(source, "/") {
		return "", false
	}
	_, ending := cutMarkdown(source)
	return source, ending == ""
}

// hasScheme reports whether a link begins with the scheme of a URL. One letter and a colon are a Windows drive. In wiki
// links, "//" must follow, because the name of a note may have a colon: [[Poem: Example]].
func hasScheme(link sheaf.Link) bool {
	scheme, rest, ok := strings.Cut(link.Target, ":")
	if !ok || len(scheme) < 2 || link.Kind != sheaf.LinkMarkdown && !strings.HasPrefix(rest, "//") {
		return false
	}
	letter := func(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
	for _, c := range []byte(scheme) {
		if !letter(c) && (c < '0' || c > '9') && c != '+' && c != '-' && c != '.' {
			return false
		}
	}
	return letter(scheme[0])
}

// folderFiles are the names of files that a link to their folder means. The first existing file wins.
var folderFiles = []string{"readme", "index", "_index"}

// standsForFolder reports whether a link to a folder means the document at this folded path.
func standsForFolder(plain string) bool { return slices.Contains(folderFiles, path.Base(plain)) }

// byPath returns the documents that a path in a link may mean, best first. plain, suffix and full are the parts of a
// target: see target.path.
func (v *View) byPath(among Among, tree, plain, suffix, full string) []sheaf.ID {
	found := v.documentsAt(among, tree, plain, suffix, full)
	for i := 0; i < len(folderFiles) && len(found) == 0 && suffix == ""; i++ {
		found = v.documentsAt(among, tree, path.Join(plain, folderFiles[i]), "", "")
	}
	if source, ok := cutPage(plain, suffix); ok && len(found) == 0 {
		found = v.documentsAt(among, tree, source, "", "")
	}
	return found
}

// maxRootEnds is the largest number of ends that rootEnds returns, for example "en", "v2/en" and "docs/v2/en".
const maxRootEnds = 3

// rootEnds returns the ends of the path of a tree's folder, folded and with the shortest first: "en", "docs/en".
func (v *View) rootEnds(tree string) (ends []string) {
	i := slices.IndexFunc(v.payload.Settings.Trees, func(t Tree) bool { return t.Name == tree })
	if i < 0 {
		return nil
	}
	root := strings.Trim(fold.Text(filepath.ToSlash(v.payload.Settings.Trees[i].Root)), "/")
	for at := len(root); at > 0 && len(ends) < maxRootEnds; {
		at = strings.LastIndexByte(root[:at], '/')
		ends = append(ends, root[at+1:])
	}
	return ends
}

// documentsAt returns the documents at the folded path plain. If suffix is not "", it returns only documents with this
// suffix. First come documents with exactly the path full, then those whose path begins with full, then others. Each of
// these groups is sorted by ID.
func (v *View) documentsAt(among Among, tree, plain, suffix, full string) []sheaf.ID {
	var found []sheaf.ID
	for _, c := range v.documentsNamed(pathKey(tree, plain), kindPath).all {
		if len(c.plain) == len(plain) && c.ends(plain, suffix) && among.includes(c.id) {
			found = append(found, c.id)
		}
	}
	if len(found) > 1 {
		distance := func(id sheaf.ID) int {
			switch rest, ok := strings.CutPrefix(id.Path(), full); {
			case ok && rest == "":
				return 0
			case ok:
				return 1
			}
			return 2
		}
		slices.SortFunc(found, func(a, b sheaf.ID) int {
			return cmp.Or(distance(a)-distance(b), strings.Compare(string(a), string(b)))
		})
	}
	return found
}

// fromSite returns the document for a link whose path begins at the root of a site. file is the linking file. ok is
// false without such a document.
func (v *View) fromSite(among Among, tree, file string, t target) (best sheaf.ID, ok bool) {
	most := -1
	look := func(kind int, name, end, suffix string) {
		for _, c := range v.documentsNamed(nameKey(tree, name), kind).all {
			if end == t.path && len(c.plain) == len(end) || !c.ends(end, suffix) {
				continue
			}
			if shared := sharedFolders(c.id.Path(), file); shared > most && among.includes(c.id) {
				best, most = c.id, shared
			}
		}
	}
	for _, plain := range []string{t.path, "_" + t.path} {
		look(kindName, path.Base(plain), plain, t.suffix)
		for i := 0; i < len(folderFiles) && most < 0 && t.suffix == ""; i++ {
			look(kindFolder, path.Base(plain), plain+"/"+folderFiles[i], "")
		}
		if source, ok := cutPage(plain, t.suffix); ok && most < 0 {
			look(kindName, path.Base(source), source, "")
		}
		if most >= 0 {
			return best, true
		}
	}
	return best, most >= 0
}

// sharedFolders returns how many folders the paths a and b have in common.
func sharedFolders(a, b string) (n int) {
	for {
		folder, rest, ok := strings.Cut(a, "/")
		other, left, also := strings.Cut(b, "/")
		if !ok || !also || folder != other {
			return n
		}
		a, b, n = rest, left, n+1
	}
}

// byName returns the note that a wiki link in file means by its folded name. Without such a note, it returns false.
func (v *View) byName(among Among, tree, file, name string) (sheaf.ID, bool) {
	named := v.documentsNamed(nameKey(tree, path.Base(name)), kindName)
	if id, ok := named.nearest(among, file, name); ok { // a file's own name wins over an alias
		return id, true
	}
	return v.documentsNamed(nameKey(tree, name), kindAlias).nearest(among, file, "")
}

// Place returns the chunk of a document that the fragment of a link names, or "". "^id" names a block. Any other
// fragment is a slug or title of a heading, in any case. For "A#B", Place looks for B below A, then for a heading
// "A#B", then for the first heading B. Finally, it looks for an HTML anchor, and for a heading that differs only in
// signs.
func Place(doc *sheaf.Document, fragment string) sheaf.ID {
	first := func(fits func(c *sheaf.Chunk) bool) sheaf.ID {
		for i := range doc.Chunks {
			if fits(&doc.Chunks[i]) {
				return doc.Chunks[i].ID
			}
		}
		return ""
	}
	if block, ok := strings.CutPrefix(fragment, "^"); ok {
		return first(func(c *sheaf.Chunk) bool {
			return slices.ContainsFunc(c.Blocks, func(b string) bool { return strings.EqualFold(b, block) })
		})
	}
	if id := first(func(c *sheaf.Chunk) bool { return c.Slug != "" && c.Slug == fragment }); id != "" {
		return id
	}
	anchor := first(func(c *sheaf.Chunk) bool { return slices.Contains(c.Blocks, fragment) })
	return cmp.Or(heading(doc, fragment, sameText), anchor, heading(doc, fragment, sameWords))
}

// heading returns the chunk whose heading a fragment names, or "". same compares a title or slug with the fragment.
func heading(doc *sheaf.Document, fragment string, same func(title, called string) bool) sheaf.ID {
	parts := strings.Split(fragment, "#")
	above, last := parts[:len(parts)-1], parts[len(parts)-1]
	var whole, first sheaf.ID
	for i := range doc.Chunks {
		c := &doc.Chunks[i]
		if c.Slug == "" {
			continue
		}
		if same(c.Title, last) || same(c.Slug, last) {
			left := above // the titles that c.Hierarchy must still contain in this order, perhaps with others between them
			for _, title := range c.Hierarchy {
				if len(left) > 0 && same(title, left[0]) {
					left = left[1:]
				}
			}
			if len(left) == 0 {
				return c.ID
			}
			if first == "" {
				first = c.ID
			}
		}
		if whole == "" && len(above) > 0 && same(c.Title, fragment) {
			whole = c.ID
		}
	}
	return cmp.Or(whole, first)
}

// sameText reports whether two texts are equal except for case. An empty text equals nothing.
func sameText(title, called string) bool {
	return called != "" && (strings.EqualFold(title, called) || fold.Text(title) == fold.Text(called))
}

// sameWords works like sameText, but ignores signs between words. Obsidian writes the signs of a heading as spaces in
// links and keeps the markup. Renderers other than GitHub's turn signs into hyphens, join several hyphens, or append
// "_1" to a repeated heading.
func sameWords(title, called string) bool {
	a, b := strings.FieldsFunc(fold.Text(title), isSign), strings.FieldsFunc(fold.Text(called), isSign)
	return len(a) > 0 && slices.Equal(a, b)
}

// isSign reports whether a character is a sign, which a link to a heading may omit.
func isSign(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) }
