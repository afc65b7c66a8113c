package serve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"sheaf"
	"sheaf/backend"
	"sheaf/catalog"
	"sheaf/chunk"
	"sheaf/ingest"
	"sheaf/serve/access"
	"sheaf/vfs"
)

// FreeTree is the tree of documents that belong to no tenant. Every other tree
// of documents that are given belongs to the tenant of its name.
const FreeTree = "api"

// DocumentInput is a document as a caller gives it: a text, or chunks. Patterns
// that begin with @ are those of this name in package serve/api.
type DocumentInput struct {
	Text       string              `json:"text,omitempty" maxLength:"8388608" pattern:"@text" doc:"The whole text; it is cut as a file of the same name would be, as Markdown when the name says nothing."`
	Title      string              `json:"title,omitempty" maxLength:"1000" pattern:"@line" doc:"The title of a document whose text says none."`
	Date       *time.Time          `json:"date,omitempty" doc:"The date of a document whose text says none."`
	Properties map[string]Property `json:"properties,omitempty" maxItems:"100" maxLength:"1000" pattern:"@line" doc:"What is known of it besides, to filter by as prop.NAME: texts, numbers, true and false, or lists of them."`
	Access     []string            `json:"access,omitempty" maxItems:"1000" minLength:"1" maxLength:"64" pattern:"@name" doc:"The people and groups that may see it; public for everybody of its tenant. Without any it is private."`
	Sets       []string            `json:"sets,omitempty" maxItems:"100" minLength:"1" maxLength:"64" pattern:"@name" doc:"The document sets that it is in."`
	Chunks     []ChunkInput        `json:"chunks,omitempty" maxItems:"10000" doc:"The document when it is cut already; then there is no text."`
}

// Property is what a caller says of a document under a name: a value, or a list of
// them. In JSON it is a text, a number, true or false, or a list of these.
type Property struct {
	List   bool
	Values []sheaf.Value
}

// MaxListed is the most values that a property lists.
const MaxListed = 1000

// MarshalJSON implements [json.Marshaler].
func (p Property) MarshalJSON() ([]byte, error) {
	if p.List || len(p.Values) != 1 {
		return json.Marshal(append([]sheaf.Value{}, p.Values...))
	}
	return json.Marshal(p.Values[0])
}

// UnmarshalJSON implements [json.Unmarshaler], for what MarshalJSON wrote.
func (p *Property) UnmarshalJSON(text []byte) error {
	var in any
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	list, ok := in.([]any)
	if !ok {
		list = []any{in}
	}
	*p = Property{List: ok}
	for _, v := range list {
		value, ok := PropertyValue(v)
		if !ok {
			return sheaf.Invalidf("property %s: must be texts, numbers, true or false", text)
		}
		p.Values = append(p.Values, value)
	}
	return nil
}

// PropertyValue is a text, number, or truth value of Go; ok is false for anything else.
func PropertyValue(v any) (value sheaf.Value, ok bool) {
	switch v := v.(type) {
	case string:
		return sheaf.TextValue(v), true
	case float64:
		return sheaf.NumberValue(v), true
	case bool:
		return sheaf.BoolValue(v), true
	}
	return sheaf.Value{}, false
}

// ChunkInput is a chunk as a caller gives it.
type ChunkInput struct {
	Slug    string      `json:"slug,omitempty" maxLength:"100" pattern:"@slug" doc:"What ends its identifier; its number, from 0, when it is left out."`
	Title   string      `json:"title,omitempty" maxLength:"1000" pattern:"@line" doc:"Its title; the document's when it is left out."`
	Text    string      `json:"text" required:"true" minLength:"1" maxLength:"1000000" pattern:"@written" doc:"Its text."`
	Vectors [][]float32 `json:"vectors,omitempty" maxItems:"1000" min:"-1000000" max:"1000000" doc:"Vectors of its passages, of the collection's model and dimension; they are brought to length 1. Without any the model makes them."`
}

