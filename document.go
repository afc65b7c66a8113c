package sheaf

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ID names a document or a chunk, everywhere and in every store.
//
// A document is "tree:path"; a heading chunk of it is "tree:path#slug"; a
// piece of a sections or window chunker is "tree:path#0" and so on. The tree's
// name ends at the first colon. A path may itself hold '#', so an ID alone
// does not tell whether it names a document: ask the catalog, which tries the
// whole ID as a document first and splits at the last '#' after that.
type ID string

// DocumentID is the ID of the document at path (slashes between its parts,
// as the file system spells it) in the named tree. An ID is always valid UTF-8,
// so that it can be typed and written in JSON: a byte of a file name that is
// not stands in it as U+FFFD and two hexadecimal digits, and so do the bytes of
// a U+FFFD that the name has itself, which makes [ID.Path] exact.
func DocumentID(tree, path string) ID { return ID(tree + ":" + PathText(path)) }

// PathText is a file's path as IDs spell it: itself, unless it is not valid
// UTF-8 or holds U+FFFD.
func PathText(path string) string {
	if utf8.ValidString(path) && !strings.ContainsRune(path, utf8.RuneError) {
		return path
	}
	var b strings.Builder
	for i := 0; i < len(path); {
		r, size := utf8.DecodeRuneInString(path[i:])
		if r != utf8.RuneError {
			b.WriteString(path[i : i+size])
		} else {
			for _, c := range []byte(path[i : i+size]) {
				fmt.Fprintf(&b, "%c%02X", utf8.RuneError, c)
			}
		}
		i += size
	}
	return b.String()
}

// Path is the path of the document that id names, as the file system spells
// it: what [DocumentID] was given. The ID of a chunk gives its slug as well.
func (id ID) Path() string {
	_, text, _ := strings.Cut(string(id), ":")
	if !strings.ContainsRune(text, utf8.RuneError) {
		return text
	}
	const mark = string(utf8.RuneError)
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, mark)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		c, err := strconv.ParseUint(after[:min(2, len(after))], 16, 8)
		if err != nil || len(after) < 2 {
			b.WriteString(mark)
			text = after
			continue
		}
		b.WriteByte(byte(c))
		text = after[2:]
	}
}

// ChunkID is the ID of the chunk of doc that is called slug.
func ChunkID(doc ID, slug string) ID { return doc + ID("#"+slug) }

// Tree is the part of id before its first colon, or "" when it has none.
func (id ID) Tree() string {
	tree, _, ok := strings.Cut(string(id), ":")
	if !ok {
		return ""
	}
	return tree
}

// Span is a half-open range of bytes, [Start, End), in the original file.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Len is the number of bytes in s.
func (s Span) Len() int { return s.End - s.Start }

// Contains reports whether every byte of t lies in s.
func (s Span) Contains(t Span) bool { return s.Start <= t.Start && t.End <= s.End }

// Document is one source file (or one text given through an interface), cut
// into chunks.
type Document struct {
	ID   ID
	Tree string
	// Path is relative to the tree's folder, slashes between its parts, no
	// Unicode normalization.
	Path  string
	Title string
	// Aliases, Tags and Properties come from frontmatter; Tags also holds
	// the inline tags of all chunks. No leading '#', as written, no
	// duplicates (tags compare without regard to case), in order of first
	// appearance.
	Aliases    []string
	Tags       []string
	Properties []Property
	// Frontmatter is the range of the frontmatter block with its delimiter
	// lines; the zero Span when there is none. FrontmatterText says that
	// its YAML gave nothing, so that the raw block is to be indexed as text.
	Frontmatter     Span
	FrontmatterText bool
	// Language is what the text seems to be written in (ISO 639-1), or ""
	// when it was not detected.
	Language string
	// Warnings are faults of the file that did not stop it from being
	// indexed, with line numbers.
	Warnings []Warning
	// Fields are the properties that stand in the text of chunks, in the order of the
	// chunks. A document from the catalog has none: they are columns of the index only.
	// Properties has each of their names, without values unless frontmatter has some.
	Fields []Field `json:"-"`
	// Chunks are in pre-order; Chunks[i].Position == i, except for large
	// windows, which follow the windows they are made of. A document with
	// no text has none.
	Chunks []Chunk
}

