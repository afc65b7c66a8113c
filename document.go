package sheaf

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ID names a document or a chunk, in every store.
//
// A document is "tree:path", and a heading chunk is "tree:path#slug". If a chunker cuts documents into sections or
// windows, the chunks are "tree:path#0" and so on. The tree's name ends at the first colon. A path may contain '#', so
// an ID alone does not say whether it names a document. The catalog decides: it first looks for a document with the
// whole ID. If no document has this ID, the catalog splits the ID at the last '#'.
type ID string

// DocumentID returns the ID of the document at path in a tree. The path has slashes and the spelling of the file
// system. An ID is always valid UTF-8, so that JSON can hold it. DocumentID replaces an invalid byte by U+FFFD and two
// hexadecimal digits. It also replaces each byte of a U+FFFD in the path. So [ID.Path] can return the exact path.
func DocumentID(tree, path string) ID { return ID(tree + ":" + PathText(path)) }

// PathText returns a file's path in the spelling of IDs. It changes only paths with U+FFFD or invalid UTF-8.
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

// Path returns the path that was given to [DocumentID]. For the ID of a chunk, the result also has '#' and the slug.
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

// ChunkID returns the ID of the chunk of doc with this slug.
func ChunkID(doc ID, slug string) ID { return doc + ID("#"+slug) }

// Tree returns the part of id before its first colon, or "" when there is no colon.
func (id ID) Tree() string {
	tree, _, ok := strings.Cut(string(id), ":")
	if !ok {
		return ""
	}
	return tree
}

// Span is a range of bytes in the original file. Start is included, End is not.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Len returns the number of bytes in s.
func (s Span) Len() int { return s.End - s.Start }

// Contains reports whether s contains every byte of t.
func (s Span) Contains(t Span) bool { return s.Start <= t.Start && t.End <= s.End }

// Document is a source file, or a text that a program gave, cut into chunks.
type Document struct {
	ID   ID
	Tree string
	// Path is the path from the tree's folder. It has slashes and the exact spelling of the file system.
	Path  string
	Title string
	// Aliases, Tags and Properties come from the frontmatter. Tags also has the inline tags of all chunks. Tags have no
	// leading '#', and their case does not matter. Each list keeps the document's spelling, has no duplicates, and is
	// in order of first appearance.
	Aliases    []string
	Tags       []string
	Properties []Property
	// Frontmatter is the range of the frontmatter block with its delimiter lines. It is zero without frontmatter. If
	// FrontmatterText is true, the YAML in the block had no properties, and the index treats the block as text.
	Frontmatter     Span
	FrontmatterText bool
	// Warnings are faults in the file, with line numbers. They did not stop indexing.
	Warnings []Warning
	// Fields are the properties in the text of chunks, in chunk order. The catalog stores only their names, in Properties.
	// So a document from the catalog has no Fields.
	Fields []Field `json:"-"`
	// Chunks are in pre-order: each chunk is before the chunks under it. Large windows are last. Chunks[i].Position is i.
	// A document without text has no chunks.
	Chunks []Chunk
}

// Part returns the chunk with this ID, or nil. The chunk belongs to d. If a document was cut into pieces, no piece has
// the ID of the document. For this ID, Part returns a new chunk that covers all pieces.
func (d *Document) Part(id ID) *Chunk {
	for i := range d.Chunks { // no copies, because chunks are large
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
		c.Hierarchy = []string{d.Title}
	}
	return c
}

// Chunk is a part of a document that a search can find. Each node of the heading tree is a chunk. The root is the
// document.
type Chunk struct {
	ID ID
	// Doc is the document's ID. Parent is the ID of the chunk above this chunk, or "" for a root.
	Doc    ID
	Parent ID
	// Depth is 0 for the root and 1..6 for a heading. Position counts the chunks of the document from 0.
	Depth    int
	Position int
	Title    string
	// Slug is the part of ID after '#'. The slug of the root is "".
	Slug string
	// Hierarchy has the title of the document, the titles of the headings above, and the chunk's own title.
	Hierarchy []string
	// Heading is the range of the heading's lines with their line endings. It is empty if the chunk has no heading.
	Heading Span
	// Span is the range of the text after the heading, with the sections of sub-headings. Body is the part of Span before
	// the first sub-heading.
	Span Span
	Body Span
	// SiblingCount is how many children Parent has, including this chunk. It is 1 for a root.
	SiblingCount int
	// Tags and Links come from Body and the heading. Tags of a root also has the tags in the frontmatter.
	Tags  []string
	Links []Link
	// Blocks are targets of links in Body or the heading: block IDs ("^id", without "^") and HTML anchors (<a
	// id="x">). An anchor just above a heading belongs to the heading.
	Blocks []string
	// Members are the IDs of the windows that this chunk joins, if it is a large window. Otherwise Members is nil.
	Members []ID
}

// Breadcrumb returns the titles in Hierarchy as one line, "> Document › Parent › Title". If there are no titles, it is
// "".
func (c *Chunk) Breadcrumb() string {
	if strings.Join(c.Hierarchy, "") == "" {
		return ""
	}
	return "> " + strings.Join(c.Hierarchy, " › ")
}

// HasHeading reports whether c begins with a heading.
func (c *Chunk) HasHeading() bool { return c.Heading.Len() > 0 }

