package collection

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sheaf"
	"sheaf/collection/access"
	"sheaf/collection/intake"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/store"
	"sheaf/text/chunk"
)

// DocumentInput is a document from a caller. It has either a text or chunks.
type DocumentInput struct {
	Text  string     `json:"text,omitempty" maxLength:"8388608" pattern:"@text" doc:"The whole text of the document."`
	Title string     `json:"title,omitempty" pattern:"@line" doc:"The title, if the text has none."`
	Date  *time.Time `json:"date,omitempty" doc:"The date, if the text has none."`

	Properties map[string]Property `json:"properties,omitempty" maxItems:"100" pattern:"@line" doc:"@properties"`

	Access []string     `json:"access,omitempty" maxItems:"1000" pattern:"@name" doc:"@access"`
	Sets   []string     `json:"sets,omitempty" maxItems:"100" pattern:"@name" doc:"Its sets."`
	Chunks []ChunkInput `json:"chunks,omitempty" maxItems:"10000" doc:"The chunks, when there is no text."`
}

// Property is a document's property: one value or a list. In JSON, a value is a text, a number, true or false.
type Property struct {
	List   bool
	Values []sheaf.Value
}

// MaxListed limits the number of values of a property.
const MaxListed = 1000

// MarshalJSON implements [json.Marshaler].
func (p Property) MarshalJSON() ([]byte, error) {
	if p.List || len(p.Values) != 1 {
		return json.Marshal(append([]sheaf.Value{}, p.Values...))
	}
	return json.Marshal(p.Values[0])
}

// UnmarshalJSON implements [json.Unmarshaler]. It reads what MarshalJSON writes.
func (p *Property) UnmarshalJSON(text []byte) error {
	*p = Property{List: bytes.HasPrefix(text, []byte("[")), Values: make([]sheaf.Value, 1)}
	var err error
	if p.List {
		err = json.Unmarshal(text, &p.Values)
	} else {
		err = json.Unmarshal(text, &p.Values[0])
	}
	if err != nil || slices.ContainsFunc(p.Values, sheaf.Value.IsZero) {
		return sheaf.Invalidf("property %s: must be texts, numbers, true or false", text)
	}
	return nil
}

// PropertyValue converts a Go string, JSON number or bool. For other types, and for numbers that are too large, ok is
// false.
func PropertyValue(v any) (value sheaf.Value, ok bool) {
	switch v := v.(type) {
	case string:
		return sheaf.TextValue(v), true
	case json.Number:
		err := value.UnmarshalJSON([]byte(v))
		return value, err == nil
	case bool:
		return sheaf.BoolValue(v), true
	}
	return sheaf.Value{}, false
}

// ChunkInput is a chunk from a caller.
type ChunkInput struct {
	Slug  string `json:"slug,omitempty" pattern:"@slug" doc:"The end of its ID; else its number, from 0."`
	Title string `json:"title,omitempty" pattern:"@line" doc:"The title; the document's when left out."`
	Text  string `json:"text" required:"true" minLength:"1" maxLength:"1000000" pattern:"@written" doc:"The chunk's text."`

	Vectors [][]float32 `json:"vectors,omitempty" maxItems:"1000" min:"-1000000" max:"1000000" doc:"Vectors of passages."`
}

// DocumentPatch changes the fields of a document except its text. An absent field stays as it is. A list in the patch
// replaces the list of the document.
type DocumentPatch struct {
	Title *string     `json:"title,omitempty" pattern:"@line" doc:"The title, if the text has none."`
	Date  **time.Time `json:"date,omitempty" doc:"The date, if the text has none; null removes it."`

	Properties map[string]Property `json:"properties,omitempty" maxItems:"100" pattern:"@line" doc:"@changed"`

	Access *[]string `json:"access,omitempty" maxItems:"1000" pattern:"@name" doc:"@readers"`
	Sets   *[]string `json:"sets,omitempty" maxItems:"100" pattern:"@name" doc:"Its sets."`
}

// apply returns a copy of a document with the changes of the patch.
func (p *DocumentPatch) apply(d DocumentInput) *DocumentInput {
	if p.Title != nil {
		d.Title = *p.Title
	}
	if p.Date != nil {
		d.Date = *p.Date
	}
	if p.Access != nil {
		d.Access = *p.Access
	}
	if p.Sets != nil {
		d.Sets = *p.Sets
	}
	d.Properties = maps.Clone(d.Properties)
	for name, v := range p.Properties {
		maps.DeleteFunc(d.Properties, func(old string, _ Property) bool {
			return ingest.PropertyColumn(old) == ingest.PropertyColumn(name)
		})
		if len(v.Values) == 0 {
			continue
		}
		if d.Properties == nil {
			d.Properties = map[string]Property{}
		}
		d.Properties[name] = v
	}
	return &d
}