// Part is the chunk called id, nil when there is none; it belongs to d. A document
// that is cut into pieces has no chunk of its own name: its ID gives the whole of it as
// though it were one chunk, whose Body is all that its chunks cover, and which belongs
// to the caller.
func (d *Document) Part(id ID) *Chunk {
	for i := range d.Chunks { // chunks are large
		if d.Chunks[i].ID == id {
			return &d.Chunks[i]
		}
	}
	if id != d.ID || len(d.Chunks) == 0 {
		return nil
	}
	c := &Chunk{ID: id, Doc: id, Title: d.Title, SiblingCount: 1, Span: d.Chunks[0].Span}
	for i := range d.Chunks {
		c.Span.Start, c.Span.End = min(c.Span.Start, d.Chunks[i].Span.Start), max(c.Span.End, d.Chunks[i].Span.End)
	}
	c.Body = c.Span
	if d.Title != "" {
		c.Hierarchy, c.Breadcrumb = []string{d.Title}, "> "+d.Title
	}
	return c
}

// Chunk is a part of a document that can be found by itself. A node of the
// heading tree is a chunk; the root of that tree is the document.
type Chunk struct {
	ID ID
	// Doc is the document's ID. Parent is the chunk above, "" for a root.
	Doc    ID
	Parent ID
	// Depth is 0 for the document and the heading's level (1..6) for a
	// heading. Position counts from 0 in document order.
	Depth    int
	Position int
	Title    string
	// Slug is "" for the document node.
	Slug string
	// Hierarchy holds the titles that Breadcrumb shows, in order: the
	// document's, those of the headings above, the chunk's own. Breadcrumb
	// is "> Document › Parent › Title".
	Hierarchy  []string
	Breadcrumb string
	// Heading is the range of the heading's lines with their endings; the
	// zero Span when HasHeading is false.
	Heading    Span
	HasHeading bool
	// Span is everything under the heading, its sub-headings included; Body
	// is the part that belongs to no sub-heading. Body lies in Span.
	Span Span
	Body Span
	// SiblingCount is the number of children of Parent, this one included;
	// 1 for a root.
	SiblingCount int
	// Tags are the inline tags and Links the links that stand in Body or in
	// the heading. For the root chunk Tags also holds the frontmatter's.
	Tags  []string
	Links []Link
	// Blocks are the block ids ("^id", without the mark) and the names of
	// HTML anchors (<a id="x">) in Body or in the heading, at which links may
	// point. An anchor just above a heading is the heading's.
	Blocks []string
	// Members are the windows that a large window is made of.
	Members []ID
}

// Node is where a chunk stands in its document: what ranking asks of hundreds of
// chunks, of which few are shown. Its fields are those of Chunk.
type Node struct {
	ID, Doc, Parent ID
	Title           string
	Depth           int
	SiblingCount    int
	// Outline is the outline that the node is part of; nil when it is of none. Above
	// is the node of Parent in it; nil when there is none.
	Outline *Outline
	Above   *Node
}

// NodeOf is the node of a chunk.
func NodeOf(c *Chunk) Node {
	return Node{ID: c.ID, Doc: c.Doc, Parent: c.Parent, Title: c.Title, Depth: c.Depth, SiblingCount: c.SiblingCount}
}

// Outline is what ranking asks of a document.
type Outline struct {
	ID      ID
	Path    string
	Aliases []string
	// Date has no Source when the document has no date.
	Date Dated
	// Numbers are the properties that are one number each, in their order.
	Numbers []NumberProperty
	// Nodes are those of its chunks, in order.
	Nodes []Node
}

// NumberProperty is a property whose value is one number.
type NumberProperty struct {
	Name  string
	Value float64
}

