package scan

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"sheaf"
	"sheaf/backend"
	"sheaf/catalog"
	"sheaf/chunk"
	"sheaf/inference"
	"sheaf/ingest"
	"sheaf/search"
)

// document is a file that was cut.
type document struct {
	path    string
	modTime time.Time
	size    int64
	hash    catalog.Hash
	// decoded is the text of a file that is not UTF-8 itself, else nil.
	decoded []byte
	doc     sheaf.Document
	date    sheaf.Dated
	entries []backend.Chunk
	// textBytes is the length of the texts of entries.
	textBytes int64
	// embedded names the model whose vectors entries have, "" for none.
	embedded string
}

// cutFiles is what cutting found.
type cutFiles struct {
	docs   []*document // best first
	beyond int         // matches that the limit left out
	at     map[string]bool
	failed int // files that could not be read
	tried  int // matches that were cut
}

func (c *cutFiles) chunks() int {
	n := 0
	for _, d := range c.docs {
		n += len(d.entries)
	}
	return n
}

func (c *cutFiles) notes() []string {
	var notes []string
	if c.beyond > 0 {
		notes = append(notes, fmt.Sprintf("%d further files hold words of the query and are not candidates", c.beyond))
	}
	if c.failed > 0 {
		notes = append(notes, fmt.Sprintf("%d files could not be read", c.failed))
	}
	return notes
}

// cut cuts the best matches, in order, until as many files as wanted have a
// chunk that the filter lets through.
func (s *Scanner) cut(ctx context.Context, f *found, req search.ScanRequest) (*cutFiles, error) {
	chunker, err := chunk.New(chunk.Options{Chunker: "sections", Sections: chunk.SectionOptions{Cap: req.ChunkChars}})
	if err != nil {
		return nil, err
	}
	out := &cutFiles{at: map[string]bool{}}
	matches := f.matches
	for len(matches) > 0 && len(out.docs) < req.MaxFiles {
		batch := matches[:min(len(matches), req.MaxFiles-len(out.docs))]
		docs := make([]*document, len(batch))
		if err := s.cutBatch(ctx, f.files, batch, docs, chunker); err != nil {
			return nil, err
		}
		for _, d := range docs {
			switch {
			case d == nil:
				out.failed++
			case d.passes(req.Filter):
				out.docs = append(out.docs, d)
				out.at[d.path] = true
			}
		}
		out.tried += len(batch)
		matches = matches[len(batch):]
	}
	out.beyond = len(matches)
	return out, nil
}

func (s *Scanner) cutBatch(ctx context.Context, files []ingest.File, batch []match, docs []*document, chunker chunk.Chunker) error {
	workers := runtime.GOMAXPROCS(0)
	group, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		group.Go(func() error {
			var buffer []byte
			for i := w; i < len(batch); i += workers {
				if err := ctx.Err(); err != nil {
					return err
				}
				docs[i] = s.document(&files[batch[i].file], chunker, &buffer)
			}
			return nil
		})
	}
	return group.Wait()
}

// passes reports whether the filter lets a chunk of the document through.
func (d *document) passes(filter sheaf.Filter) bool {
	if filter == nil {
		return true
	}
	for i := range d.entries {
		if filter.Match(&d.entries[i]) {
			return true
		}
	}
	return false
}

// document reads and cuts a file, or takes it from the cache; nil when it cannot
// be read or is no text.
func (s *Scanner) document(f *ingest.File, chunker chunk.Chunker, buffer *[]byte) *document {
	key := chunker.Name() + "\x00" + f.Path
	if d := s.cache.get(key, f.Bytes, f.ModTime); d != nil {
		return d
	}
	raw, err := readInto(*buffer, filepath.Join(s.o.Root, filepath.FromSlash(f.Path)), int(f.Bytes))
	if err != nil {
		return nil
	}
	*buffer = raw[:0]
	text, ok := ingest.Text(raw)
	if !ok {
		return nil
	}
	d := &document{path: f.Path, modTime: f.ModTime, size: int64(len(raw)), hash: catalog.HashOf(raw), doc: chunker.Chunk(s.o.Tree, f.Path, text)}
	if len(text) != len(raw) {
		d.decoded = text
	}
	d.date = chunk.DateOf(&d.doc, f.ModTime)
	d.index(string(text))
	s.cache.put(key, d)
	return d
}

// maxListed is how many values of one property are searched; notes that list
// hundreds would be found by everything.
const maxListed = 10