// maxIDLength is the largest number of characters in the ID of a given document.
const maxIDLength = 1024

// validID returns an error unless id can be the ID of a given document. A valid ID has a tree, a colon, and a relative
// path of file names.
func validID(id sheaf.ID) error {
	tree, path, ok := strings.Cut(string(id), ":")
	if !ok || tree == "" || path == "" {
		return fieldError("id", "%q: must be TREE:PATH, as %s:guides/git.md", id, catalog.FreeTree)
	}
	if utf8.RuneCountInString(string(id)) > maxIDLength || !utf8.ValidString(string(id)) ||
		strings.ContainsFunc(string(id), unicode.IsControl) || strings.ContainsAny(string(id), "\\#\ufffd") {
		return fieldError("id", "%q: must be valid UTF-8 of at most %d characters without control characters, "+
			"backslashes, # and U+FFFD", id, maxIDLength)
	}
	if err := access.ValidName("id", tree); err != nil || tree == access.All {
		return fieldError("id", "%q: its tree must not be *, nor begin or end with white space", id)
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." || strings.TrimSpace(part) != part {
			return fieldError("id", "%q: the parts of its path must not be empty, . or .., nor begin or end with white space",
				id)
		}
	}
	return nil
}

// valid checks the rules that concern more than one field, and scales the vectors to length 1, in place. dims is the
// number of dimensions that every vector must have; 0 allows no vectors.
func (d *DocumentInput) valid(dims int) error {
	switch {
	case d.Text != "" && len(d.Chunks) > 0:
		return fieldError("chunks", "give text or chunks, not both")
	case d.Text == "" && len(d.Chunks) == 0:
		return fieldError("text", "give text or chunks")
	}
	if err := validDate(d.Date); err != nil {
		return err
	}
	if err := validProperties(d.Properties); err != nil {
		return err
	}
	slugs := map[string]bool{}
	for i := range d.Chunks {
		ch := &d.Chunks[i]
		slug := cmp.Or(ch.Slug, fmt.Sprint(i))
		if slugs[slug] {
			return conflictError(fmt.Sprintf("chunks/%d/slug", i), "the slug %s appears twice", slug)
		}
		slugs[slug] = true
		for k, v := range ch.Vectors {
			field := fmt.Sprintf("chunks/%d/vectors/%d", i, k)
			if dims == 0 {
				return fieldError(field, "the collection has no vectors")
			}
			if len(v) != dims {
				return fieldError(field, "it has %d dimensions: the collection's vectors have %d", len(v), dims)
			}
			if !normalize(v) {
				return fieldError(field, "the vector has length 0: at least one number must be %v or more, or -%v or less",
					LeastPart,
					LeastPart)
			}
		}
	}
	return nil
}

// validDate checks that JSON can represent a date in any time zone.
func validDate(d *time.Time) error {
	if d != nil && !chunk.Writable(*d) {
		return fieldError("date", "the year is %d in UTC: must be within 0..9999", d.UTC().Year())
	}
	return nil
}

// validProperties refuses invalid names and the names of access properties. It also refuses two names that differ only
// in case or Unicode composition, because they share a column (see ingest.PropertyColumn).
func validProperties(properties map[string]Property) error {
	names := slices.Sorted(maps.Keys(properties))
	for i, name := range names {
		if err := access.ValidName("properties", name); err != nil {
			return fieldError("properties", "%v", err)
		}
		if name := strings.ToLower(name); chunk.IsAccessProperty(name) {
			use := "say it with the field " + name
			if name == ingest.PropertyTenant {
				use = "the tree of the identifier says it"
			}
			return fieldError("properties/"+pointerEscapes.Replace(names[i]), "access to a document is not a property: %s", use)
		}
		if k := slices.IndexFunc(names[:i], func(other string) bool {
			return ingest.PropertyColumn(other) == ingest.PropertyColumn(name)
		}); k >= 0 {
			return conflictError("properties/"+pointerEscapes.Replace(name), "it has the name of %s, except for case or "+
				"Unicode composition: give one of them", names[k])
		}
	}
	return nil
}

// LeastPart is a limit for vectors: at least one number must have this absolute value or a larger one. A vector without
// such a number counts as a vector of length 0, and is refused.
const LeastPart = 1e-6

// normalize scales a vector to length 1, in place. If the vector is too small or too large, normalize returns false.
func normalize(v []float32) bool {
	var square, most float64
	for _, x := range v {
		square += float64(x) * float64(x)
		most = max(most, math.Abs(float64(x)))
	}
	length := math.Sqrt(square)
	if float32(most) < LeastPart || math.IsInf(length, 0) {
		return false
	}
	for i, x := range v {
		v[i] = float32(float64(x) / length)
	}
	return true
}

// maxProperties is the largest number of properties of a document. The schema of DocumentInput has the same limit.
const maxProperties = 100

