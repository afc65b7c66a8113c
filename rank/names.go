package rank

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"sheaf"
)

// NameMatch says how well a name matches the query. Name and query are compared as sets of words.
type NameMatch struct {
	// Asked is the share, 0..1, of the query's words that the name has. Words are weighted by idf.
	Asked float64
	// Said is the share, 0..1, of the name's content words that the query has.
	Said float64
}

// Names raises hits if the query names their document or their heading. It adds to the score of a hit
//
//	Document * name(document) + Heading * name(heading of the section) + equal
//
//	name(t) = asked(t) * said(t), in 0..1
//	asked(t) = sum of the idf of the query's words in t / sum of the idf of all words of the query
//	said(t)  = content words of t in the query / content words of t
//	name(document) = the largest value among its title, its aliases and its file name; a file
//	called index, readme or _index has the name of its folder
//
// The root chunk of a document gets no value for its heading, because this heading is the document's name.
//
// name(t) is near 1 if the query and the name have the same words. It is near 0 if they share only one word of a long
// query or of a long name. The same stage therefore works for queries that are names and for questions.
//
// equal is above 0 only if a name equals the query, except for case and the amount of white space:
//   - for the root chunk of a document, Title if the title equals the query, or Alias if another name does;
//   - for a section, Equal if the heading equals the query.
//
// If several names equal the query, the largest value counts.
//
// Example, Document 0.3, Heading 0.3: the query has two words of equal idf. The title has one of them and one other
// content word, so name(document) = 0.5 * 0.5. The heading consists of the two words, so name(heading) = 1. Names adds
// 0.3 * 0.25 + 0.3 * 1 = 0.375.
//
// For the words of a name, said is the precision and asked is the recall. This is coordination level matching with idf
// (Spärck Jones 1972).
type Names struct {
	Document float64 // 0..1e6: weight of the name of the document
	Heading  float64 // 0..1e6: weight of the heading
	Title    float64 // 0..1e6: for a title that equals the query
	Alias    float64 // 0..1e6: for another name that equals the query
	Equal    float64 // 0..1e6: for a heading that equals the query
}

// Apply implements [Stage]. Without [Env.Named] it only adds equal.
func (n Names) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	const stage = "names"
	if err := env.check(stage, in); err != nil {
		return nil, err
	}
	asked := foldNames(env.Query, env.Typed)
	documents := map[*sheaf.Outline]nameValue{}
	return addEach(stage, in, func(h *sheaf.Hit, s *sum) {
		c := env.Facts.Node(h.ID)
		if c == nil {
			return
		}
		if env.Named != nil {
			document := nameValue{}
			if o := outlineOf(env.Facts, c); o != nil {
				var known bool
				if document, known = documents[o]; !known {
					document = documentName(o, env.Named)
					documents[o] = document
				}
			}
			s.add(n.Document*document.value(), func() sheaf.Explanation {
				return document.explain("name of the document", "document", n.Document)
			})
			heading := nameValue{}
			if isSection(c) {
				heading = nameValue{c.Title, env.Named(c.Title)}
			}
			s.add(n.Heading*heading.value(), func() sheaf.Explanation {
				return heading.explain("own heading", "heading", n.Heading)
			})
		}
		n.addEqual(s, env.Facts, c, asked)
	})
}

// addEqual finds the names of c that equal the query, and adds the largest of their values to s. asked has the folded
// forms of the query.
func (n Names) addEqual(s *sum, facts Facts, c *sheaf.Node, asked []string) {
	best, of := 0.0, ""
	names(facts, c, func(name string, kind nameKind) {
		value := [...]float64{n.Title, n.Alias, n.Alias, n.Equal}[kind]
		equals := func(query string) bool { return folds(query, name) }
		if value > best && slices.ContainsFunc(asked, equals) {
			best, of = value, kind.String()
		}
	})
	s.add(best, func() sheaf.Explanation {
		_, name, _ := strings.Cut(of, " ") // without the article
		details := map[string]sheaf.Value{"of": sheaf.TextValue(name)}
		return called(part(of+" equals the query", best), sheaf.KindEqual, details)
	})
}

// nameValue is a name of a document or heading, and how well it matches the query.
type nameValue struct {
	name  string
	match NameMatch
}

func (v nameValue) value() float64 { return v.match.Asked * v.match.Said }

// explain explains weight times the value of the name. The label begins with the parameter what. owner is "document" or
// "heading": the thing that has the name.
func (v nameValue) explain(what, owner string, weight float64) sheaf.Explanation {
	name := shortened(v.name)
	e := combined(what+" "+strconv.Quote(name), weight*v.value(), sheaf.CombineProduct,
		part("weight", weight), part("share of the query in the name", v.match.Asked),
		part("share of the name in the query", v.match.Said))
	return called(e, sheaf.KindName, map[string]sheaf.Value{"of": sheaf.TextValue(owner), "name": sheaf.TextValue(name)})
}

// shownName is the largest number of characters of a name in an explanation. A longer name is cut and ends with "…".
const shownName = 100

// shortened cuts a name to at most shownName characters.
func shortened(name string) string {
	n := 0
	for i := range name {
		if n++; n > shownName {
			return name[:i] + "…"
		}
	}
	return name
}

// documentName returns the name of a document that matches the query best. If several names match equally well, the
// title comes first, then the aliases, then the file name.
func documentName(o *sheaf.Outline, named func(string) NameMatch) nameValue {
	best := nameValue{}
	try := func(name string) {
		if v := (nameValue{name, named(name)}); v.value() > best.value() {
			best = v
		}
	}
	if len(o.Nodes) > 0 && !isSection(&o.Nodes[0]) {
		try(o.Nodes[0].Title)
	}
	for _, alias := range o.Aliases {
		try(alias)
	}
	file := path.Base(o.Path)
	stem := strings.TrimSuffix(file, path.Ext(file))
	if slices.Contains([]string{"index", "readme", "_index"}, strings.ToLower(stem)) {
		stem = path.Base(path.Dir(o.Path))
	}
	try(stem)
	return best
}
