package collection

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"sheaf"
	"sheaf/collection/access"
)

// AuditOptions set the size and the random seed of an audit.
type AuditOptions struct {
	// Checks is the number of checks, at least 1.
	Checks int
	// Seed determines the random choices. The same seed on the same index makes the same checks.
	Seed uint64
	// The audit calls Progress after every few checks. Progress may be nil.
	Progress func(done, leaks int)
}

// Leak describes data of a hidden document that a caller could see.
type Leak struct {
	Grant access.Grant `json:"grant"` // what the caller may see
	// Door is the operation that showed the data, such as "search" or "similar".
	Door  string   `json:"door"`
	Query string   `json:"query"` // the query
	Doc   sheaf.ID `json:"doc"`   // the hidden document; "" if the leak names no document
	What  string   `json:"what"`  // the hidden data that was visible
}

// Audit is the result of a search for leaks.
type Audit struct {
	Checks     int    `json:"checks"`          // how many checks were made
	Documents  int    `json:"documents"`       // how many documents the index has
	Hidden     int    `json:"hidden"`          // hidden documents that a check could have leaked, summed over all checks
	Incomplete int    `json:"incomplete"`      // how many checks had a degraded answer or no answer
	Fault      string `json:"fault,omitempty"` // why a check was incomplete, or why the audit ended early
	Seed       uint64 `json:"seed"`            // the seed that chose the checks
	Leaks      []Leak `json:"leaks"`           // what leaked

	searches, failed int // number of searches, and of searches without an answer
}

// maxLeaks limits the reported leaks per door.
const maxLeaks = 20

// Audit tests access control. It makes random grants, asks random questions through every operation of a Reader, and
// searches the answers for hidden documents. It decides from the record of each document who may see the document,
// without the code of the access check. It does not change the index.
// A check without a complete answer counts as incomplete. Audit fails if no search got an answer and no leak was found.
// If an error stops the audit after a leak, Audit returns the leaks, and Fault holds the error.
func (c *Collection) Audit(ctx context.Context, o AuditOptions) (*Audit, error) {
	return c.audit(ctx, o, c.For)
}

// audit works like Audit and opens Readers with the function open. A test passes a function whose Readers show too
// much, to check that the audit finds this.
func (c *Collection) audit(ctx context.Context, o AuditOptions, open func(access.Grant) (*Reader, error)) (*Audit,
	error) {
	view := c.o.Catalog.View()
	defer view.Close()
	a := &auditor{c: c, open: open, seed: o.Seed,
		out: &Audit{Seed: o.Seed, Leaks: []Leak{}}}
	if err := a.learn(view); err != nil {
		return nil, err
	}
	for number := uint64(0); a.out.Checks < o.Checks; number++ {
		if err := a.round(ctx, number, o.Checks); err != nil {
			if len(a.out.Leaks) == 0 {
				return nil, err
			}
			a.out.Fault = err.Error()
			break
		}
		if o.Progress != nil {
			o.Progress(a.out.Checks, len(a.out.Leaks))
		}
	}
	if a.out.searches > 0 && a.out.failed == a.out.searches && len(a.out.Leaks) == 0 {
		return nil, fmt.Errorf("%w: no search had an answer, so the audit could not look for leaks: %s", sheaf.ErrUnavailable,
			a.out.Fault)
	}
	a.out.Documents = len(a.docs)
	return a.out, nil
}

type auditor struct {
	knownDocuments
	c      *Collection
	open   func(access.Grant) (*Reader, error)
	seed   uint64
	random *rand.Rand // chooses queries, in one round
	out    *Audit
}

// sees reports whether a grant may see the document. It decides from the record of the document.
func (d *auditedDocument) sees(g *access.Grant) bool {
	tenant := g.Tenant == access.All || g.Tenant == "" && len(d.tenant) == 0 ||
		g.Tenant != "" && slices.Contains(d.tenant, g.Tenant)
	person := false
	for _, who := range g.Access {
		person = person || who == access.All || slices.Contains(d.access, who)
	}
	person = person || slices.Contains(d.access, sheaf.AccessPublic)
	set := len(g.Sets) == 0
	for _, s := range g.Sets {
		set = set || slices.Contains(d.sets, s)
	}
	return tenant && person && set && d.passes(g.Baked)
}

