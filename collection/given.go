package collection

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"sheaf"
	"sheaf/collection/access"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/store"
)

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
	owner      owner
	recovering atomic.Bool
	// full says that recovering waits for space: what is there can be searched meanwhile.
	full atomic.Bool
	// broken says that a change failed of which the store may have a part.
	broken chan struct{}
	tasks  *tasks

	mu sync.Mutex
	// left are kept documents that the store did not take when this process began,
	// by identifier.
	left map[sheaf.ID]leftDocument
	// unreadable are files of documents and tasks, with the reason.
	unreadable map[string]string
}

func newGiven() given {
	return given{turn: make(chan struct{}, 1), broken: make(chan struct{}, 1), tasks: newTasks(),
		left: map[sheaf.ID]leftDocument{}, unreadable: map[string]string{}}
}

// breaks says that the store may have a part of a change that failed.
func (g *given) breaks() {
	select {
	case g.broken <- struct{}{}:
	default: // it is said already
	}
}

func (g *given) counts() TaskCounts { return g.tasks.counts() }

// Write makes changes for a caller, all or none, and returns when they are
// durable and can be found. A store without transactions may take a part of them
// only, which is a [RejectedError]. Documents are in trees without a folder: a caller
// writes to the tree of their tenant, or catalog.FreeTree when they have none; a tenant of that
// name has no tree.
func (c *Collection) Write(ctx context.Context, grant access.Grant, changes []Change) ([]Stored, error) {
	changes, err := c.allowed(&grant, changes)
	if err != nil {
		return nil, err
	}
	if err := c.settle(ctx, changes); err != nil {
		return nil, err
	}
	return c.write(ctx, changes)
}

