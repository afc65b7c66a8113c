package main

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strings"
)

const aboutCode = `
Query = the first sentence of the comment of a function, method or type, without the name it begins with.
Relevant = the source of the declaration without that comment. The corpus has one record for each function, method
and type, commented or not; title is the file.

Dropped: tests, generated files, sentences with fewer than four content words, sentences that occur more than once,
deprecated declarations, declarations of fewer than three lines, sentences that only refer to another declaration.

metadata.class says how far the words are those of the declared name or file: title, overlap (at least half),
low or none. Only the one declaration counts as right, so absolute figures are low bounds.
`

var (
	generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
	junkCode  = regexp.MustCompile(`(?i)deprecated|^(?:see|like|same as|todo|note|xxx|copied|equivalent|similar|` +
		`implements?|is the implementation|satisfies|as in)\b|\bimplements\s+(?:the\s+)?\S+(?:\s+interface)?\.?$|https?:|=`)
	camel = regexp.MustCompile(`([a-z0-9])([A-Z])`)
)

// isGo reports whether a path is Go source, without tests and copies of other modules.
func isGo(name string) bool {
	if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
		return false
	}
	for dir := range strings.SplitSeq(path.Dir(name), "/") {
		if dir == "testdata" || dir == "vendor" || strings.HasPrefix(dir, "_") {
			return false
		}
	}
	return true
}

func makeCode(o *options) (*collection, error) {
	files, err := readFiles(o, isGo)
	if err != nil {
		return nil, err
	}
	c := &collection{about: aboutCode}
	type found struct {
		query query
		count int
	}
	sentences := map[string]*found{}
	ids := map[string]bool{}
	for _, f := range files {
		if generated.MatchString(f.text) {
			continue
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, f.path, f.text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			continue // a repository may lack files
		}
		add := func(name string, comment *ast.CommentGroup, from, to token.Pos) {
			id := f.path + "#" + name
			text := f.text[set.Position(from).Offset:set.Position(to).Offset]
			if ids[id] || name == "_" || strings.HasSuffix(name, "init") || strings.Count(text, "\n") < 2 {
				return
			}
			ids[id] = true
			c.records = append(c.records, record{id, f.path, text})
			own := name[strings.LastIndexByte(name, '.')+1:]
			sentence := firstSentence(comment.Text(), own)
			if sentence == "" {
				return
			}
			k := key(sentence)
			if sentences[k] != nil {
				sentences[k].count++
				return
			}
			class := classOf(sentence, camel.ReplaceAllString(own, "$1 $2"), nameOf(f.path))
			sentences[k] = &found{query{Text: sentence, Metadata: metadata{Class: class}, relevant: []string{id}}, 1}
		}
		for _, d := range tree.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				name := d.Name.Name
				if d.Recv != nil && len(d.Recv.List) == 1 {
					name = receiver(d.Recv.List[0].Type) + "." + name
				}
				add(name, d.Doc, d.Type.Func, d.End())
			case *ast.GenDecl:
				if d.Tok != token.TYPE {
					continue
				}
				if len(d.Specs) == 1 && !d.Lparen.IsValid() {
					add(d.Specs[0].(*ast.TypeSpec).Name.Name, d.Doc, d.TokPos, d.End())
					continue
				}
				for _, s := range d.Specs {
					t := s.(*ast.TypeSpec)
					add(t.Name.Name, t.Doc, t.Pos(), t.End())
				}
			}
		}
	}
	var queries []query
	for _, f := range sentences {
		if f.count == 1 {
			queries = append(queries, f.query)
		}
	}
	c.queries = choose(queries, o.queries, 3, nil)
	c.limit(o.records)
	return c, nil
}

// receiver returns the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// firstSentence returns the first sentence of a comment without the name of its declaration. If the sentence is too
// short, too long or only about the name, it returns "".
func firstSentence(comment, name string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(comment), "\n\n")
	s := new(doc.Package).Synopsis(first)
	for _, article := range []string{"", "A ", "An ", "The "} {
		if cut, ok := strings.CutPrefix(s, article+name+" "); ok {
			s = cut
			break
		}
	}
	s = strings.TrimSuffix(strings.TrimSpace(s), ".")
	for _, verb := range []string{"is ", "are "} {
		s = strings.TrimPrefix(s, verb)
	}
	for _, w := range words(s) {
		if w == strings.ToLower(name) && len(content(s)) < 6 {
			return ""
		}
	}
	if weight(s) < 4 || len(s) > 250 || junkCode.MatchString(s) {
		return ""
	}
	return s
}