// DocumentPatch is what changes of a document beside its text. What is left out
// stays; a list takes the place of the whole list before.
type DocumentPatch struct {
	Title      *string             `json:"title,omitempty" maxLength:"1000" pattern:"@line" doc:"The title of a document whose text says none."`
	Date       **time.Time         `json:"date,omitempty" doc:"The date of a document whose text says none; null takes it away."`
	Properties map[string]Property `json:"properties,omitempty" maxItems:"100" maxLength:"1000" pattern:"@line" doc:"Properties that have another value, by name; an empty list takes one away."`
	Access     *[]string           `json:"access,omitempty" maxItems:"1000" minLength:"1" maxLength:"64" pattern:"@name" doc:"The people and groups that may see it from now on; an empty list makes it private."`
	Sets       *[]string           `json:"sets,omitempty" maxItems:"100" minLength:"1" maxLength:"64" pattern:"@name" doc:"The document sets that it is in from now on."`
}

// onto is a document with the changes of a patch.
func (p *DocumentPatch) onto(d DocumentInput) *DocumentInput {
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
		maps.DeleteFunc(d.Properties, func(old string, _ Property) bool { return strings.EqualFold(old, name) })
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

// Change puts a document, or deletes it when Put is nil.
type Change struct {
	ID  sheaf.ID
	Put *DocumentInput
	// IfMatch is the tag that the document must have, "*" any; "" is no
	// condition. IfNoneMatch is "*" when there must be none, or the tag that it
	// must not have.
	IfMatch, IfNoneMatch string
	// Within are the only sets whose documents may be replaced and deleted, none
	// being all. They are the caller's, filled in by Write and Submit.
	Within []string
}

// Stored is a document as it was stored.
type Stored struct {
	ID      sheaf.ID `json:"id" doc:"The document's identifier."`
	ETag    string   `json:"etag,omitempty" doc:"The tag of this version; absent when it was deleted."`
	Created bool     `json:"created" doc:"Whether there was none before."`
	Deleted bool     `json:"deleted" doc:"Whether it is gone now."`
	Chunks  int      `json:"chunks" doc:"How many chunks it has."`
	Pending string   `json:"pending,omitempty" doc:"What is still to be done for it."`

	version catalog.Hash // before the change; zero for none
	left    bool         // whether it was kept, and the store had not taken it
}

// given is what a collection knows of documents that callers give.
type given struct {
	// turn is held while one change after another is made.
	turn       chan struct{}
	recovering atomic.Bool
	tasks      *tasks

	mu sync.Mutex
	// left are kept documents that the store did not take when this process began,
	// by identifier.
	left map[sheaf.ID]leftDocument
}

func newGiven() given {
	return given{turn: make(chan struct{}, 1), tasks: newTasks(), left: map[sheaf.ID]leftDocument{}}
}

func (g *given) counts() TaskCounts { return g.tasks.counts() }

// Write makes changes for a caller, all or none, and returns when they are
// durable and can be found. A store without transactions may take a part of them
// only, which is a [RejectedError]. Documents are in trees without a folder: a caller
// writes to the tree of their tenant, or FreeTree when they have none.
func (c *Collection) Write(ctx context.Context, grant access.Grant, changes []Change) ([]Stored, error) {
	if err := c.allowed(&grant, changes); err != nil {
		return nil, err
	}
	if err := c.settle(ctx, changes); err != nil {
		return nil, err
	}
	return c.write(ctx, changes)
}

// Patch changes what is known of a document beside its text, as Write does, when its
// tag is ifMatch; "*" is any, "" no condition. What the caller may not see cannot be
// changed so, since a patch could make it readable: it is the sheaf.ErrNotFound of a
// document that does not exist.
func (c *Collection) Patch(ctx context.Context, grant access.Grant, id sheaf.ID, p *DocumentPatch, ifMatch string) (Stored, error) {
	changes := []Change{{ID: id, IfMatch: ifMatch}}
	if err := c.allowed(&grant, changes); err != nil {
		return Stored{}, err
	}
	if err := validProperties(p.Properties); err != nil {
		return Stored{}, err
	}
	if p.Sets != nil {
		if err := mayPutIn(&grant, *p.Sets); err != nil {
			return Stored{}, err
		}
	}
	if err := c.settle(ctx, changes); err != nil {
		return Stored{}, err
	}
	give, err := c.take(ctx)
	if err != nil {
		return Stored{}, err
	}
	defer give()
	if changes[0].Put, err = c.patched(&grant, id, p); err != nil {
		return Stored{}, err
	}
	stored, err := c.carryOut(ctx, changes)
	if err != nil {
		return Stored{}, err
	}
	return stored[0], nil
}

// allowed reports whether a caller may make changes; it fills in the sets that a
// caller is bound to.
func (c *Collection) allowed(grant *access.Grant, changes []Change) error {
	if c.o.Ingest == nil || c.o.Documents == "" {
		return fmt.Errorf("write to %s: %w: it was opened for reading only", c.o.Name, sheaf.ErrUnsupported)
	}
	if !grant.May(access.ScopeIngest) {
		return fmt.Errorf("%w: the key lacks the scope ingest", ErrForbidden)
	}
	view := c.o.Catalog.View()
	defer view.Close()
	settings := view.Settings()
	seen := map[sheaf.ID]bool{}
	for i := range changes {
		ch := &changes[i]
		if err := validID(ch.ID); err != nil {
			return inChange(i, err)
		}
		tree := ch.ID.Tree()
		own := cmp.Or(grant.Tenant, FreeTree)
		switch {
		case grant.Tenant != access.All && tree != own:
			return fmt.Errorf("%w: this key writes documents of the tree %s only", ErrForbidden, own)
		case settings.Root(tree) != "":
			return fmt.Errorf("%w: documents of the tree %s come from files", ErrForbidden, tree)
		case seen[ch.ID]:
			return inChange(i, conflictError("id", "%s is changed twice", ch.ID))
		}
		seen[ch.ID] = true
		ch.Within = grant.Sets
		if ch.Put == nil {
			continue
		}
		if err := ch.Put.valid(settings.Dims); err != nil {
			return inChange(i, err)
		}
		if len(ch.Put.Sets) == 0 {
			ch.Put.Sets = slices.Clone(grant.Sets)
		}
		if err := mayPutIn(grant, ch.Put.Sets); err != nil {
			return err
		}
	}
	return nil
}

// mayPutIn reports whether a caller may put documents into these sets and no others.
func mayPutIn(grant *access.Grant, sets []string) error {
	outside := func(set string) bool { return !slices.Contains(grant.Sets, set) }
	if len(grant.Sets) > 0 && (len(sets) == 0 || slices.ContainsFunc(sets, outside)) {
		return fmt.Errorf("%w: this key writes documents of its sets only", ErrForbidden)
	}
	return nil
}

// Dims is how many dimensions the vectors of chunks have; 0 when there are none.
func (c *Collection) Dims() int {
	view := c.o.Catalog.View()
	defer view.Close()
	return view.Settings().Dims
}

// inChange says in which change a fault lies.
func inChange(i int, err error) error {
	var at *FieldError
	if errors.As(err, &at) {
		at.Change = i
	}
	return err
}

// maxIDLength is how many characters the identifier of a given document has at
// most.
const maxIDLength = 1024

// validID returns an error unless a caller may call a document so: a tree, a
// colon, and a relative path whose parts a file could have.
func validID(id sheaf.ID) error {
	tree, path, ok := strings.Cut(string(id), ":")
	if !ok || tree == "" || path == "" {
		return fieldError("id", "%q: must be TREE:PATH, as %s:guides/git.md", id, FreeTree)
	}
	if utf8.RuneCountInString(string(id)) > maxIDLength || !utf8.ValidString(string(id)) || strings.ContainsFunc(string(id), unicode.IsControl) || strings.ContainsAny(string(id), `\#`) {
		return fieldError("id", "%q: must be valid UTF-8 of at most %d characters without control characters, backslashes and #", id, maxIDLength)
	}
	if err := access.ValidName("id", tree); err != nil || tree == access.All {
		return fieldError("id", "%q: its tree must not be *, nor begin or end with white space", id)
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." || strings.TrimSpace(part) != part {
			return fieldError("id", "%q: the parts of its path must not be empty, . or .., nor begin or end with white space", id)
		}
	}
	return nil
}