// Patch changes what is known of a document beside its text, as Write does: of the one that
// ch names, on the conditions of ch. What the caller may not see cannot be
// changed so, since a patch could make it readable: it is the sheaf.ErrNotFound of a
// document that does not exist.
func (c *Collection) Patch(ctx context.Context, grant access.Grant, ch Change, p *DocumentPatch) (Stored, error) {
	ch.Put = nil // it is made of what is kept, once the turn to write is the caller's
	changes, err := c.allowed(&grant, []Change{ch})
	if err != nil {
		return Stored{}, err
	}
	if p.Date != nil {
		if err := validDate(*p.Date); err != nil {
			return Stored{}, err
		}
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
	once := onceOf(ctx)
	// What was made before may have taken the document out of their sight.
	left, err := c.left(once.Before)
	if err != nil {
		return Stored{}, err
	}
	if stored := once.Before.results(); len(stored) == 1 && len(left) == 0 {
		err := c.describe(stored)
		return stored[0], err
	}
	if changes[0].Put, err = c.patched(&grant, ch.ID, p); err != nil {
		return Stored{}, err
	}
	stored, err := c.carryOut(ctx, changes, once.Keep)
	if err != nil {
		return Stored{}, err
	}
	return stored[0], nil
}

// allowed is changes as a caller may make them: with the sets that they are bound to, and
// vectors of length 1. What was given stays as it is.
func (c *Collection) allowed(grant *access.Grant, given []Change) ([]Change, error) {
	if c.o.Ingest == nil || c.o.Documents == "" {
		return nil, fmt.Errorf("write to %s: %w: it was opened for reading only", c.o.Name, sheaf.ErrUnsupported)
	}
	if err := c.good(grant); err != nil {
		return nil, err
	}
	if !grant.May(access.ScopeIngest) {
		return nil, fmt.Errorf("%w: the key lacks the scope ingest", ErrForbidden)
	}
	view := c.o.Catalog.View()
	defer view.Close()
	settings := view.Settings()
	changes, seen := slices.Clone(given), map[sheaf.ID]bool{}
	for i := range changes {
		ch := &changes[i]
		if err := validID(ch.ID); err != nil {
			return nil, inChange(i, err)
		}
		tree := ch.ID.Tree()
		own := cmp.Or(grant.Tenant, catalog.FreeTree)
		mayNot := MayWrite(grant.Tenant, settings)
		switch {
		case mayNot != nil:
			return nil, inChange(i, forbidden("id", "%w", mayNot))
		case grant.Tenant != access.All && tree != own:
			return nil, inChange(i, forbidden("id", "this key writes documents of the tree %s only", own))
		case settings.Root(tree) != "":
			return nil, inChange(i, forbidden("id", "documents of the tree %s come from files", tree))
		case seen[ch.ID]:
			return nil, inChange(i, conflictError("id", "%s is changed twice", ch.ID))
		}
		seen[ch.ID] = true
		ch.Within = grant.Sets
		if ch.Put == nil {
			continue
		}
		ch.Put = ch.Put.own()
		if err := ch.Put.valid(settings.Dims); err != nil {
			return nil, inChange(i, err)
		}
		if len(ch.Put.Sets) == 0 {
			ch.Put.Sets = slices.Clone(grant.Sets)
		}
		if err := mayPutIn(grant, ch.Put.Sets); err != nil {
			return nil, inChange(i, err)
		}
	}
	return changes, nil
}

// MayWrite is why a tenant can write no documents to a collection of these settings; nil when
// it can. Documents of a tenant are in the tree of its name: there is none for a name that no
// identifier begins with, that of a folder, and [catalog.FreeTree], whose documents belong to no tenant.
// The name "" is no tenant, whose documents are in [catalog.FreeTree], access.All every one.
func MayWrite(tenant string, settings catalog.Settings) error {
	switch {
	case tenant == "" && settings.Root(catalog.FreeTree) != "": // as an earlier version called it
		return fmt.Errorf("who has no tenant cannot write, since documents of the tree %s come from files: sheaf index "+
			"--rebuild gives these another one", catalog.FreeTree)
	case tenant == "", tenant == access.All:
		return nil
	case tenant == catalog.FreeTree:
		return fmt.Errorf("a tenant of this name cannot write, since documents of the tree %s belong to none",
			catalog.FreeTree)
	case settings.Root(tenant) != "":
		return fmt.Errorf("a tenant of this name cannot write, since documents of the tree %s come from files", tenant)
	case validID(sheaf.DocumentID(tenant, "name")) != nil || strings.Contains(tenant, ":"):
		return fmt.Errorf("a tenant of this name cannot write, since the identifier of no document can begin with it: a " +
			"colon ends it there, and # and backslashes are in none")
	}
	return nil
}

// mayPutIn reports whether a caller may put documents into these sets and no others.
func mayPutIn(grant *access.Grant, sets []string) error {
	outside := func(set string) bool { return !slices.Contains(grant.Sets, set) }
	if len(grant.Sets) > 0 && (len(sets) == 0 || slices.ContainsFunc(sets, outside)) {
		return forbidden("sets", "this key writes documents of its sets only")
	}
	return nil
}

// Dims is how many dimensions the vectors of chunks have; 0 when there are none.
func (c *Collection) Dims() int {
	view := c.o.Catalog.View()
	defer view.Close()
	return view.Settings().Dims
}

// Remote reports whether a search asks a store or a model on another machine.
func (c *Collection) Remote() bool {
	return c.o.Distant || c.o.Model == nil && c.o.Embed != nil || c.o.Rerank != nil
}

// inChange says in which change a fault lies.
func inChange(i int, err error) error {
	var at *FieldError
	if errors.As(err, &at) {
		at.Change = i
	}
	return err
}

// take waits until the caller may write, and loads what was written last; give ends that. It waits
// for a long run over the folders, until ctx ends.
func (c *Collection) take(ctx context.Context) (give func(), err error) {
	select {
	case c.given.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: other documents are being written", sheaf.ErrUnavailable)
	}
	undo := []func(){func() { <-c.given.turn }}
	give = func() {
		for _, f := range slices.Backward(undo) {
			f()
		}
	}
	if err = c.o.Ingest.Writing.Lock(ctx); err == nil {
		undo = append(undo, c.o.Ingest.Writing.Unlock)
		err = c.own()
	}
	if err == nil {
		undo = append(undo, c.disown)
		err = c.o.Catalog.Follow()
	}
	if err != nil {
		give()
		return nil, err
	}
	return give, nil
}

// write makes allowed changes.
func (c *Collection) write(ctx context.Context, changes []Change) ([]Stored, error) {
	give, err := c.take(ctx)
	if err != nil {
		return nil, err
	}
	defer give()
	once := onceOf(ctx)
	return c.carryOutOnce(ctx, changes, once.Before, once.Keep)
}

// carryOut makes allowed changes; begins, unless it is nil, is told before what they will
// have done. It must be the caller's turn to write.
func (c *Collection) carryOut(ctx context.Context, changes []Change, begins func(Begun) error) ([]Stored, error) {
	out := make([]Stored, len(changes))
	if err := c.check(changes, out); err != nil {
		return nil, err
	}
	files, names, err := c.filesOf(changes, out)
	if err != nil {
		return nil, err
	}
	if begins != nil {
		if err := begins(beginning(out, files)); err != nil {
			return nil, err
		}
	}
	// From here on it is done whole, whether the caller waits or not.
	ctx = context.WithoutCancel(ctx)
	if err := (vfs.Disk{}).MkdirAll(c.o.Documents); err != nil {
		return nil, fmt.Errorf("write documents: %w", err)
	}
	if err := c.beginBatch(names); err != nil {
		return nil, err
	}
	var puts []ingest.Given
	var deletes []sheaf.ID
	for i := range changes {
		if changes[i].Put == nil {
			deletes = append(deletes, changes[i].ID)
			continue
		}
		puts = append(puts, files[i].given)
		if err == nil {
			err = vfs.WriteFile(filepath.Join(c.o.Documents, names[i].Fresh), files[i].content, 0)
		}
	}
	// The files before stay until the catalog names the ones after: whenever this
	// ends, what it names is there.
	if err == nil {
		err = c.syncDocuments()
	}
	if err == nil {
		err = c.index(ctx, puts, deletes)
	}
	var partial *store.PartialError
	if errors.As(err, &partial) {
		err = c.rejected(ctx, changes, names, partial)
	}
	if err != nil {
		err = errors.Join(err, c.refused(names))
		c.given.breaks()
		return nil, err
	}
	for _, n := range names {
		if err := c.removeFile(n.Old, n.Fresh); err != nil {
			return nil, err
		}
	}
	if err := c.endBatch(); err != nil {
		return nil, err
	}
	c.given.changed(changes)
	return out, c.describe(out)
}

// versions are the files of a document before and after a change, "" for none.
type versions struct {
	ID    sheaf.ID `json:"id"`
	Old   string   `json:"old,omitempty"`
	Fresh string   `json:"fresh,omitempty"`
}

// givenFile is a document as it is kept and as it is indexed.
type givenFile struct {
	content []byte
	given   ingest.Given
}

// filesOf are the files that changes write, and those that they take the place of.
func (c *Collection) filesOf(changes []Change, out []Stored) ([]givenFile, []versions, error) {
	files, names := make([]givenFile, len(changes)), make([]versions, len(changes))
	for i := range changes {
		ch, n := &changes[i], &names[i]
		n.ID = ch.ID
		if out[i].version != (catalog.Hash{}) {
			n.Old = fileName(ch.ID, out[i].version)
		} else if out[i].left {
			n.Old = c.given.fileLeft(ch.ID)
		}
		if ch.Put == nil {
			continue
		}
		var err error
		if files[i].content, files[i].given, err = encodeGiven(ch.ID, ch.Put); err != nil {
			return nil, nil, err
		}
		n.Fresh = fileName(ch.ID, files[i].given.Hash)
		if _, missing := os.Lstat(filepath.Join(c.o.Documents, n.Fresh)); missing == nil && n.Old == "" {
			n.Old = n.Fresh // of an index that is being made anew
		}
	}
	return files, names, nil
}

// beginning is what changes will have done, whose results and files these are.
func beginning(results []Stored, files []givenFile) Begun {
	b := Begun{Changes: make([]BegunChange, len(results))}
	for i := range results {
		b.Changes[i].Stored = results[i]
		if !results[i].Deleted {
			b.Changes[i].Hash = hex.EncodeToString(files[i].given.Hash[:])
		}
	}
	return b
}

// refused removes the files of changes that were not made, and of what is replaced or
// deleted where the catalog says that they were all the same. It must be the caller's
// turn to write.
func (c *Collection) refused(names []versions) error {
	view := c.o.Catalog.View()
	defer view.Close()
	for _, n := range names {
		rec, err := view.Record(n.ID)
		switch {
		case err != nil && !errors.Is(err, sheaf.ErrNotFound):
			return err // both stay: see missing
		case err == nil && fileName(n.ID, rec.File.Hash) == n.Fresh, err != nil && n.Fresh == "" &&
			c.given.fileLeft(n.ID) == "":
			err = c.removeFile(n.Old, n.Fresh)
		default:
			err = c.removeFile(n.Fresh, n.Old)
		}
		if err != nil {
			return err
		}
	}
	return c.endBatch()
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
	o.Progress, o.Writing, o.CommitBytes = nil, nil, 1
	for i := range puts {
		o.CommitBytes += int64(len(puts[i].Text)) // one commit
	}
	_, err := ingest.Change(ctx, o, puts, deletes)
	c.seen(err)
	return fromBehind(store.Gone(err))
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
		return nil, conflictError("properties", "the document then has %d properties: at most %d are allowed", n,
			maxProperties)
	}
	return put, nil
}

