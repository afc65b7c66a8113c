package collection

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/collection/access"
	"sheaf/collection/address"
	"sheaf/search"
	"sheaf/store"
	"sheaf/text/query"
)

// numbers checks that the counts and suggestions of an answer fit the visible documents. A count or a suggestion can
// reveal a hidden document without its name.
func (t *trial) numbers(door string, a *Answer) {
	scans := t.scans(a.Profile)
	if a.Matches != nil && *a.Matches > t.chunks && !(scans && t.chunks > 0) {
		t.leak(door, "", "it counts %d matches, and %d chunks are visible", *a.Matches, t.chunks)
	}
	if a.Total.Value > 0 && len(t.shown) == 0 {
		t.leak(door, "", "it has %d results, and nothing is visible", a.Total.Value)
	}
	for name, values := range a.Facets {
		for _, v := range values {
			if most := t.countValue(name, v.Value); v.Count > most && !(scans && most > 0) {
				t.leak(door, "", "the facet %s counts %d chunks with %q, and %d are visible", name, v.Count, v.Value, most)
			}
		}
	}
	for _, note := range slices.Concat(a.Notes, a.Warnings) {
		t.suggestion(door, note)
	}
	for i := range a.Results {
		if e := a.Results[i].Explanation; e != nil {
			t.arithmetic(door, e, scans)
		}
	}
}

// scans reports whether a profile cuts sections from files. Such a profile may find more sections in a file than the
// index has chunks.
func (t *trial) scans(profile string) bool {
	p, err := t.c.load(profile)
	return err == nil && p.profile.Scans()
}

// countValue returns the number of visible chunks that have a value in a column.
func (t *trial) countValue(column, value string) int {
	n := 0
	for _, d := range t.shown {
		if slices.Contains(d.columns[column], value) {
			n += len(d.chunks)
		}
	}
	return n
}

// suggestion checks a sentence of an answer. A quoted value that only hidden documents have is a leak.
func (t *trial) suggestion(door, text string) {
	if !strings.Contains(text, `"`) {
		return
	}
	for _, d := range t.hidden {
		for column, values := range d.columns {
			for _, v := range values {
				if strings.Contains(text, strconv.Quote(v)) && !strings.Contains(strings.ToLower(t.text), strings.ToLower(v)) &&
					!t.shows(v) {
					t.leak(door, d.id, "it names %s %q, which only hidden documents have", column, v)
					return
				}
			}
		}
	}
}

// shows reports whether a visible document has a value in any column, or has it in its text.
func (t *trial) shows(value string) bool {
	return slices.ContainsFunc(t.shown, func(d *auditedDocument) bool {
		for _, values := range d.columns {
			if slices.Contains(values, value) {
				return true
			}
		}
		text, err := t.reader.text(d.id)
		return err == nil && strings.Contains(strings.ToLower(string(text)), strings.ToLower(value))
	})
}

// arithmetic checks that the numbers of an explanation count only visible documents. These numbers are the idf of
// words, and the number of documents in a folder. If scans is true, the profile scans files. The idf then counts
// sections of files, so arithmetic skips it.
func (t *trial) arithmetic(door string, e *sheaf.Explanation, scans bool) {
	rarest := math.Log(1 + (float64(t.chunks)-1+0.5)/(1+0.5))
	switch {
	case e.Label == "idf" && !scans && !t.c.o.SharedStatistics && e.Value > rarest+1e-9:
		t.leak(door, "", "a word has the idf %v, and among %d visible chunks it is at most %v", e.Value, t.chunks, rarest)
	case e.Kind == sheaf.KindFolder && e.Details["of"].Number > float64(len(t.shown)):
		t.leak(door, "", "a folder has %v documents, and %d are visible", e.Details["of"].Number, len(t.shown))
	}
	for i := range e.Parts {
		t.arithmetic(door, &e.Parts[i], scans)
	}
}

// foreign checks that this caller gets no page for the cursor of another caller.
func (t *trial) foreign(cursor string) error {
	if cursor == "" || t.grant.SeesAll() {
		return nil
	}
	_, err := t.reader.Page(t.ctx, cursor, SearchRequest{})
	switch {
	case err == nil:
		t.leak("cursor", "", "it continues the search of another caller")
	case !errors.Is(err, ErrExpired):
		return err
	}
	return nil
}

// checkTagCount checks that the count of chunks with a tag is the exact number of visible ones.
func (t *trial) checkTagCount() error {
	if len(t.tags) == 0 {
		return nil
	}
	t.text = "tag:" + t.tags[t.random.IntN(len(t.tags))]
	a, err := t.reader.Search(t.ctx, SearchRequest{Text: t.text, Sort: "path", Limit: 1, Count: true})
	if err == nil {
		err = t.checkAnswer("count", a, nil)
	}
	if err != nil || a.Matches == nil {
		return err
	}
	if there := t.countValue(sheaf.ColumnTag, strings.TrimPrefix(t.text, "tag:")); *a.Matches > there {
		t.leak("count", "", "it counts %d chunks, and %d are visible", *a.Matches, there)
	}
	return nil
}

