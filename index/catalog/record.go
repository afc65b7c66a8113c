package catalog

import (
	"time"

	"sheaf"
	"sheaf/internal/arena"
)

// A record has this order: title, aliases, tags; properties, warnings, language, frontmatter and date; chunks; links
// with their chunks. Everything that can be computed is left out. This includes IDs (document ID and slug),
// positions, parents, breadcrumbs, and slugs that are the title in small letters.

// These bits of a stored chunk say which parts follow.
const (
	chunkHeading   = 1 << iota // it has a heading line
	chunkSlug                  // its slug is stored
	chunkTitle                 // its title differs from the document's
	chunkOwn                   // its hierarchy is the parent's hierarchy, then its own title
	chunkExtra                 // its hierarchy has another form, and is stored
	chunkLists                 // tags, blocks or members follow
	chunkBodyIsAll             // body and span are equal
	chunkAdjacent              // its body begins where the previous body ends
)

func encodeRecord(r *Record) []byte {
	doc := &r.Document
	e := &encoder{b: make([]byte, 0, 256+64*len(doc.Chunks))}
	e.str(doc.Title)
	e.strs(doc.Aliases)
	e.strs(doc.Tags)
	e.uint(len(doc.Properties))
	for _, p := range doc.Properties {
		e.str(p.Name)
		flag := byte(0)
		if p.List {
			flag = 1
		}
		e.byte(flag)
		e.uint(len(p.Values))
		for _, v := range p.Values {
			switch {
			case v.Kind == sheaf.KindText:
				e.byte(byte(v.Kind))
				e.str(v.Text)
			case v.Text != "":
				e.byte(byte(v.Kind) | writtenFlag)
				e.f64(v.Number)
				e.str(v.Text)
			default:
				e.byte(byte(v.Kind))
				e.f64(v.Number)
			}
		}
	}
	e.uint(len(doc.Warnings))
	for _, w := range doc.Warnings {
		e.uint(w.Line)
		e.str(w.Message)
	}
	e.str("") // reserved
	e.uint(doc.Frontmatter.Start)
	e.uint(doc.Frontmatter.Len())
	flag := byte(0)
	if doc.FrontmatterText {
		flag = 1
	}
	e.byte(flag)
	e.byte(byte(r.Date.Source))
	if r.Date.Source != 0 {
		e.int(r.Date.Time.UnixMilli())
	}
	encodeChunks(e, doc)
	encodeLinks(e, doc.Chunks)
	return e.b
}

func encodeChunks(e *encoder, doc *sheaf.Document) {
	position := make(map[sheaf.ID]int, len(doc.Chunks))
	e.uint(len(doc.Chunks))
	end := 0
	for i := range doc.Chunks {
		c := &doc.Chunks[i]
		position[c.ID] = i
		shared, extra := sharedHierarchy(doc, c, position)
		first := c.Body.Start
		if c.HasHeading() {
			first = c.Heading.Start
		}
		var flags byte
		for _, f := range [...]struct {
			bit byte
			set bool
		}{
			{chunkHeading, c.HasHeading()}, {chunkSlug, c.Slug != plainSlug(c.Title)},
			{chunkTitle, c.Title != doc.Title},
			{chunkOwn, len(extra) == 1 && extra[0] == c.Title}, {chunkLists, len(c.Tags)+len(c.Blocks)+len(c.Members) > 0},
			{chunkBodyIsAll, c.Body == c.Span}, {chunkAdjacent, first == end},
		} {
			if f.set {
				flags |= f.bit
			}
		}
		if flags&chunkOwn == 0 && len(extra) > 0 || shared >= 0 {
			flags |= chunkExtra
		}
		e.byte(flags)
		parent := 0 // none
		if p, ok := position[c.Parent]; ok && c.Parent != c.ID {
			parent = p + 2
		} else if c.Parent != "" {
			parent = 1 // the document, which is not a chunk
		}
		e.uint(parent)
		e.uint(c.Depth)
		if flags&chunkTitle != 0 {
			e.str(c.Title)
		}
		if flags&chunkSlug != 0 {
			e.str(c.Slug)
		}
		if flags&chunkExtra != 0 {
			e.uint(max(shared, -1) + 1)
			e.strs(extra)
		}
		if flags&chunkAdjacent == 0 {
			e.int(int64(first - end))
		}
		if c.HasHeading() {
			e.uint(c.Heading.Len())
			e.int(int64(c.Body.Start - c.Heading.End))
		}
		e.uint(c.Body.Len())
		if c.Body != c.Span {
			e.int(int64(c.Body.Start - c.Span.Start))
			e.int(int64(c.Span.End - c.Body.End))
		}
		e.uint(c.SiblingCount)
		if flags&chunkLists != 0 {
			e.strs(c.Tags)
			e.strs(c.Blocks)
			e.uint(len(c.Members))
			for _, id := range c.Members {
				e.str(string(id))
			}
		}
		end = c.Body.End
	}
}