// valid checks what the rules of single fields do not say, and brings vectors to
// length 1.
func (d *DocumentInput) valid(dims int) error {
	switch {
	case d.Text != "" && len(d.Chunks) > 0:
		return fieldError("chunks", "give text or chunks, not both")
	case d.Text == "" && len(d.Chunks) == 0:
		return fieldError("text", "give text or chunks")
	}
	if err := validProperties(d.Properties); err != nil {
		return err
	}
	slugs := map[string]bool{}
	for i := range d.Chunks {
		ch := &d.Chunks[i]
		slug := cmp.Or(ch.Slug, fmt.Sprint(i))
		if slugs[slug] {
			return conflictError(fmt.Sprintf("chunks/%d/slug", i), "the slug %s is there twice", slug)
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
				return fieldError(field, "it has no length: a number of it must be at least %v, or at most -%v", LeastPart, LeastPart)
			}
		}
	}
	return nil
}

// validProperties checks the names of properties, which compare without regard to
// case.
func validProperties(properties map[string]Property) error {
	names := sortedNames(properties)
	for i, name := range names {
		if err := access.ValidName("properties", name); err != nil {
			return fieldError("properties", "%v", err)
		}
		if name := strings.ToLower(name); chunk.IsAccessProperty(name) {
			use := "say it with the field " + name
			if name == ingest.PropertyTenant {
				use = "the tree of the identifier says it"
			}
			return fieldError("properties/"+pointerEscapes.Replace(names[i]), "who may see a document is no property: %s", use)
		}
		if k := slices.IndexFunc(names[:i], func(other string) bool { return strings.EqualFold(other, name) }); k >= 0 {
			return conflictError("properties/"+pointerEscapes.Replace(name), "it differs from %s in nothing but the case: give one of them", names[k])
		}
	}
	return nil
}