// find looks for a document by ID, by path, and by its path without one letter. It checks that an error suggests only
// visible paths.
func (t *trial) find() error {
	_, doc := t.target()
	path := doc.id.Path()
	if len(path) == 0 {
		return nil
	}
	at := t.random.IntN(len(path))
	for _, asked := range []string{string(doc.id), path, path[:at] + path[at+1:]} {
		found, err := t.reader.Find(asked)
		var none *address.NotFound
		switch {
		case errors.As(err, &none):
			for _, d := range t.hidden {
				path := d.id.Path()
				if none.Hint == fmt.Sprintf("did you mean %s?", sheaf.PathText(path)) &&
					!slices.ContainsFunc(t.shown, func(d *auditedDocument) bool { return d.id.Path() == path }) {
					t.leak("find", d.id, "it is suggested for %q", asked)
				}
			}
		case err != nil && !refused(err):
			return err
		case err == nil:
			if t.hides(found.Doc.ID) {
				t.leak("find", found.Doc.ID, "%q finds it", asked)
			}
		}
	}
	if err := t.property(doc); err != nil {
		return err
	}
	return t.checkTagCount()
}

// property parses a query such as NAME:x, with the name of a property of doc. It checks that the name counts as a word
// if only hidden documents have this property.
func (t *trial) property(doc *auditedDocument) error {
	for _, column := range slices.Sorted(maps.Keys(doc.columns)) {
		name, ok := strings.CutPrefix(column, "prop.")
		if !ok || !isPlain(name) || query.Parse(name+":x", query.Options{}).Filter != nil {
			continue
		}
		read, err := t.reader.read(t.ctx, name+":x")
		if err != nil {
			return err
		}
		has := func(d *auditedDocument) bool { return d.columns[column] != nil }
		if read.Filter != nil && !slices.ContainsFunc(t.shown, has) {
			t.leak("find", doc.id, "%q counts as a property, and only hidden documents have it", name)
		}
		return nil
	}
	return nil
}

// askSimilar looks for leaks in [Reader.Context] and in [Reader.Fused], with the text of the trial.
func (t *trial) askSimilar() error {
	a, err := t.reader.Context(t.ctx, "", []byte("# "+t.text+"\n\n"+t.text+"\n"), SearchRequest{})
	switch {
	case err == nil:
		if err := t.checkAnswer("beside", a, a); err != nil {
			return err
		}
	case !refused(err):
		return err
	}
	f, err := t.reader.Fused(t.ctx, t.text, "rrf", 60, 20)
	if err != nil {
		return err
	}
	if f.Degraded {
		t.lacks(f.Failures...)
	}
	var ids []sheaf.ID
	for i := range f.Results {
		ids = append(ids, f.Results[i].ID, f.Results[i].Document.ID)
	}
	return t.answer("beside", ids)
}

// unmet searches for a value that no document has, and checks that the answer suggests only visible values.
func (t *trial) unmet() error {
	_, doc := t.target()
	columns := []string{"tag", "path", "ext"}
	for column := range doc.columns {
		if name, ok := strings.CutPrefix(column, "prop."); ok && isPlain(name) {
			columns = append(columns, column)
		}
	}
	slices.Sort(columns)
	t.text = columns[t.random.IntN(len(columns))] + ":qqxzzy"
	a, err := t.reader.Search(t.ctx, SearchRequest{Text: t.text})
	if err != nil {
		return err
	}
	return t.checkAnswer("unmet", a, a)
}

// status asks for the status and for tasks. It checks that a restricted caller gets only the summary of the status. It
// also checks that no caller sees tasks of another caller.
func (t *trial) status() error {
	s, err := t.reader.Status(t.ctx)
	if err != nil {
		return err
	}
	if !t.grant.SeesAll() {
		bare := Status{Summary: s.Summary, Trees: []Tree{}, Bytes: map[string]int64{}, Pending: []Pending{},
			Skipped: []Skip{}, Warnings: s.Warnings}
		if !reflect.DeepEqual(*s, bare) {
			t.leak("status", "", "a restricted caller gets more than the summary: %+v", *s)
		}
		const stranger = "audit: another caller"
		for _, task := range t.c.Tasks(access.Unrestricted(), stranger, "", keptTasks) {
			if _, err := t.c.Task(t.grant, stranger, task.ID); err == nil || len(t.c.Tasks(t.grant, stranger, "", 1)) > 0 {
				t.leak("status", "", "it shows a task of another caller")
				break
			}
		}
	}
	return t.answer("status", s)
}

