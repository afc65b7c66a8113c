package collection

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"sheaf"
	"sheaf/collection/access"
	"sheaf/collection/intake"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/store"
)

// Change writes a document, or deletes the document if Put is nil.
type Change struct {
	ID  sheaf.ID       `json:"id"`
	Put *DocumentInput `json:"put,omitempty"`
	// IfMatch is the tag that the document must have. "*" accepts any existing document, and "" any document. IfNoneMatch
	// is a tag that the document must not have; "*" means that the document must not exist.
	IfMatch     string `json:"if_match,omitempty"`
	IfNoneMatch string `json:"if_none_match,omitempty"`
	// Within lists sets of documents. A change may replace or delete only documents in these sets, or any document if
	// the list is empty. Write and Submit set Within from the grant of the caller.
	Within []string `json:"within,omitempty"`
}

// Stored is the result of one change.
type Stored struct {
	ID      sheaf.ID `json:"id" doc:"The document's identifier."`
	ETag    string   `json:"etag,omitempty" doc:"The tag of this version; absent when it was deleted."`
	Created bool     `json:"created" doc:"Whether the document is new."`
	Deleted bool     `json:"deleted" doc:"Whether the document was deleted."`
	Chunks  int      `json:"chunks" doc:"How many chunks the document has."`
	Pending string   `json:"pending,omitempty" doc:"What still has to be done for the document."`
}

// givenState is the state of given documents: documents that programs write through the API.
type givenState struct {
	owner      owner
	recovering atomic.Bool
	// stuck is the reason why recovery waits: files cannot be written, the disk is full, or intake.db needs a repair. It
	// is nil if recovery does not wait. Searches still find indexed documents.
	stuck atomic.Pointer[error]
	// broken receives a value when a change failed and the store may have a part of it.
	broken chan struct{}
	file   *intake.Intake // nil when the collection takes no documents
	queue  *queue
	keys   sync.Map // the Key of each running request, by its name
	// refused maps the ID of each document that the store refused during recovery to the reason. unreadable maps the
	// name of each document, task or file that cannot be read to the reason.
	refused, unreadable sync.Map
}

func newGiven(o *Options) givenState {
	var file *intake.Intake
	if o.Ingest != nil && o.Intake != "" {
		file = intake.Open(o.Intake)
	}
	return givenState{broken: make(chan struct{}, 1), file: file,
		queue: &queue{wake: make(chan struct{}, 1), ended: make(chan struct{})}}
}

// breaks sends a value to broken, because a change failed and the store may have a part of it.
func (g *givenState) breaks() {
	select {
	case g.broken <- struct{}{}:
	default: // a value is already waiting
	}
}

// Write makes changes for a caller. It makes all changes or none, except in a store without transactions. If such a
// store accepts only some changes, the error is a [RejectedError]. When Write returns nil, the changes are durable and
// searchable. The first [Key] makes the request safe to repeat; Write ignores other keys. [MayWrite] says who may
// write, and to which tree.
func (c *Collection) Write(ctx context.Context, grant access.Grant, changes []Change, keys ...Key) ([]Stored, error) {
	changes, err := c.checkChanges(&grant, changes)
	if err != nil {
		return nil, err
	}
	key, before, end, err := c.begin(ctx, changes, keys)
	if err != nil || before != nil {
		return before.results(), err
	}
	defer end()
	return c.carryOut(ctx, changes, entry{key: key})
}

// begin starts a request that changes documents. The caller has the right to write until it calls end. If a request
// with the same key was done before, before is its record, and key and end are nil.
func (c *Collection) begin(ctx context.Context, changes []Change, keys []Key) (key *requestKey, before *keyRecord,
	end func(), err error) {
	if key, before, err = c.useKey(ctx, keys); err != nil || before != nil {
		return nil, before, nil, err
	}
	give := func() {}
	if err = c.settle(ctx, changes); err == nil {
		give, err = c.take(ctx)
	}
	if err != nil {
		key.release()
		return nil, nil, nil, err
	}
	return key, nil, func() { give(); key.release() }, nil
}