// stored reads a document as it is kept.
func (c *Collection) stored(name string) ([]byte, storedDocument, error) {
	return readStored(c.o.Documents, name)
}

func readStored(dir, name string) ([]byte, storedDocument, error) {
	var stored storedDocument
	content, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil, stored, err
	}
	switch err := json.Unmarshal(content, &stored); {
	case err != nil:
		return nil, stored, fmt.Errorf("read document: %w: %s: %w", sheaf.ErrCorrupt, filepath.Join(dir, name), err)
	case stored.Document == nil || !strings.HasPrefix(name, fileKey(stored.ID)+"-"):
		return nil, stored, fmt.Errorf("read document: %w: %s: it holds %q", sheaf.ErrCorrupt, filepath.Join(dir, name),
			stored.ID)
	}
	return content, stored, nil
}

// Kept finds documents that were given as they are kept in a folder, for ingest.Options.Kept.
// Of one that is not there, or cannot be read, the catalog's text must do.
func Kept(dir string) func(doc sheaf.ID, hash catalog.Hash) (ingest.Given, bool, error) {
	return func(doc sheaf.ID, hash catalog.Hash) (ingest.Given, bool, error) {
		content, stored, err := readStored(dir, fileName(doc, hash))
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, sheaf.ErrCorrupt):
			return ingest.Given{}, false, nil
		case err != nil:
			return ingest.Given{}, false, fmt.Errorf("read document: %w", err)
		}
		return stored.Document.given(doc, content), true, nil
	}
}