// Node is the position of a chunk in its document. It is smaller than a Chunk, because ranking needs hundreds of nodes.
// Its fields mean the same as the fields of Chunk.
type Node struct {
	ID, Doc, Parent ID
	Title           string
	Depth           int
	SiblingCount    int
	// Outline contains this node, or is nil. Above is the node of Parent in Outline, or nil.
	Outline *Outline
	Above   *Node
}

// NodeOf returns the node of a chunk, without an outline.
func NodeOf(c *Chunk) *Node {
	return &Node{ID: c.ID, Doc: c.Doc, Parent: c.Parent, Title: c.Title, Depth: c.Depth, SiblingCount: c.SiblingCount}
}

// Outline has the facts about a document that ranking needs.
type Outline struct {
	ID      ID
	Path    string
	Aliases []string
	// Date has an empty Source if the document has no date.
	Date Dated
	// Numbers are the properties with one number as their value, in document order.
	Numbers []NumberProperty
	// Nodes are the nodes of the document's chunks, in order.
	Nodes []Node
}

// NumberProperty is a property with one number as its value.
type NumberProperty struct {
	Name  string
	Value float64
}

// OutlineOf returns the outline of a document.
func OutlineOf(d *Document, date Dated) *Outline {
	o := &Outline{ID: d.ID, Path: d.Path, Aliases: d.Aliases, Date: date}
	for i := range d.Properties {
		if p := &d.Properties[i]; len(p.Values) == 1 && p.Values[0].Kind == KindNumber {
			o.Numbers = append(o.Numbers, NumberProperty{p.Name, p.Values[0].Number})
		}
	}
	if len(d.Chunks) > 0 {
		o.Nodes = make([]Node, len(d.Chunks)) // at their final addresses, because other nodes point at them
	}
	last := make(map[ID]*Node, len(d.Chunks)) // by ID, of the chunks so far
	for i := range d.Chunks {
		n := &o.Nodes[i]
		*n = *NodeOf(&d.Chunks[i])
		n.Outline = o
		if n.Parent != "" {
			n.Above = last[n.Parent]
		}
		last[n.ID] = n
	}
	return o
}

// Node returns the node with this ID, or nil.
func (o *Outline) Node(id ID) *Node {
	for i := range o.Nodes {
		n := &o.Nodes[i]
		// Compare the last bytes first, because all IDs of a document begin with the same bytes.
		if len(n.ID) == len(id) && (id == "" || n.ID[len(id)-1] == id[len(id)-1]) && n.ID == id {
			return n
		}
	}
	return nil
}

// NodeIn returns the node with this ID, or nil. The function outline returns the outline of a document, or nil. Callers
// share the node and must not change it. NodeIn first takes the part of id before the last '#' as the document, because
// most IDs name a section. If this finds no node, NodeIn takes the whole id as the document.
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

// LinkKind says in which syntax a link was written.
type LinkKind uint8

// These are the kinds of link.
const (
	LinkMarkdown LinkKind = iota + 1 // [text](target)
	LinkWiki                         // [[target#fragment|text]]
	LinkEmbed                        // ![[target]] or ![alt](target)
)

// String returns the name of the kind: "markdown", "wiki" or "embed".
func (k LinkKind) String() string { return nameIn([]string{"markdown", "wiki", "embed"}, int(k)) }

// MarshalText implements encoding.TextMarshaler. It returns the name of the kind.
func (k LinkKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Link is a reference in a chunk. It leads to a document, to a part of a document, or to an outside address.
type Link struct {
	Kind LinkKind `json:"kind"`
	// Target is the file or address in the link. It is percent-decoded for a Markdown link, and "" for a link inside
	// the document. Fragment is the part after '#'; "^id" names a block.
	Target   string `json:"target"`
	Fragment string `json:"fragment,omitempty"`
	// Text is the visible text.
	Text string `json:"text,omitempty"`
	// Span is the range of the whole link in the file.
	Span Span `json:"span"`
}

// Property is a name with a value or a list of values. A document declares properties about itself.
type Property struct {
	Name   string
	List   bool
	Values []Value
}

// Field is a property that a document declares in the text of a chunk.
type Field struct {
	Position int // of the chunk
	Name     string
	Value    Value
}

// FieldsOf returns the fields that belong to the chunk at a position.
func (d *Document) FieldsOf(position int) []Field {
	if len(d.Fields) == 0 {
		return nil
	}
	find := func(position int) int {
		return sort.Search(len(d.Fields), func(i int) bool { return d.Fields[i].Position >= position })
	}
	return d.Fields[find(position):find(position+1)]
}

// Warning is a fault in a file. The file is still used.
type Warning struct {
	Line    int    `json:"line"` // from 1; 0 when it concerns the whole file
	Message string `json:"message"`
}

// DateSource says from where the date of a document comes.
type DateSource uint8

// These are the sources of a document's date, most trusted first.
const (
	DateFrontmatter DateSource = iota + 1
	DateFileName
	DateModified
)

// String returns the name of the source: "frontmatter", "filename" or "modified".
func (s DateSource) String() string {
	return nameIn([]string{"frontmatter", "filename", "modified"}, int(s))
}

// MarshalText returns the name of the source.
func (s DateSource) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Dated is a point in time with its source.
type Dated struct {
	Time   time.Time  `json:"time"`
	Source DateSource `json:"source"`
}