// legs searches with each branch of the profile alone, and checks that no branch finds a hidden document. Fusion would
// drop such a document, but the document could still displace a visible one.
func (t *trial) legs() error {
	g := t.reader.guard
	words := store.Request{Limit: 100, Text: search.AnyField(sheaf.Match{Text: t.text})}
	reqs := []store.Request{words}
	if embed := t.c.o.Embed; embed != nil {
		vectors, err := embed(t.ctx, []string{t.text})
		switch {
		case err != nil:
			t.lacks(err.Error())
		case len(vectors) != 1:
			t.lacks(fmt.Sprintf("the model gave %d vectors for one text", len(vectors)))
		default:
			for _, field := range []string{store.VectorBody, store.VectorTitle} {
				reqs = append(reqs, store.Request{Limit: 100, Vector: &store.VectorRequest{Field: field, Vector: vectors[0]}})
			}
		}
	}
	check := func(hits sheaf.Ranking, err error) error {
		for _, h := range hits {
			if t.hides(h.ID) {
				t.leak("legs", h.ID, "a branch finds it")
			}
		}
		if refused(err) { // some stores lack some legs
			return nil
		}
		return err
	}
	lists, err := g.RetrieveAll(t.ctx, reqs)
	errs := []error{check(slices.Concat(lists...), err), check(g.Sorted(t.ctx, words, store.Order{Column: t.sorts[0]})),
		check(t.scored(words))}
	for i := range reqs {
		errs = append(errs, check(g.Retrieve(t.ctx, reqs[i])))
	}
	return cmp.Or(append(errs, t.facets(words))...)
}

// scored asks the store to score some chunks for the query words. Some of these chunks are hidden. It returns the
// chunks that got a score. The caller checks that these chunks are visible.
func (t *trial) scored(words store.Request) (out sheaf.Ranking, err error) {
	var ids []sheaf.ID
	for range 8 {
		if _, doc := t.target(); len(doc.chunks) > 0 && !slices.Contains(ids, doc.chunks[0]) {
			ids = append(ids, doc.chunks[0])
		}
	}
	scores, err := t.reader.guard.Scores(t.ctx, []store.Request{words}, ids)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	for i, id := range ids {
		if scores[0][i] != 0 {
			out = append(out, sheaf.Hit{ID: id})
		}
	}
	return out, nil
}

// facets asks the store for the number of chunks in each tree. It reports a leak if their total is larger than the
// number of visible chunks. words is the request of a search by words; facets replaces its text.
func (t *trial) facets(words store.Request) error {
	words.Text = search.AnyField(sheaf.Bool{})
	facets, err := t.reader.guard.Facets(t.ctx, words, []string{sheaf.ColumnTree}, 1000)
	if err != nil {
		return err
	}
	counted := 0
	for _, f := range facets {
		for _, v := range f.Values {
			counted += v.Chunks
		}
	}
	if counted > t.chunks {
		t.leak("legs", "", "the counts by folder have %d chunks, and %d are visible", counted, t.chunks)
	}
	return nil
}

// stageSettings holds settings for the stages that do not run without settings. The keys are the names of the stages.
var stageSettings = map[string]map[string]string{
	"field_boost":    {"field": "tag", "values": "draft"},
	"property_boost": {"name": "rank"},
	"budget":         {"tokens": "1000"},
	"pin":            {"ids": "none"},
}

// stage runs each stage on a ranking that the caller sends. It checks that a hidden document in the ranking ranks like
// a missing document.
func (t *trial) stage() error {
	ranking, twins := []Scored{}, []Scored{}
	original := map[sheaf.ID]sheaf.ID{}
	for range 5 {
		id, doc := t.target()
		twin := id
		if !doc.sees(&t.grant) {
			twin = doc.id + "~" + sheaf.ID(strings.TrimPrefix(string(id), string(doc.id)))
			original[doc.id+"~"] = doc.id
		}
		original[twin] = id
		s := Scored{id, t.random.Float64()}
		ranking, twins = append(ranking, s), append(twins, Scored{twin, s.Score})
	}
	aggregate := map[string]string{"to": []string{"document", "parent"}[t.random.IntN(2)], "method": "max_p"}
	single := slices.DeleteFunc(Stages(), func(name string) bool { return name == StageFuse })
	other := single[t.random.IntN(len(single))]
	for _, run := range []StageRun{{Name: "aggregate", Settings: aggregate},
		{Name: other, Settings: stageSettings[other]}} {
		run.Query, run.Limit, run.Rankings = t.text, 10, [][]Scored{ranking}
		out, err := t.reader.Stage(run)
		if err != nil && !refused(err) {
			return err
		}
		run.Rankings = [][]Scored{twins}
		same, missing := t.reader.Stage(run)
		if (err == nil) != (missing == nil) || errors.Is(err, sheaf.ErrInvalid) != errors.Is(missing, sheaf.ErrInvalid) {
			t.leak("stage", "", "for hidden documents, %s returns the error %v, and for missing ones %v", run.Name, err, missing)
		}
		for i := range same {
			if id, ok := original[same[i].ID]; ok {
				same[i].ID = id
			}
		}
		// A minute later, ages differ a little.
		alike := func(a, b Scored) bool { return a.ID == b.ID && math.Abs(a.Score-b.Score) <= 1e-3*math.Abs(a.Score) }
		if err == nil && !slices.EqualFunc(out, same, alike) {
			t.leak("stage", "", "for hidden documents, %s returns %v, and for missing ones %v", run.Name, out, same)
		}
	}
	return nil
}