// passes reports whether the document passes a filter. The caller must pass a filter that auditor.grant returned.
func (d *auditedDocument) passes(filter string) bool {
	tag, without := strings.CutPrefix(filter, "-")
	tag, some := strings.CutPrefix(tag, "tag:")
	if !some {
		return true
	}
	has := slices.ContainsFunc(d.tags, func(t string) bool { return t == tag || strings.HasPrefix(t, tag+"/") })
	return has != without
}

// grant makes a random grant. It uses values of documents, and values that no document has.
func (a *auditor) grant() access.Grant {
	g := access.Grant{Name: "audit", Scopes: []access.Scope{access.ScopeSearch}}
	switch a.random.IntN(4) {
	case 0:
		g.Tenant = access.All
	case 1:
		g.Tenant = a.pick(a.tenants, "unknown")
	}
	for range a.random.IntN(4) {
		g.Access = append(g.Access, a.pick(a.people, "user:unknown"))
	}
	if a.random.IntN(8) == 0 {
		g.Access = append(g.Access, access.All)
	}
	for range a.random.IntN(6) - 3 {
		g.Sets = append(g.Sets, a.pick(a.sets, "no set"))
	}
	if len(a.tags) > 0 && a.random.IntN(4) == 0 {
		g.Baked = []string{"", "-", "-"}[a.random.IntN(3)] + "tag:" + a.tags[a.random.IntN(len(a.tags))]
	}
	return g
}

func (a *auditor) pick(list []string, other string) string {
	if len(list) == 0 || a.random.IntN(6) == 0 {
		return other
	}
	return list[a.random.IntN(len(list))]
}

// query makes a query from words of documents. Most of these documents are hidden.
func (a *auditor) query(hidden []*auditedDocument) string {
	var words []string
	for range 1 + a.random.IntN(3) {
		d := &a.docs[a.random.IntN(len(a.docs))]
		if len(hidden) > 0 && a.random.IntN(4) > 0 {
			d = hidden[a.random.IntN(len(hidden))]
		}
		switch {
		case len(d.values) > 0 && a.random.IntN(6) == 0:
			words = append(words, d.values[a.random.IntN(len(d.values))])
		case len(d.words) > 0:
			words = append(words, d.words[a.random.IntN(len(d.words))])
		}
	}
	switch a.random.IntN(8) {
	case 0:
		return strings.Join(words, " OR ")
	case 1:
		return `"` + strings.Join(words, " ") + `"`
	case 2:
		return strings.Join(words, "* ") + "*"
	}
	return strings.Join(words, " ")
}

// timesAgain is how often a round runs, at most, if it finds leaks while another process writes. Such a process writes
// first to the store, then to the catalog. writing is the longest time between these two writes.
const (
	timesAgain = 10
	writing    = 250 * time.Millisecond
)

// round makes a grant and checks every door, with at most limit checks. The parameter number is the seed of the round.
// While another process writes, the store and the catalog of the reader may differ by one write. For example, the store
// may still count a document that the catalog already hides. Therefore round reports a leak only if the leak repeats,
// or if the index did not change.
func (a *auditor) round(ctx context.Context, number uint64, limit int) (err error) {
	before := *a.out
	for range timesAgain {
		*a.out = before
		var at stamp
		if at, err = a.ask(ctx, number, limit); len(a.out.Leaks) == len(before.Leaks) {
			return err
		}
		changed, later := a.indexChanged(ctx, at)
		if err = cmp.Or(err, later); err != nil && changed {
			a.out.Leaks = before.Leaks
		}
		if err != nil || !changed {
			return err
		}
	}
	return nil
}