// OutlineOf is the outline of a document.
func OutlineOf(d *Document, date Dated) *Outline {
	o := &Outline{ID: d.ID, Path: d.Path, Aliases: d.Aliases, Date: date}
	for i := range d.Properties {
		if p := &d.Properties[i]; len(p.Values) == 1 && p.Values[0].Kind == KindNumber {
			o.Numbers = append(o.Numbers, NumberProperty{p.Name, p.Values[0].Number})
		}
	}
	if len(d.Chunks) > 0 {
		o.Nodes = make([]Node, len(d.Chunks)) // in their places: others point at them
	}
	last := make(map[ID]*Node, len(d.Chunks)) // by ID, of those before
	for i := range d.Chunks {
		n := &o.Nodes[i]
		*n = NodeOf(&d.Chunks[i])
		n.Outline = o
		if n.Parent != "" {
			n.Above = last[n.Parent]
		}
		last[n.ID] = n
	}
	return o
}

// Node is the node called id, nil when there is none.
func (o *Outline) Node(id ID) *Node {
	for i := range o.Nodes {
		if o.Nodes[i].ID == id {
			return &o.Nodes[i]
		}
	}
	return nil
}

// NodeIn is the node called id in the documents that outline knows, nil when there
// is none; it is shared and must not be changed. Nearly every id is that of a section: what stands before its last
// '#' is the document then.
func NodeIn(outline func(ID) *Outline, id ID) *Node {
	if hash := strings.LastIndexByte(string(id), '#'); hash >= 0 {
		if o := outline(id[:hash]); o != nil {
			if n := o.Node(id); n != nil {
				return n
			}
		}
	}
	if o := outline(id); o != nil && len(o.Nodes) > 0 && o.Nodes[0].ID == id {
		return &o.Nodes[0]
	}
	return nil
}

// LinkKind tells how a link was written.
type LinkKind uint8

// The kinds of link.
const (
	LinkMarkdown LinkKind = iota + 1 // [text](target)
	LinkWiki                         // [[target#fragment|text]]
	LinkEmbed                        // ![[target]] or ![alt](target)
)

// String is "markdown", "wiki" or "embed".
func (k LinkKind) String() string {
	switch k {
	case LinkMarkdown:
		return "markdown"
	case LinkWiki:
		return "wiki"
	case LinkEmbed:
		return "embed"
	}
	return "unknown"
}

// MarshalText writes the kind as its name.
func (k LinkKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Link is a reference from a chunk to a document, a section or a block of one,
// or to something outside.
type Link struct {
	Kind LinkKind `json:"kind"`
	// Target is the file or address as written, percent-decoded for
	// Markdown links; "" for a link inside the same document. Fragment is
	// what follows '#', without it; "^id" names a block.
	Target   string `json:"target"`
	Fragment string `json:"fragment,omitempty"`
	// Text is what a reader sees.
	Text string `json:"text,omitempty"`
	// Span is the whole link in the file.
	Span Span `json:"span"`
}

// Property is one value, or a list of values, that a document declares about
// itself under a name.
type Property struct {
	Name   string
	List   bool
	Values []Value
}

// Field is a property that stands in the text of a chunk.
type Field struct {
	Position int // of the chunk
	Name     string
	Value    Value
}

// FieldsOf are the fields of the chunk at a position.
func (d *Document) FieldsOf(position int) []Field {
	if len(d.Fields) == 0 {
		return nil
	}
	find := func(position int) int {
		return sort.Search(len(d.Fields), func(i int) bool { return d.Fields[i].Position >= position })
	}
	return d.Fields[find(position):find(position+1)]
}

// Warning is a fault in a file that did not stop it from being used.
type Warning struct {
	Line    int    `json:"line"` // from 1; 0 when it concerns the whole file
	Message string `json:"message"`
}

// DateSource tells where a document's date was read.
type DateSource uint8

// The sources of a document's date, most trusted first.
const (
	DateFrontmatter DateSource = iota + 1
	DateFileName
	DateModified
)

// String is "frontmatter", "filename" or "modified".
func (s DateSource) String() string {
	switch s {
	case DateFrontmatter:
		return "frontmatter"
	case DateFileName:
		return "filename"
	case DateModified:
		return "modified"
	}
	return "unknown"
}

// MarshalText writes the source as its name.
func (s DateSource) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Dated is a point in time with the place where it was read.
type Dated struct {
	Time   time.Time  `json:"time"`
	Source DateSource `json:"source"`
}