// sharedHierarchy splits the hierarchy of a chunk. shared is the number of leading entries that equal those of the
// parent's hierarchy. If the chunk shares all entries of the parent, shared is -1. Without a parent, the document's
// title counts as the parent's hierarchy. extra has the remaining entries.
func sharedHierarchy(doc *sheaf.Document, c *sheaf.Chunk, position map[sheaf.ID]int) (shared int, extra []string) {
	above := []string{doc.Title}
	if p, ok := position[c.Parent]; ok && c.Parent != c.ID {
		above = doc.Chunks[p].Hierarchy
	}
	n := 0
	for n < len(above) && n < len(c.Hierarchy) && above[n] == c.Hierarchy[n] {
		n++
	}
	if n == len(above) {
		return -1, c.Hierarchy[n:]
	}
	return n, c.Hierarchy[n:]
}

func encodeLinks(e *encoder, chunks []sheaf.Chunk) {
	n := 0
	for i := range chunks {
		n += len(chunks[i].Links)
	}
	e.uint(n)
	last, end := 0, 0
	for i := range chunks {
		for _, l := range chunks[i].Links {
			e.uint(i - last)
			last = i
			e.byte(byte(l.Kind))
			e.str(l.Target)
			e.str(l.Fragment)
			text := l.Text
			if text == l.Target {
				text = "\x00" // no text contains it
			}
			e.str(text)
			e.int(int64(l.Span.Start - end))
			e.uint(l.Span.Len())
			end = l.Span.End
		}
	}
}

// plainSlug returns the slug of a title in ASCII. It lowers letters, turns spaces into hyphens, and drops other signs
// than '-' and '_'. For a title with other characters, it returns "". The record stores a slug only if it differs from
// this result.
func plainSlug(title string) string {
	to := make([]byte, 0, len(title))
	for i := range len(title) {
		switch c := title[i]; {
		case c >= 0x80:
			return ""
		case c >= 'A' && c <= 'Z':
			to = append(to, c+'a'-'A')
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_':
			to = append(to, c)
		case c == ' ':
			to = append(to, '-')
		}
	}
	return string(to)
}

// decodeRecord fills r from b. The caller has set the ID, Tree and Path of the document. decodeRecord reports whether
// the bytes are a valid record. Strings of the record share the memory of b.
func decodeRecord(b []byte, r *Record) bool {
	d := &decoder{b: b}
	decodeAbove(d, r)
	decodeChunks(d, &r.Document)
	decodeLinks(d, r.Document.Chunks)
	return !d.bad && d.pos == len(b)
}

// decodeAbove reads the part of a record that comes before the chunks.
func decodeAbove(d *decoder, r *Record) {
	doc := &r.Document
	doc.Title, doc.Aliases, doc.Tags = d.str(), d.strs(), d.strs()
	decodeProperties(d, doc)
	_ = d.str() // reserved
	doc.Frontmatter.Start = d.uint()
	doc.Frontmatter.End = doc.Frontmatter.Start + d.uint()
	doc.FrontmatterText = d.byte() == 1
	r.Date.Source = sheaf.DateSource(d.byte())
	if r.Date.Source != 0 {
		r.Date.Time = time.UnixMilli(d.int()).UTC()
	}
}

// writtenFlag marks a number or date that is followed by its original spelling.
const writtenFlag = 0x80

func decodeProperties(d *decoder, doc *sheaf.Document) {
	n := d.count(3)
	for range n {
		p := sheaf.Property{Name: d.str(), List: d.byte() == 1}
		for range d.count(2) {
			kind := d.byte()
			v := sheaf.Value{Kind: sheaf.Kind(kind &^ writtenFlag)}
			if v.Kind != sheaf.KindText {
				v.Number = d.f64()
			}
			if v.Kind == sheaf.KindText || kind&writtenFlag != 0 {
				v.Text = d.str()
			}
			p.Values = append(p.Values, v)
		}
		doc.Properties = append(doc.Properties, p)
	}
	for range d.count(2) {
		doc.Warnings = append(doc.Warnings, sheaf.Warning{Line: d.uint(), Message: d.str()})
	}
}