// indexChanged reports whether the index has another stamp than since. First it waits until writes that have begun are
// probably complete. It waits for a write of this process. For other processes it waits the time writing, unless the
// audit already has more than maxLeaks leaks. An error from reading the index counts as a change.
func (a *auditor) indexChanged(ctx context.Context, since stamp) (bool, error) {
	if o := a.c.o.Ingest; o != nil { // wait for the end of a write of this process
		if err := o.Writing.Lock(ctx); err != nil {
			return false, err
		}
		o.Writing.Unlock()
	}
	if len(a.out.Leaks) <= maxLeaks {
		if err := pause(ctx, writing); err != nil {
			return false, err
		}
	}
	view, err := a.c.latest()
	if err != nil {
		return true, err
	}
	defer view.Close()
	at, _ := stampOf(view, a.c.o.Backend)
	return at != since, nil
}

// ask makes the checks of a round. number is the seed of the round, and most is the largest number of checks. ask
// returns the state of the index that the checks saw.
func (a *auditor) ask(ctx context.Context, number uint64, most int) (at stamp, err error) {
	a.random = rand.New(rand.NewPCG(a.seed, 0xacce55+number))
	g := a.grant()
	r, err := a.open(g)
	if err != nil {
		return at, err
	}
	defer r.Close()
	if err := a.learn(r.view); err != nil {
		return at, err
	}
	t := &trial{auditor: a, ctx: ctx, grant: g, reader: r}
	for i := range a.docs {
		if d := &a.docs[i]; d.sees(&g) {
			t.shown = append(t.shown, d)
			t.chunks += len(d.chunks)
		} else {
			t.hidden = append(t.hidden, d)
		}
	}
	for _, door := range []struct {
		name string
		ask  func() error
	}{{"search", t.search}, {"explain", t.explain}, {"similar", t.similar}, {"get", t.get}, {"document", t.document},
		{"documents", t.list}, {"why not", t.whyNot}, {"what if", t.whatIf}, {"stage", t.stage}, {"legs", t.legs},
		{"find", t.find}, {"beside", t.askSimilar}, {"unmet", t.unmet}} {
		if a.out.Checks == most {
			break
		}
		t.text, t.fault = a.query(t.hidden), ""
		a.out.Checks++
		a.out.Hidden += len(t.hidden)
		if err := door.ask(); err != nil && !refused(err) {
			err = fmt.Errorf("audit, %s, query %q: %w", door.name, t.text, err)
			if ctx.Err() != nil || !errors.Is(err, sheaf.ErrUnavailable) {
				return r.state, err
			}
			t.lacks(err.Error()) // a model or a part of the store may be unreachable; later checks may succeed
		}
		if t.fault != "" {
			a.out.Incomplete++
			a.out.Fault = cmp.Or(a.out.Fault, t.fault)
		}
	}
	return r.state, nil
}

// trial asks all questions of an audit for one grant.
type trial struct {
	*auditor
	ctx    context.Context
	grant  access.Grant
	reader *Reader
	// shown are the documents that the grant shows, and hidden the others. chunks is the number of chunks in shown.
	shown, hidden []*auditedDocument
	chunks        int
	text          string
	fault         string // why the current check is incomplete; "" when it is complete
}

// lacks marks the current check as incomplete. warnings give the reason.
func (t *trial) lacks(warnings ...string) {
	t.fault = cmp.Or(t.fault, strings.Join(warnings, "; "), "a part of the ranking failed, or time ran out")
}

// checkAnswer looks for leaks in the answer a, and in out: what the operation called door gives to the caller. If a is
// degraded, checkAnswer marks the check as incomplete.
func (t *trial) checkAnswer(door string, a *Answer, out any) error {
	if a.Degraded {
		t.lacks(a.Failures...)
	}
	t.numbers(door, a)
	return t.answer(door, out)
}

func (t *trial) leak(door string, doc sheaf.ID, format string, args ...any) {
	others := 0
	for i := range t.out.Leaks {
		if t.out.Leaks[i].Door == door {
			others++
		}
	}
	if others < maxLeaks {
		t.out.Leaks = append(t.out.Leaks, Leak{t.grant, door, t.text, doc, fmt.Sprintf(format, args...)})
	}
}

