package collection

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/profile"
)

// auditedDocument is a document with the values that determine who may see the document.
type auditedDocument struct {
	id     sheaf.ID
	chunks []sheaf.ID
	tenant []string
	access []string
	sets   []string
	tags   []string // in lower case
	words  []string
	values []string // query conditions on its properties: prop.NAME:begin*
	// columns holds the texts of the document, by column of the store.
	columns map[string][]string
}

// knownDocuments holds the documents of one generation of the catalog.
type knownDocuments struct {
	generation uint64
	docs       []auditedDocument
	index      map[sheaf.ID]int // of documents and chunks in docs
	tenants    []string
	people     []string
	sets       []string
	tags       []string
	profiles   []string
	sorts      []string // columns that can sort
	roots      []string // paths of the folders, as JSON writes them
}

// learn reads all documents of a view, unless it has already read them at this generation. A view without documents
// gives sheaf.ErrNotFound.
func (of *auditor) learn(view *catalog.View) error {
	if of.docs != nil && of.generation == view.Generation() {
		return nil
	}
	a := knownDocuments{generation: view.Generation(), index: map[sheaf.ID]int{}}
	var names []string
	for id := range view.Files() {
		rec, err := view.Record(id)
		if err != nil {
			return err
		}
		d := auditedDocument{id: id, columns: map[string][]string{}}
		for _, c := range ingest.Columns(&rec.Document, rec.Date) {
			d.columns[c.Name] = append(d.columns[c.Name], textsOf(c.Values)...)
		}
		lists := map[string]*[]string{"tenant": &d.tenant, "access": &d.access, "sets": &d.sets}
		for _, p := range rec.Document.Properties {
			name, texts := strings.ToLower(p.Name), textsOf(p.Values)
			if isPlain(name) {
				names = append(names, name)
				for _, text := range texts {
					d.values = append(d.values, begins(name, text))
				}
			}
			if list := lists[name]; list != nil && *list == nil { // the first of this name counts
				*list = texts
			}
		}
		for _, tag := range rec.Document.Tags {
			d.tags = append(d.tags, strings.ToLower(tag))
		}
		for i := range rec.Document.Chunks {
			ch := &rec.Document.Chunks[i]
			d.chunks = append(d.chunks, ch.ID)
			d.words = append(d.words, strings.Fields(ch.Title)...)
			a.index[ch.ID] = len(a.docs)
		}
		a.index[id] = len(a.docs)
		a.docs = append(a.docs, d)
		a.tenants, a.people, a.sets = append(a.tenants, d.tenant...), append(a.people, d.access...), append(a.sets, d.sets...)
		a.tags = append(a.tags, d.tags...)
	}
	for _, list := range []*[]string{&a.tenants, &a.people, &a.sets, &a.tags, &names} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	a.tags = slices.DeleteFunc(a.tags, func(tag string) bool { return !isPlain(tag) })
	a.sorts = []string{"date", "-path"}
	for _, name := range names {
		a.sorts = append(a.sorts, "prop."+name, "-prop."+name)
	}
	for _, tree := range view.Settings().Trees {
		if tree.Root != "" {
			a.roots = append(a.roots, written(sheaf.ID(tree.Root)))
		}
	}
	infos, err := profile.List(of.c.o.ProfileDirs...)
	if err != nil {
		return err
	}
	for _, info := range infos {
		if info.Err == nil {
			a.profiles = append(a.profiles, info.Name)
		}
	}
	if len(a.docs) == 0 {
		return fmt.Errorf("%w: there are no documents to look for: index the folder first, with sheaf index",
			sheaf.ErrNotFound)
	}
	of.knownDocuments = a
	return view.Err()
}

func textsOf(values []sheaf.Value) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = v.String()
	}
	return texts
}

// isPlain reports whether the name of a property needs no quotes in a query.
func isPlain(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return c != '_' && c != '-' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
}

// begins returns a condition of the query language. It matches documents with a value of the property called name that
// begins with the first two characters of value.
func begins(name, value string) string {
	word, _, _ := strings.Cut(value, " ")
	letters := []rune(word)
	return "prop." + name + ":" + string(letters[:min(2, len(letters))]) + "*"
}