// KeptIn reports of documents that were given whether some version of them is kept in a folder,
// as it is now; of one that there is not none is.
func KeptIn(dir string) (func(doc sheaf.ID) bool, error) {
	names, err := vfs.Disk{}.List(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	keys := map[string]bool{}
	for _, name := range names {
		if key, _, ok := strings.Cut(name, "-"); ok {
			keys[key] = true
		}
	}
	return func(doc sheaf.ID) bool { return keys[fileKey(doc)] }, nil
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
			return inChange(i, &FieldError{Field: "id", Err: notFound(ch.ID)})
		case outside:
			return inChange(i, forbidden("id", "there is a document %s that is none of this key's", ch.ID))
		case ch.Put == nil && !there && left == "": // whatever the conditions: RFC 9110, section 13.2.1
			return inChange(i, &FieldError{Field: "id", Err: notFound(ch.ID)})
		case ch.IfMatch == "*" && !there, ch.IfMatch != "" && ch.IfMatch != "*" && !hasTag(ch.IfMatch, tag):
			if !there {
				return inChange(i, unmet("if_match", "there is no document %s", ch.ID))
			}
			return inChange(i, unmet("if_match", "%s is another version by now: read it again", ch.ID))
		case there && (ch.IfNoneMatch == "*" || ch.IfNoneMatch != "" && hasWeakTag(ch.IfNoneMatch, tag)):
			return inChange(i, unmet("if_none_match", "there is a document %s", ch.ID))
		}
		out[i] = Stored{ID: ch.ID, Created: !there && ch.Put != nil, Deleted: ch.Put == nil, version: version,
			left: left != ""}
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
	return filter == nil || filter.Match(&store.Chunk{Columns: ingest.Columns(&rec.Document, rec.Date)})
}

// hasTag reports whether a list of tags, as the header If-Match has it, holds one.
func hasTag(list, tag string) bool {
	for part := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(part) == tag && tag != "" {
			return true
		}
	}
	return false
}

// hasWeakTag reports whether a list of tags holds one, in its weak form or not: so
// If-None-Match compares them (RFC 9110, section 13.1.2).
func hasWeakTag(list, tag string) bool { return hasTag(strings.ReplaceAll(list, "W/", ""), tag) }

// Met is an error that wraps [ErrPrecondition] unless the header If-Match of a caller, "" for
// none, holds for a document.
func Met(ifMatch string, d *Document) error {
	if ifMatch == "" || ifMatch == "*" || hasTag(ifMatch, d.ETag) {
		return nil
	}
	return unmet("if_match", "%s is another version by now", d.ID)
}

// Unchanged reports whether a caller with a header If-None-Match has what tag names,
// which may be weak itself.
func Unchanged(ifNoneMatch, tag string) bool {
	return strings.TrimSpace(ifNoneMatch) == "*" || hasWeakTag(ifNoneMatch, strings.TrimPrefix(tag, "W/"))
}

// describe says what became of the documents.
func (c *Collection) describe(out []Stored) error {
	view := c.o.Catalog.View()
	defer view.Close()
	pending := view.Pending()
	for i := range out {
		if out[i].Deleted {
			continue
		}
		rec, err := view.Record(out[i].ID)
		if err != nil {
			return err
		}
		out[i].ETag, out[i].Chunks, out[i].Pending = ETag(rec), len(rec.Document.Chunks), pending[out[i].ID]
	}
	return nil
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