func decodeChunks(d *decoder, doc *sheaf.Document) {
	n := d.count(4)
	if n == 0 {
		return
	}
	chunks := make([]sheaf.Chunk, 0, n)
	ids := arena.NewTexts(min(n*(len(doc.ID)+usualSlug), largeBlock))
	hierarchies := make([]string, 0, usualDepth*n) // all of them in one block of memory, if it suffices
	top, end := []string{doc.Title}, 0
	for i := range n {
		flags, parent, above := d.byte(), d.uint(), top
		if parent-2 >= i {
			d.fail()
			return
		}
		c := sheaf.Chunk{ID: doc.ID, Doc: doc.ID, Position: i, Depth: d.uint(), Title: doc.Title}
		switch {
		case parent > 1:
			c.Parent, above = chunks[parent-2].ID, chunks[parent-2].Hierarchy
		case parent == 1:
			c.Parent = doc.ID
		}
		if flags&chunkTitle != 0 {
			c.Title = d.str()
		}
		slug := plainSlug(c.Title)
		if flags&chunkSlug != 0 {
			slug = d.str()
		}
		if slug != "" { // else it has the document's ID
			c.ID = sheaf.ID(ids.Join(string(doc.ID), "#", slug))
			c.Slug = string(c.ID[len(doc.ID)+1:])
		}
		hierarchies = decodeHierarchy(d, &c, flags, above, hierarchies)
		end = decodeSpans(d, &c, flags, end)
		c.SiblingCount = d.uint()
		if flags&chunkLists != 0 {
			c.Tags, c.Blocks = d.strs(), d.strs()
			for range d.count(1) {
				c.Members = append(c.Members, sheaf.ID(d.str()))
			}
		}
		if d.bad {
			return
		}
		chunks = append(chunks, c)
	}
	doc.Chunks = chunks
}

const (
	usualSlug  = 20       // the usual length of a slug with its "#", in bytes
	usualDepth = 3        // the usual number of headings in a hierarchy
	largeBlock = 64 << 10 // the largest block of memory for the texts of a record, if no text is longer
)

// decodeHierarchy reads the hierarchy of c. The parameter above is the parent's hierarchy. The hierarchy of c begins
// with all or some of the entries of above, and may have further entries. If there are further entries, decodeHierarchy
// appends the whole hierarchy to list, and c shares this memory. It returns list.
func decodeHierarchy(d *decoder, c *sheaf.Chunk, flags byte, above, list []string) []string {
	c.Hierarchy = above
	var own []string
	switch {
	case flags&chunkExtra != 0:
		if shared := d.uint(); shared > len(above)+1 {
			d.fail()
		} else if shared > 0 {
			c.Hierarchy = above[:shared-1]
		}
		own = d.strs()
	case flags&chunkOwn != 0:
		own = []string{c.Title}
	}
	if len(own) > 0 {
		start := len(list)
		list = append(append(list, c.Hierarchy...), own...)
		c.Hierarchy = list[start:len(list):len(list)]
	}
	return list
}

func decodeSpans(d *decoder, c *sheaf.Chunk, flags byte, end int) (bodyEnd int) {
	first := end
	if flags&chunkAdjacent == 0 {
		first += int(d.int())
	}
	c.Body.Start = first
	if flags&chunkHeading != 0 {
		c.Heading = sheaf.Span{Start: first, End: first + d.uint()}
		if c.Heading.Len() <= 0 {
			d.fail()
		}
		c.Body.Start = c.Heading.End + int(d.int())
	}
	c.Body.End = c.Body.Start + d.uint()
	c.Span = c.Body
	if flags&chunkBodyIsAll == 0 {
		c.Span.Start -= int(d.int())
		c.Span.End += int(d.int())
	}
	if c.Span.Start < 0 || c.Body.Start < 0 || c.Body.End < c.Body.Start || c.Span.End < c.Span.Start {
		d.fail()
	}
	return c.Body.End
}

func decodeLinks(d *decoder, chunks []sheaf.Chunk) {
	at, end := 0, 0
	for range d.count(7) {
		at += d.uint()
		l := sheaf.Link{Kind: sheaf.LinkKind(d.byte()), Target: d.str(), Fragment: d.str(), Text: d.str()}
		if l.Text == "\x00" {
			l.Text = l.Target
		}
		l.Span.Start = end + int(d.int())
		l.Span.End = l.Span.Start + d.uint()
		end = l.Span.End
		if at >= len(chunks) {
			d.fail()
		}
		if d.bad {
			return
		}
		chunks[at].Links = append(chunks[at].Links, l)
	}
}