// toGiven returns the document in the form that ingest indexes. content is the document in its stored form.
func (d *DocumentInput) toGiven(id sheaf.ID, content []byte) ingest.Given {
	tree, path, _ := strings.Cut(string(id), ":")
	g := ingest.Given{Tree: tree, Path: path, Title: d.Title, Text: []byte(d.Text), Hash: catalog.HashOf(content)}
	if d.Date != nil {
		g.Modified = *d.Date
	}
	// Always set all three, so that frontmatter in the text cannot decide who sees the document.
	tenant := []string{}
	if tree != catalog.FreeTree {
		tenant = []string{tree}
	}
	g.Properties = []sheaf.Property{
		{Name: ingest.PropertyTenant, Values: sheaf.TextValues(tenant...)},
		{Name: ingest.PropertyAccess, List: true, Values: sheaf.TextValues(d.Access...)},
		{Name: ingest.PropertySets, List: true, Values: sheaf.TextValues(d.Sets...)},
	}
	for _, name := range slices.Sorted(maps.Keys(d.Properties)) {
		if !chunk.IsAccessProperty(name) {
			g.Properties = append(g.Properties, sheaf.Property{Name: name, List: d.Properties[name].List,
				Values: d.Properties[name].Values})
		}
	}
	for i := range d.Chunks {
		ch := &d.Chunks[i]
		out := ingest.GivenChunk{Slug: ch.Slug, Title: ch.Title, Text: ch.Text}
		if len(ch.Vectors) > 0 {
			out.Vectors = []store.Vectors{{Name: store.VectorBody, Passages: ch.Vectors}}
		}
		g.Chunks = append(g.Chunks, out)
	}
	if len(g.Chunks) > 0 {
		g.Text = ingest.JoinChunks(g.Chunks)
	}
	return g
}

// storedDocument is a given document in the form that intake.db stores.
type storedDocument struct {
	ID       sheaf.ID       `json:"id"`
	Document *DocumentInput `json:"document"`
}

func (c *Collection) readStored(id sheaf.ID) (doc *DocumentInput, content []byte, err error) {
	err = c.given.file.View(func(tx *intake.Tx) error {
		content = tx.Document(id)
		return nil
	})
	if err == nil {
		doc, err = decodeGiven(id, content)
	}
	return doc, content, err
}

// decodeGiven parses the stored form of a document. If content is nil, the error is fs.ErrNotExist.
func decodeGiven(id sheaf.ID, content []byte) (*DocumentInput, error) {
	if content == nil {
		return nil, fmt.Errorf("read document: the text of the given document %s is missing: %w", id, fs.ErrNotExist)
	}
	var doc storedDocument
	switch err := json.Unmarshal(content, &doc); {
	case err != nil:
		return nil, fmt.Errorf("read document: %w: %s: %w", sheaf.ErrCorrupt, id, err)
	case doc.Document == nil || doc.ID != id:
		return nil, fmt.Errorf("read document: %w: %s: it holds %q", sheaf.ErrCorrupt, id, doc.ID)
	}
	return doc.Document, nil
}

// givenDocuments returns the function for ingest.Options.Kept, which reads given documents of the index in folder. For
// a missing or unreadable document this function returns false, and ingest uses the text in the catalog.
func givenDocuments(folder string) func(doc sheaf.ID, hash catalog.Hash) (ingest.Given, bool, error) {
	file := intake.Open(folder)
	return func(doc sheaf.ID, hash catalog.Hash) (ingest.Given, bool, error) {
		var content []byte
		err := file.View(func(tx *intake.Tx) error {
			if of, ok := tx.Hash(doc); ok && of == hash {
				content = tx.Document(doc)
			}
			return nil
		})
		if content == nil && err == nil {
			content, err = os.ReadFile(filepath.Join(folder, olderDocuments, olderName(doc, hash)))
		}
		var stored *DocumentInput
		if err == nil {
			stored, err = decodeGiven(doc, content)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, sheaf.ErrCorrupt):
			return ingest.Given{}, false, nil
		case err != nil:
			return ingest.Given{}, false, fmt.Errorf("read document: %w", err)
		}
		return stored.toGiven(doc, content), true, nil
	}
}

// wasGiven returns a function that reports whether a program ever gave a document. If no program ever gave documents to
// the index in folder, the function is nil.
func wasGiven(folder string) (func(doc sheaf.ID) bool, error) {
	older, err := olderVersions(folder)
	if err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	ids := map[sheaf.ID]bool{}
	if err := eachGiven(folder, func(id sheaf.ID) { ids[id] = true }); err != nil {
		return nil, err
	}
	if _, err := os.Stat(intake.Open(folder).Path()); older == nil && err != nil {
		return nil, nil
	}
	return func(doc sheaf.ID) bool { return ids[doc] || older[fileKey(doc)] != nil }, nil
}