// LeastPart is how far from 0 the largest number of a vector must be: below it a
// vector has no length.
const LeastPart = 1e-6

// normalize brings a vector to length 1, in place; false when it has none.
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

// take waits until it is the caller's turn to write; give ends that. A long run over
// the folders ends first; the caller waits as long as they will, and nothing is
// changed when they do not.
func (c *Collection) take(ctx context.Context) (give func(), err error) {
	select {
	case c.given.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: other documents are being written", sheaf.ErrUnavailable)
	}
	if err := c.o.Ingest.Turn.Take(ctx); err != nil {
		<-c.given.turn
		return nil, err
	}
	return func() { c.o.Ingest.Turn.Give(); <-c.given.turn }, nil
}

// write makes allowed changes.
func (c *Collection) write(ctx context.Context, changes []Change) ([]Stored, error) {
	give, err := c.take(ctx)
	if err != nil {
		return nil, err
	}
	defer give()
	return c.carryOut(ctx, changes)
}

// carryOut makes allowed changes. It must be the caller's turn to write.
func (c *Collection) carryOut(ctx context.Context, changes []Change) ([]Stored, error) {
	out := make([]Stored, len(changes))
	if err := c.check(changes, out); err != nil {
		return nil, err
	}
	// From here on it is done whole, whether the caller waits or not.
	ctx = context.WithoutCancel(ctx)
	var puts []ingest.Given
	var deletes []sheaf.ID
	names := make([]versions, len(changes))
	if err := os.MkdirAll(c.o.Documents, 0o700); err != nil {
		return nil, fmt.Errorf("write documents: %w", err)
	}
	var err error
	for i := range changes {
		ch := &changes[i]
		if out[i].version != (catalog.Hash{}) {
			names[i].old = fileName(ch.ID, out[i].version)
		} else if out[i].left {
			names[i].old = c.given.fileLeft(ch.ID)
		}
		if ch.Put == nil {
			deletes = append(deletes, ch.ID)
			continue
		}
		var content []byte
		var g ingest.Given
		if content, g, err = encodeGiven(ch.ID, ch.Put); err != nil {
			break
		}
		names[i].fresh = fileName(ch.ID, g.Hash)
		if _, missing := os.Lstat(filepath.Join(c.o.Documents, names[i].fresh)); missing == nil && names[i].old == "" {
			names[i].old = names[i].fresh // of an index that is being made anew
		}
		if err = writeDurably(c.o.Documents, names[i].fresh, content); err != nil {
			break
		}
		puts = append(puts, g)
	}
	// The files before stay until the catalog names the ones after: whenever this
	// ends, what it names is there.
	if err == nil {
		err = c.syncDocuments()
	}
	if err == nil {
		err = c.index(ctx, puts, deletes)
	}
	var partial *backend.PartialError
	if errors.As(err, &partial) {
		err = c.rejected(ctx, changes, names, partial)
	}
	if err != nil {
		return nil, errors.Join(err, c.refused(changes, names))
	}
	for i := range names {
		if err := c.removeFile(names[i].old, names[i].fresh); err != nil {
			return nil, err
		}
	}
	if err := c.syncDocuments(); err != nil {
		return nil, err
	}
	c.given.changed(changes)
	return out, c.describe(changes, out)
}