// index makes the entries of the document's chunks. Every chunk has the fields
// of the note (title, path, aliases, tags, values of properties), the heading
// that it stands under, and its text, which is a part of text.
func (d *document) index(text string) {
	common := []backend.Field{{Name: sheaf.FieldTitle, Text: d.doc.Title}, {Name: sheaf.FieldAliases, Text: strings.Join(d.doc.Aliases, "\n")},
		{Name: sheaf.FieldTags, Text: strings.Join(d.doc.Tags, "\n")}, {Name: sheaf.FieldPath, Text: strings.TrimSuffix(d.path, path.Ext(d.path))},
		{Name: sheaf.FieldProperties, Text: propertyText(&d.doc)}}
	common = slices.DeleteFunc(common, func(f backend.Field) bool { return f.Text == "" })
	columns := ingest.ChunkColumns(ingest.Columns(&d.doc, d.date), 1) // pieces have one depth
	d.entries = make([]backend.Chunk, len(d.doc.Chunks))
	d.textBytes = int64(len(text))
	for i := range d.doc.Chunks {
		c := &d.doc.Chunks[i]
		fields := make([]backend.Field, len(common), len(common)+2)
		copy(fields, common)
		if len(c.Hierarchy) > 1 {
			fields = append(fields, backend.Field{Name: sheaf.FieldHierarchy, Text: c.Hierarchy[len(c.Hierarchy)-1]})
		}
		if body := d.body(c, text); body != "" {
			fields = append(fields, backend.Field{Name: sheaf.FieldBody, Text: body})
		}
		d.entries[i] = backend.Chunk{ID: c.ID, Doc: d.doc.ID, Fields: fields, Columns: columns}
	}
}

// body is the text of a piece without frontmatter, which only a document of
// nothing else has in a piece; what YAML made nothing of stays.
func (d *document) body(c *sheaf.Chunk, text string) string {
	from := c.Body.Start
	if front := d.doc.Frontmatter; front.Len() > 0 && !d.doc.FrontmatterText {
		from = min(max(from, front.End), c.Body.End)
	}
	return text[from:c.Body.End]
}

// propertyText is the values of the frontmatter that are no fields of their own.
func propertyText(doc *sheaf.Document) string {
	var parts []string
	for _, p := range doc.Properties {
		if !ingest.IsText(p.Name) {
			continue
		}
		for _, v := range p.Values[:min(maxListed, len(p.Values))] {
			parts = append(parts, v.String())
		}
	}
	return strings.Join(parts, "\n")
}

// embed gives the first most chunks vectors. Documents from the cache may have
// them already.
func (s *Scanner) embed(ctx context.Context, docs []*document, most int) error {
	e := s.o.Embedder
	if e == nil {
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(2, runtime.GOMAXPROCS(0)))
	for i, d := range docs {
		if most -= len(d.entries); most < 0 {
			break
		}
		if d.embedded == e.Model() {
			continue
		}
		group.Go(func() error {
			with := *d // others may be reading d, which is shared through the cache
			with.entries = make([]backend.Chunk, len(d.entries))
			for j := range d.entries {
				with.entries[j] = d.entries[j]
				with.entries[j].Vectors = nil
			}
			if err := ingest.Embed(ctx, inference.Embedder(e), &with.doc, with.entries); err != nil {
				return err
			}
			with.embedded = e.Model()
			docs[i] = &with
			s.cache.replace(d, &with)
			return nil
		})
	}
	return group.Wait()
}

// whyNot says why a document is not among the candidates; "" when it is.
func whyNot(f *found, c *cutFiles, id sheaf.ID, tree string, req search.ScanRequest) string {
	name, ok := strings.CutPrefix(string(id), tree+":")
	if !ok {
		return "it is no document of this folder"
	}
	if c.at[name] {
		return ""
	}
	for rank, m := range f.matches {
		if f.files[m.file].Path != name {
			continue
		}
		if rank >= c.tried {
			return fmt.Sprintf("its file holds %q and is number %d of the files that match: only the first %d are candidates", f.needlesOf(m.path|m.content), rank+1, req.MaxFiles)
		}
		if req.Filter != nil {
			return "the filter leaves its file out"
		}
		return "its file could not be read, or the memory was full before it"
	}
	return fmt.Sprintf("neither the path nor the text of %s holds any of: %s", path.Base(name), strings.Join(f.needles, ", "))
}