// answer looks for IDs of hidden documents in the JSON text of out, the result of the operation called door. If the
// caller may not see everything, answer also looks for paths of this machine's folders. It records each find as a leak.
// An error means that out cannot be written as JSON.
func (t *trial) answer(door string, out any) error {
	b, err := json.Marshal(out)
	if err != nil {
		return err
	}
	text := string(b)
	for _, root := range t.roots {
		if !t.grant.SeesAll() && strings.Contains(text, root) {
			t.leak(door, "", "the answer names the folder %s", root)
		}
	}
	for _, d := range t.hidden {
		if name := written(d.id); strings.Contains(text, name) && strings.Contains(t.withoutVisible(text, name), name) {
			t.leak(door, d.id, "its name is in the answer")
		}
	}
	return nil
}

// withoutVisible removes from text the IDs of visible documents that contain name. For example, "api:doc10", which is
// visible, is not a leak of the hidden "api:doc1".
func (t *trial) withoutVisible(text, name string) string {
	for _, d := range t.shown {
		if longer := written(d.id); strings.Contains(longer, name) {
			text = strings.ReplaceAll(text, longer, "\x00")
		}
	}
	return text
}

// hides reports whether id is a document or a chunk that the caller may not see.
func (t *trial) hides(id sheaf.ID) bool {
	i, ok := t.index[id]
	return ok && !t.docs[i].sees(&t.grant)
}

// written returns an ID in the form that JSON has, without quotes.
func written(id sheaf.ID) string {
	quoted, _ := json.Marshal(id) // a string never fails
	return strings.Trim(string(quoted), `"`)
}

func (t *trial) request() SearchRequest {
	q := SearchRequest{Text: t.text, Window: 100, Limit: 1 + t.random.IntN(20), Count: true}
	if t.random.IntN(2) == 0 { // some stores cannot count
		q.Facets = []string{"tree", "folder", "tag"}
	}
	if t.random.IntN(8) == 0 {
		q.Sort = t.sorts[t.random.IntN(len(t.sorts))]
		if t.random.IntN(2) == 0 {
			q.Text, t.text = "", "" // match everything
		}
	}
	if t.random.IntN(2) == 0 {
		q.Profile = t.pick(t.profiles, "")
	}
	return q
}

// refused reports whether err only refuses the request, as unsupported, not found or invalid. Such an error reveals no
// document, so the audit goes on.
func refused(err error) bool {
	return errors.Is(err, sheaf.ErrUnsupported) || errors.Is(err, sheaf.ErrNotFound) || errors.Is(err, sheaf.ErrInvalid)
}

// search asks the same question three times: as a caller who sees everything, then twice as the restricted caller. The
// second answer may come from the cache, so search checks cached answers too.
func (t *trial) search() error {
	q := t.request()
	all, err := t.c.For(access.Unrestricted())
	if err != nil {
		return err
	}
	a, err := all.Search(t.ctx, q)
	all.Close()
	if err == nil {
		err = t.foreign(a.Next)
	}
	if err != nil && !refused(err) && !errors.Is(err, sheaf.ErrUnavailable) {
		return err
	}
	first, again := t.pages(q), t.pages(q)
	err = cmp.Or(first, again)
	if err == nil || errors.Is(err, sheaf.ErrUnavailable) {
		t.out.searches++
		if first != nil && again != nil {
			t.out.failed++
		}
	}
	return err
}

func (t *trial) pages(q SearchRequest) error {
	a, err := t.reader.Search(t.ctx, q)
	for err == nil {
		if err := t.checkAnswer("search", a, a); err != nil {
			return err
		}
		if a.Next == "" {
			return nil
		}
		matches := a.Matches
		a, err = t.reader.Page(t.ctx, a.Next, SearchRequest{})
		if err == nil {
			a.Matches = matches
		}
	}
	return err
}

func (t *trial) explain() error {
	e, err := t.reader.Explain(t.ctx, t.request())
	if err != nil {
		return err
	}
	return t.checkAnswer("explain", e.Answer, e)
}

// target picks a random document, more often a hidden one than a visible one. id is the ID of the document or of one of
// its chunks.
func (t *trial) target() (id sheaf.ID, doc *auditedDocument) {
	doc = &t.docs[t.random.IntN(len(t.docs))]
	if len(t.hidden) > 0 && t.random.IntN(3) > 0 {
		doc = t.hidden[t.random.IntN(len(t.hidden))]
	}
	id = doc.id
	if len(doc.chunks) > 0 && t.random.IntN(2) == 0 {
		id = doc.chunks[t.random.IntN(len(doc.chunks))]
	}
	return id, doc
}