// versions are the files of a document before and after a change, "" for none.
type versions struct{ old, fresh string }

// refused removes the files of changes that were not made, and of what is replaced or
// deleted where the catalog says that they were all the same.
func (c *Collection) refused(changes []Change, names []versions) error {
	view := c.o.Catalog.View()
	defer view.Close()
	for i, n := range names {
		rec, err := view.Record(changes[i].ID)
		switch {
		case err != nil && !errors.Is(err, sheaf.ErrNotFound):
			return err // both stay: see missing
		case err == nil && fileName(changes[i].ID, rec.File.Hash) == n.fresh, err != nil && changes[i].Put == nil && c.given.fileLeft(changes[i].ID) == "":
			err = c.removeFile(n.old, n.fresh)
		default:
			err = c.removeFile(n.fresh, n.old)
		}
		if err != nil {
			return err
		}
	}
	return c.syncDocuments()
}

// removeFile removes the file of a document, unless it is keep or none.
func (c *Collection) removeFile(name, keep string) error {
	if name == "" || name == keep {
		return nil
	}
	if err := os.Remove(filepath.Join(c.o.Documents, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write documents: %w", err)
	}
	return nil
}

func (c *Collection) syncDocuments() error { return vfs.Disk{}.SyncDir(c.o.Documents) }

// index brings changes into catalog and store, in one commit. It must be the
// caller's turn to write.
func (c *Collection) index(ctx context.Context, puts []ingest.Given, deletes []sheaf.ID) error {
	o := *c.o.Ingest
	o.Progress, o.Turn, o.CommitBytes = nil, nil, 1
	for i := range puts {
		o.CommitBytes += int64(len(puts[i].Text)) // one commit
		if !slices.ContainsFunc(o.Trees, func(t catalog.Tree) bool { return t.Name == puts[i].Tree }) {
			o.Trees = append(slices.Clip(o.Trees), catalog.Tree{Name: puts[i].Tree})
		}
	}
	_, err := ingest.Change(ctx, o, puts, deletes)
	return err
}

// patched is a document as it is kept, with the changes of a patch. It must be the
// caller's turn to write.
func (c *Collection) patched(grant *access.Grant, id sheaf.ID, p *DocumentPatch) (*DocumentInput, error) {
	view := c.o.Catalog.View()
	defer view.Close()
	rec, err := view.Record(id)
	if errors.Is(err, sheaf.ErrNotFound) || err == nil && !sees(grant, rec) { // as if there were none
		return nil, notFound(id)
	}
	if err != nil {
		return nil, err
	}
	_, stored, err := c.stored(fileName(id, rec.File.Hash))
	if err != nil {
		return nil, err
	}
	put := p.onto(*stored.Document)
	if n := len(put.Properties); n > maxProperties {
		return nil, conflictError("properties", "the document then has %d properties: at most %d are allowed", n, maxProperties)
	}
	return put, nil
}

// maxProperties is the most properties of a document, as DocumentInput says.
const maxProperties = 100

// stored reads a document as it is kept.
func (c *Collection) stored(name string) ([]byte, storedDocument, error) {
	var stored storedDocument
	content, err := os.ReadFile(filepath.Join(c.o.Documents, name))
	if err != nil {
		return nil, stored, err
	}
	if err := json.Unmarshal(content, &stored); err != nil || stored.Document == nil {
		return nil, stored, fmt.Errorf("%w: %s: %w", sheaf.ErrCorrupt, name, err)
	}
	return content, stored, nil
}

// check holds the changes' conditions against the documents as they are.
func (c *Collection) check(changes []Change, out []Stored) error {
	view := c.o.Catalog.View()
	defer view.Close()
	for i := range changes {
		ch := &changes[i]
		rec, err := view.Record(ch.ID)
		if err != nil && !errors.Is(err, sheaf.ErrNotFound) {
			return err
		}
		there := err == nil
		tag := ""
		var version catalog.Hash
		if there {
			tag, version = ETag(rec), rec.File.Hash
		}
		left := ""
		if !there {
			left = c.given.fileLeft(ch.ID)
		}
		outside := there && !ch.within(rec)
		if left != "" && len(ch.Within) > 0 {
			_, kept, err := c.stored(left)
			if err != nil {
				return err
			}
			outside = !slices.ContainsFunc(ch.Within, func(set string) bool { return slices.Contains(kept.Document.Sets, set) })
		}
		switch {
		case outside && ch.Put == nil: // as if there were none
			return notFound(ch.ID)
		case outside:
			return fmt.Errorf("%w: there is a document %s that is none of this key's", ErrForbidden, ch.ID)
		case ch.Put == nil && !there && left == "": // whatever the conditions: RFC 9110, section 13.2.1
			return notFound(ch.ID)
		case ch.IfMatch == "*" && !there, ch.IfMatch != "" && ch.IfMatch != "*" && !HasTag(ch.IfMatch, tag):
			return inChange(i, unmet("if_match", ch.ID))
		case there && (ch.IfNoneMatch == "*" || ch.IfNoneMatch != "" && HasTag(ch.IfNoneMatch, tag)):
			return inChange(i, unmet("if_none_match", ch.ID))
		}
		out[i] = Stored{ID: ch.ID, Created: !there && ch.Put != nil, Deleted: ch.Put == nil, version: version, left: left != ""}
	}
	return nil
}

// within reports whether the caller may replace and delete a document.
func (ch *Change) within(rec *catalog.Record) bool {
	return sees(&access.Grant{Tenant: access.All, Access: []string{access.All}, Sets: ch.Within}, rec)
}

// sees reports whether a grant lets a document through.
func sees(grant *access.Grant, rec *catalog.Record) bool {
	filter := grant.Filter()
	return filter == nil || filter.Match(&backend.Chunk{Columns: ingest.Columns(&rec.Document, rec.Date)})
}

// HasTag reports whether a list of tags, as the header If-Match has it, holds one.
func HasTag(list, tag string) bool {
	for part := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(part) == tag && tag != "" {
			return true
		}
	}
	return false
}