// Patch changes fields of a document, but not its text. ch names the document and has the conditions. In all other ways
// Patch works like Write. If the caller may not see the document, the error is sheaf.ErrNotFound, because a patch could
// make the document visible.
func (c *Collection) Patch(ctx context.Context, grant access.Grant, ch Change, p *DocumentPatch,
	keys ...Key) (Stored, error) {
	ch.Put = nil // set below, once the caller has the right to write
	changes, err := c.checkChanges(&grant, []Change{ch})
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
	key, before, end, err := c.begin(ctx, changes, keys)
	if err != nil || before != nil {
		return append(before.results(), Stored{})[0], err
	}
	defer end()
	if changes[0].Put, err = c.applyPatch(&grant, ch.ID, p); err != nil {
		return Stored{}, err
	}
	stored, err := c.carryOut(ctx, changes, entry{key: key})
	if err != nil {
		return Stored{}, err
	}
	return stored[0], nil
}

// checkChanges returns an error if the caller may not make the changes. Otherwise it returns copies of the changes,
// with vectors of length 1. It sets Within to the sets of the grant, and puts documents without sets into these sets.
func (c *Collection) checkChanges(grant *access.Grant, given []Change) ([]Change, error) {
	if c.given.file == nil {
		return nil, fmt.Errorf("write to %s: %w: it was opened for reading only", c.o.Name, sheaf.ErrUnsupported)
	}
	if err := c.notExpired(grant); err != nil {
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
			return nil, inChange(i, forbidden("id", "this key may write only documents of the tree %s", own))
		case settings.Root(tree) != "":
			return nil, inChange(i, forbidden("id", "files own the tree %s: change the file, or write to another tree", tree))
		case seen[ch.ID]:
			return nil, inChange(i, conflictError("id", "%s is changed twice", ch.ID))
		}
		seen[ch.ID] = true
		ch.Within = grant.Sets
		if ch.Put == nil {
			continue
		}
		put := *ch.Put // shares no chunks and no vectors
		put.Chunks = slices.Clone(put.Chunks)
		for i := range put.Chunks {
			vectors := slices.Clone(put.Chunks[i].Vectors)
			for k := range vectors {
				vectors[k] = slices.Clone(vectors[k])
			}
			put.Chunks[i].Vectors = vectors
		}
		ch.Put = &put
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

// MayWrite returns nil if a tenant can write documents to a collection with these settings, or else the reason. A
// tenant writes to the tree that has the tenant's name. A tenant cannot write in these cases:
//   - A folder uses the tree.
//   - The tenant's name is [catalog.FreeTree].
//   - No ID can begin with the tenant's name.
//
// Callers without a tenant have the tenant "". They write to [catalog.FreeTree]. For access.All, which means all
// tenants, MayWrite returns nil.
func MayWrite(tenant string, settings catalog.Settings) error {
	switch {
	case tenant == "", tenant == access.All:
		return nil
	case tenant == catalog.FreeTree:
		return fmt.Errorf("a tenant of this name cannot write: the tree %s belongs to callers without a tenant",
			catalog.FreeTree)
	case settings.Root(tenant) != "":
		return fmt.Errorf("a tenant of this name cannot write: files use the tree %s", tenant)
	case validID(sheaf.DocumentID(tenant, "name")) != nil || strings.Contains(tenant, ":"):
		return fmt.Errorf("a tenant of this name cannot write: identifiers begin with the name, so it must not hold a " +
			"colon, # or backslash")
	}
	return nil
}

// mayPutIn checks that a key may write a document of these sets. If the key has sets, the document must have a set, and
// no set that the key lacks.
func mayPutIn(grant *access.Grant, sets []string) error {
	outside := func(set string) bool { return !slices.Contains(grant.Sets, set) }
	if len(grant.Sets) > 0 && (len(sets) == 0 || slices.ContainsFunc(sets, outside)) {
		return forbidden("sets", "this key may write only documents of its sets")
	}
	return nil
}

// Dims returns the number of dimensions of the chunks' vectors, or 0 if chunks have no vectors.
func (c *Collection) Dims() int {
	view := c.o.Catalog.View()
	defer view.Close()
	return view.Settings().Dims
}

// Remote reports whether a search uses a store or a model on another machine.
func (c *Collection) Remote() bool {
	return c.o.Distant || c.o.Model == nil && c.o.Embed != nil || c.o.Rerank != nil
}

func inChange(i int, err error) error {
	if at, ok := errors.AsType[*FieldError](err); ok {
		at.Change = i
	}
	return err
}

// take waits for the right to write, and loads the newest state of the index. Only one writer has this right at a time,
// so take may wait long: for example, until a run ends. When ctx ends, take returns an error. Call give to return the
// right.
func (c *Collection) take(ctx context.Context) (give func(), err error) {
	writing := c.o.Ingest.Writing
	if err := writing.Lock(ctx); err != nil {
		return nil, err
	}
	if err := c.acquireOwner(); err != nil {
		writing.Unlock()
		return nil, err
	}
	give = func() { c.disown(); writing.Unlock() }
	if err = c.o.Catalog.Follow(); err == nil {
		err = c.takeOverOlder()
	}
	if err != nil {
		give()
		return nil, err
	}
	return give, nil
}

// carryOut makes all changes or none, and records the results under the task or key in e. checkChanges must have
// checked the changes before. The caller must have the right to write.
func (c *Collection) carryOut(ctx context.Context, changes []Change, e entry) ([]Stored, error) {
	out, err := c.check(changes)
	if err != nil {
		return nil, err
	}
	contents := make([][]byte, len(changes))
	var puts []ingest.Given
	var deletes []sheaf.ID
	for i := range changes {
		ch := &changes[i]
		if ch.Put == nil {
			deletes = append(deletes, ch.ID)
			continue
		}
		if contents[i], err = json.Marshal(storedDocument{ch.ID, ch.Put}); err != nil {
			return nil, fmt.Errorf("write %s: %w", ch.ID, err)
		}
		puts = append(puts, ch.Put.toGiven(ch.ID, contents[i]))
	}
	// Complete the change from here on, even if the caller cancels.
	ctx = context.WithoutCancel(ctx)
	crashPoint("before accept")
	err = c.given.file.Update(func(tx *intake.Tx) error {
		for i := range changes {
			if err := tx.Put(changes[i].ID, contents[i]); err != nil {
				return err
			}
		}
		return e.begin(tx, out)
	})
	if err != nil {
		return nil, fmt.Errorf("write documents: %w", err)
	}
	crashPoint("after accept")
	err = c.index(ctx, puts, deletes)
	if partial, ok := errors.AsType[*store.PartialError](err); ok {
		err = c.restoreRejected(ctx, out, partial)
	}
	if err != nil {
		err = errors.Join(err, c.refuse(changes, e, err))
		c.given.breaks()
		return nil, err
	}
	crashPoint("before done")
	err = c.describe(out)
	now := c.o.Now().UTC()
	ended := c.given.file.Update(func(tx *intake.Tx) error {
		for i := range changes {
			if err := tx.Taken(changes[i].ID); err != nil {
				return err
			}
		}
		return e.end(tx, out, now)
	})
	if ended != nil { // recovery finds the change in the index
		c.notice(ended)
		c.given.breaks()
	}
	for i := range changes {
		c.given.refused.Delete(string(changes[i].ID))
	}
	return out, err
}

// A change calls crashPoint at named points. Tests kill the process at these points.
var crashPoint = func(string) {}

// refuse restores the earlier versions of documents in intake.db, because accepted changes could not be indexed. The
// parameter why is the error of indexing. If refuse cannot write intake.db now, the changes stay there, and recovery
// indexes them later.
func (c *Collection) refuse(changes []Change, e entry, why error) error {
	crashPoint("in refuse")
	view := c.o.Catalog.View()
	defer view.Close()
	failure := ""
	if e.task != nil && !forNow(why) {
		failure = c.ownerText(e.task.ID, why)
	}
	return c.given.file.Update(func(tx *intake.Tx) error {
		for i := range changes {
			id := changes[i].ID
			rec, err := view.Record(id)
			indexed := err == nil
			if !indexed && !errors.Is(err, sheaf.ErrNotFound) {
				return err
			}
			hash, there := tx.Hash(id)
			end := tx.Restore
			if there && indexed && rec.File.Hash == hash || !there && !indexed && !c.given.isRefused(id) {
				end = tx.Taken
			}
			if err := end(id); err != nil {
				return err
			}
		}
		return e.refuse(tx, failure, c.o.Now().UTC())
	})
}

// index writes changes to the catalog and the store, in one commit. The caller must have the right to write.
func (c *Collection) index(ctx context.Context, puts []ingest.Given, deletes []sheaf.ID) error {
	o := *c.o.Ingest
	o.Progress, o.Writing, o.CommitBytes = nil, nil, 1
	for i := range puts {
		o.CommitBytes += int64(len(puts[i].Text)) // one commit
	}
	_, err := ingest.Change(ctx, o, puts, deletes)
	c.noteDamage(err)
	return fromRemote(store.Gone(err))
}

// applyPatch returns the stored document with the changes of the patch p. It does not check whether grant may write. If
// grant does not see the document, the error is the same as for a missing document.
func (c *Collection) applyPatch(grant *access.Grant, id sheaf.ID, p *DocumentPatch) (*DocumentInput, error) {
	view := c.o.Catalog.View()
	defer view.Close()
	rec, err := view.Record(id)
	if errors.Is(err, sheaf.ErrNotFound) || err == nil && !sees(grant, rec) { // like a missing document
		return nil, notFound(id)
	}
	if err != nil {
		return nil, err
	}
	stored, _, err := c.readStored(id)
	if err != nil {
		return nil, err
	}
	put := p.apply(*stored)
	if n := len(put.Properties); n > maxProperties {
		return nil, conflictError("properties", "the document would have %d properties: at most %d are allowed", n,
			maxProperties)
	}
	return put, nil
}

// check compares the conditions of the changes with the stored documents. It returns an error if a condition fails,
// otherwise the results that the changes will have.
func (c *Collection) check(changes []Change) ([]Stored, error) {
	out := make([]Stored, len(changes))
	view := c.o.Catalog.View()
	defer view.Close()
	for i := range changes {
		ch := &changes[i]
		rec, err := view.Record(ch.ID)
		if err != nil && !errors.Is(err, sheaf.ErrNotFound) {
			return nil, err
		}
		there := err == nil
		tag := ""
		if there {
			tag = ETag(rec)
		}
		refused := !there && c.given.isRefused(ch.ID)
		within := access.Grant{Tenant: access.All, Access: []string{access.All}, Sets: ch.Within}
		outside := there && !sees(&within, rec)
		if refused && len(ch.Within) > 0 {
			kept, _, err := c.readStored(ch.ID)
			if err != nil {
				return nil, err
			}
			outside = !slices.ContainsFunc(ch.Within, func(set string) bool { return slices.Contains(kept.Sets, set) })
		}
		switch {
		case outside && ch.Put == nil: // like a missing document
			return nil, inChange(i, &FieldError{Field: "id", Err: notFound(ch.ID)})
		case outside:
			return nil, inChange(i, forbidden("id", "the document %s is outside the sets of this key", ch.ID))
		case ch.Put == nil && !there && !refused: // before checking conditions: RFC 9110, section 13.2.1
			return nil, inChange(i, &FieldError{Field: "id", Err: notFound(ch.ID)})
		case ch.IfMatch == "*" && !there, ch.IfMatch != "" && ch.IfMatch != "*" && !hasTag(ch.IfMatch, tag):
			if !there {
				return nil, inChange(i, unmet("if_match", "there is no document %s", ch.ID))
			}
			return nil, inChange(i, unmet("if_match", "%s has changed: read it again", ch.ID))
		case there && (ch.IfNoneMatch == "*" || ch.IfNoneMatch != "" && hasWeakTag(ch.IfNoneMatch, tag)):
			return nil, inChange(i, unmet("if_none_match", "there is a document %s", ch.ID))
		}
		out[i] = Stored{ID: ch.ID, Created: !there && ch.Put != nil, Deleted: ch.Put == nil}
	}
	return out, nil
}

// sees reports whether a grant may see a document.
func sees(grant *access.Grant, rec *catalog.Record) bool {
	filter := grant.Filter()
	return filter == nil || filter.Match(&store.Chunk{Columns: ingest.Columns(&rec.Document, rec.Date)})
}

// hasTag reports whether list contains tag. list is the value of the header If-Match: tags, separated by commas.
func hasTag(list, tag string) bool {
	for part := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(part) == tag && tag != "" {
			return true
		}
	}
	return false
}

// hasWeakTag works like hasTag for If-None-Match: weak and strong tags with the same text are equal (RFC 9110, 13.1.2).
func hasWeakTag(list, tag string) bool { return hasTag(strings.ReplaceAll(list, "W/", ""), tag) }

// Met returns [ErrPrecondition] if the value ifMatch of the header If-Match does not match the version of the document.
// "" matches every version.
func Met(ifMatch string, d *Document) error {
	if ifMatch == "" || ifMatch == "*" || hasTag(ifMatch, d.ETag) {
		return nil
	}
	return unmet("if_match", "%s has changed: read it again", d.ID)
}

// Unchanged reports whether ifNoneMatch, the value of the header If-None-Match, contains tag or is "*". The caller then
// has this version already.
func Unchanged(ifNoneMatch, tag string) bool {
	return strings.TrimSpace(ifNoneMatch) == "*" || hasWeakTag(ifNoneMatch, strings.TrimPrefix(tag, "W/"))
}

// describe adds to each result the tag, the number of chunks and the pending work of its document.
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