// checkByID asks about one document by its ID. It checks that a hidden document gives the same error as a missing one.
func (t *trial) checkByID(door string, ask func(id sheaf.ID) (any, error)) error {
	id, doc := t.target()
	out, err := ask(id)
	if doc.sees(&t.grant) {
		if err == nil {
			return t.answer(door, out)
		}
		if refused(err) {
			return nil // a chunk is not a document
		}
		return err
	}
	if err == nil {
		t.leak(door, doc.id, "the caller gets an answer about it")
		return nil
	}
	none := sheaf.ID("audit:there is no such document")
	_, missing := ask(none)
	if missing == nil || strings.ReplaceAll(err.Error(), fmt.Sprintf("%q", id), "") != strings.ReplaceAll(missing.Error(),
		fmt.Sprintf("%q", none), "") {
		t.leak(door, doc.id, "its error is %q, and the error of a missing document is %q", err, missing)
	}
	for _, err := range []error{err, missing} {
		if errors.Is(err, sheaf.ErrUnavailable) {
			return err
		}
	}
	return nil
}

func (t *trial) similar() error {
	return t.checkByID("similar", func(id sheaf.ID) (any, error) {
		a, err := t.reader.Similar(t.ctx, id, SearchRequest{})
		if err == nil {
			err = t.checkAnswer("similar", a, nil)
		}
		return a, err
	})
}

func (t *trial) get() error {
	return t.checkByID("get", func(id sheaf.ID) (any, error) {
		p, err := t.reader.Get(t.ctx, id, GetOptions{Neighbors: 2})
		if err != nil {
			return nil, err
		}
		p.Text = "" // a visible text may mention hidden documents
		for i := range p.Before {
			p.Before[i].Text, p.Before[i].Links = "", nil
		}
		for i := range p.After {
			p.After[i].Text, p.After[i].Links = "", nil
		}
		for _, l := range p.Links {
			if t.hides(l.To) {
				t.leak("get", l.To, "a link leads to it")
			}
		}
		p.Links = nil
		return p, nil
	})
}

func (t *trial) document() error {
	return t.checkByID("document", func(id sheaf.ID) (any, error) { return t.reader.Document(t.ctx, id) })
}

func (t *trial) list() error {
	list, err := t.reader.Documents(t.ctx, "", "", MaxWindow)
	if err != nil {
		return err
	}
	if seen := len(t.shown); len(list.Documents) != min(seen, MaxWindow) {
		t.leak("documents", "", "it lists %d documents, and %d are visible", len(list.Documents), seen)
	}
	if err := t.answer("documents", list); err != nil {
		return err
	}
	return t.count()
}

func (t *trial) whyNot() error {
	return t.checkByID("why not", func(id sheaf.ID) (any, error) {
		a, err := t.reader.WhyNot(t.ctx, SearchRequest{Text: t.text}, id)
		if err == nil && a.Degraded {
			t.lacks(a.Warnings...)
		}
		return a, err
	})
}

func (t *trial) whatIf() error {
	moves, answers, err := t.reader.whatIf(t.ctx, SearchRequest{Text: t.text}, map[string]string{"meaning": "1"})
	if err == nil {
		for _, a := range answers {
			if a.Degraded {
				t.lacks(a.Warnings...)
			}
		}
		return t.answer("what if", moves)
	}
	return err
}

// count checks that the counts in the summary equal the numbers of visible documents and chunks.
func (t *trial) count() error {
	s, err := t.reader.Summary(t.ctx)
	if err != nil {
		return err
	}
	if seen := len(t.shown); s.Documents != seen || s.Chunks > t.chunks {
		t.leak("summary", "", "it counts %d documents and %d chunks, and %d and %d are visible", s.Documents, s.Chunks,
			seen, t.chunks)
	}
	if err := t.answer("summary", s); err != nil {
		return err
	}
	return t.status()
}