// describe says what became of the documents.
func (c *Collection) describe(changes []Change, out []Stored) error {
	view := c.o.Catalog.View()
	defer view.Close()
	pending := view.Pending()
	for i := range changes {
		if changes[i].Put == nil {
			continue
		}
		rec, err := view.Record(changes[i].ID)
		if err != nil {
			return err
		}
		out[i].ETag, out[i].Chunks, out[i].Pending = ETag(rec), len(rec.Document.Chunks), pending[changes[i].ID]
	}
	return nil
}

// storedDocument is a document on disk.
type storedDocument struct {
	ID       sheaf.ID       `json:"id"`
	Document *DocumentInput `json:"document"`
}

// encodeGiven is a document as it is kept on disk, and as it is indexed.
func encodeGiven(id sheaf.ID, d *DocumentInput) ([]byte, ingest.Given, error) {
	content, err := json.Marshal(storedDocument{id, d})
	if err != nil {
		return nil, ingest.Given{}, fmt.Errorf("write %s: %w", id, err)
	}
	return content, d.given(id, content), nil
}

// given is the document as it is indexed; content is as it is kept.
func (d *DocumentInput) given(id sheaf.ID, content []byte) ingest.Given {
	tree, path, _ := strings.Cut(string(id), ":")
	g := ingest.Given{Tree: tree, Path: path, Title: d.Title, Text: []byte(d.Text), Hash: catalog.HashOf(content)}
	if d.Date != nil {
		g.Modified = *d.Date
	}
	texts := func(list []string) []sheaf.Value {
		values := make([]sheaf.Value, len(list))
		for i, t := range list {
			values[i] = sheaf.TextValue(t)
		}
		return values
	}
	// All three are always there, so that a text's own frontmatter cannot say
	// who may see it.
	tenant := []string{}
	if tree != FreeTree {
		tenant = []string{tree}
	}
	g.Properties = []sheaf.Property{
		{Name: ingest.PropertyTenant, Values: texts(tenant)},
		{Name: ingest.PropertyAccess, List: true, Values: texts(d.Access)},
		{Name: ingest.PropertySets, List: true, Values: texts(d.Sets)},
	}
	for _, name := range sortedNames(d.Properties) {
		if !slices.ContainsFunc(g.Properties[:3], func(p sheaf.Property) bool { return strings.EqualFold(p.Name, name) }) {
			g.Properties = append(g.Properties, sheaf.Property{Name: name, List: d.Properties[name].List, Values: d.Properties[name].Values})
		}
	}
	for i := range d.Chunks {
		ch := &d.Chunks[i]
		out := ingest.GivenChunk{Slug: ch.Slug, Title: ch.Title, Text: ch.Text}
		if len(ch.Vectors) > 0 {
			out.Vectors = []backend.Vectors{{Name: backend.VectorBody, Passages: ch.Vectors}}
		}
		g.Chunks = append(g.Chunks, out)
	}
	if len(g.Chunks) > 0 {
		g.Text = ingest.JoinChunks(g.Chunks)
	}
	return g
}

func sortedNames(m map[string]Property) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// fileKey begins the names of a document's files: a hash, since identifiers may
// differ in what a file system does not tell apart.
func fileKey(id sheaf.ID) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

func fileName(id sheaf.ID, hash catalog.Hash) string {
	return fileKey(id) + "-" + hex.EncodeToString(hash[:]) + ".json"
}

// writeDurably puts a whole file into a folder; it is there after a crash once
// the folder is synced too.
func writeDurably(dir, name string, content []byte) error {
	tmp, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(content)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if err := os.Rename(tmp.Name(), filepath.Join(dir, name)); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// WhileWriting runs f while nothing else writes to the collection: neither
// documents that are given nor runs over its folders.
func (c *Collection) WhileWriting(ctx context.Context, f func()) error {
	if c.o.Ingest == nil {
		return fmt.Errorf("write to %s: %w: it was opened for reading only", c.o.Name, sheaf.ErrUnsupported)
	}
	if err := c.o.Ingest.Turn.Take(ctx); err != nil {
		return err
	}
	defer c.o.Ingest.Turn.Give()
	f()
	return nil
}
