package collection

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/profile"
)

// audited is a document with the values that decide who may see it.
type audited struct {
	id     sheaf.ID
	chunks []sheaf.ID
	tenant []string
	access []string
	sets   []string
	tags   []string // in lower case
	words  []string
	values []string // query conditions on its properties: prop.NAME:begin*
	// columns are the document's texts in each column of the store.
	columns map[string][]string
}

// learned is what an audit knows about the documents of one generation.
type learned struct {
	generation uint64
	docs       []audited
	at         map[sheaf.ID]int // documents and chunks
	tenants    []string
	people     []string
	sets       []string
	tags       []string
	profiles   []string
	sorts      []string // columns that can sort
	roots      []string // paths of the folders, as JSON writes them
}

// latest stores the newest learned state for all rounds of an audit. While others write, the
// readers of two rounds may see different documents.
type latest struct {
	mu    sync.Mutex
	known *learned
	// sure counts rounds with leaks during which nothing was written.
	sure atomic.Int32
}

// of returns what is known about the documents of a view. The caller must not change it. The error is
// sheaf.ErrNotFound when there are no documents.
func (l *latest) of(view *catalog.View, profileDirs []string) (*learned, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known != nil && l.known.generation == view.Generation() {
		return l.known, nil
	}
	known, err := learn(view, profileDirs)
	if err != nil {
		return nil, err
	}
	if len(known.docs) == 0 {
		return nil, fmt.Errorf("%w: there are no documents to look for: index the folder first, with sheaf index",
			sheaf.ErrNotFound)
	}
	l.known = known
	return known, nil
}

// learn reads the documents and their values.
func learn(view *catalog.View, profileDirs []string) (*learned, error) {
	a := &learned{generation: view.Generation(), at: map[sheaf.ID]int{}}
	kinds := map[string]map[string]bool{"tenant": {}, "access": {}, "sets": {}}
	tags := map[string]bool{}
	names := map[string]bool{}
	for id := range view.Files() {
		rec, err := view.Record(id)
		if err != nil {
			return nil, err
		}
		d := audited{id: id, columns: map[string][]string{}}
		for _, c := range ingest.Columns(&rec.Document, rec.Date) {
			for _, v := range c.Values {
				d.columns[c.Name] = append(d.columns[c.Name], v.String())
			}
		}
		said := map[string]bool{}
		for _, p := range rec.Document.Properties {
			name := strings.ToLower(p.Name)
			if isPlain(name) {
				names[name] = true
				for _, v := range p.Values {
					d.values = append(d.values, begins(name, v.String()))
				}
			}
			if kinds[name] == nil || said[name] {
				continue
			}
			said[name] = true
			var texts []string
			for _, v := range p.Values {
				texts = append(texts, v.String())
				kinds[name][v.String()] = true
			}
			switch name {
			case "tenant":
				d.tenant = texts
			case "access":
				d.access = texts
			case "sets":
				d.sets = texts
			}
		}
		for _, tag := range rec.Document.Tags {
			tag = strings.ToLower(tag)
			d.tags = append(d.tags, tag)
			if isPlain(tag) {
				tags[tag] = true
			}
		}
		for i := range rec.Document.Chunks {
			ch := &rec.Document.Chunks[i]
			d.chunks = append(d.chunks, ch.ID)
			d.words = append(d.words, strings.Fields(ch.Title)...)
			a.at[ch.ID] = len(a.docs)
		}
		a.at[id] = len(a.docs)
		a.docs = append(a.docs, d)
	}
	keysOf := func(column string) []string { return slices.Sorted(maps.Keys(kinds[column])) }
	a.tenants, a.people, a.sets, a.tags = keysOf("tenant"), keysOf("access"), keysOf("sets"),
		slices.Sorted(maps.Keys(tags))
	a.sorts = []string{"date", "-path"}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a.sorts = append(a.sorts, "prop."+name, "-prop."+name)
	}
	for _, tree := range view.Settings().Trees {
		if tree.Root != "" {
			a.roots = append(a.roots, written(sheaf.ID(tree.Root)))
		}
	}
	infos, err := profile.List(profileDirs...)
	if err != nil {
		return nil, err
	}
	for _, info := range infos {
		if info.Err == nil {
			a.profiles = append(a.profiles, info.Name)
		}
	}
	return a, view.Err()
}

// isPlain reports whether a query can hold the name of a property without quotes.
func isPlain(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return c != '_' && c != '-' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
}

// begins returns the condition that a property begins like this value.
func begins(name, value string) string {
	word, _, _ := strings.Cut(value, " ")
	letters := []rune(word)
	return "prop." + name + ":" + string(letters[:min(2, len(letters))]) + "*"
}
