package lint_test

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// jsonTypes names the types of members whose Go types the page does not describe as objects.
var jsonTypes = map[string]string{
	"bool": "boolean", "string": "string", "int": "number", "int64": "number", "uint64": "number",
	"float64": "number", "any": "value", "main.span": "range", "time.Time": "time", "sheaf.Value": "value",
	"sheaf.LinkKind": "string",
}

var (
	updateJSON = flag.Bool("update-json", false, "write doc/json-reference.md")
	schemaName = regexp.MustCompile(`^sheaf\.[a-z-]+/[0-9]+$`)
	startVerb  = regexp.MustCompile(`^(is|are|has|lists) `)
	wordInName = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)
)

// TestJSONOfDocument checks that doc/json-reference.md lists every member of the JSON that commands
// print. go test ./internal/lint -run TestJSONOfDocument -update-json writes it.
func TestJSONOfDocument(t *testing.T) {
	p := &jsonPage{t: t, types: map[string]jsonType{}, constants: map[string]string{}, headings: map[string]string{}}
	var files []*ast.File
	program(t, func(_ string, n ast.Node) {
		if file, ok := n.(*ast.File); ok {
			files = append(files, file)
			p.declare(file)
		}
	})
	carriers := map[string]string{"chunks": "main.chunkJSON"} // `sheaf chunks` prints objects without a schema
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.CompositeLit); ok && file.Name.Name == "main" && len(literal.Elts) > 0 {
				if schema := p.schema(literal.Elts[0]); schema != "" && literal.Type != nil {
					carriers[schema] = typeName("main", literal.Type)
				}
			}
			if text, ok := n.(*ast.BasicLit); ok && schemaName.MatchString(constant(text)) {
				carriers[constant(text)] += "" // an error below if nothing carries it
			}
			return true
		})
	}
	p.text.WriteString("# Members of JSON output\n\nA test writes this page from the program (`go test " +
		"./internal/lint -run TestJSONOfDocument -update-json`). It lists\nevery member of the objects that commands " +
		"print with `--json`. [JSON output](json.md) and [of\nmeasurements](json-measuring.md) have the rules and " +
		"examples, [explanations](explanations.md) those of an explanation.\n" +
		"An object whose heading is a schema also has the member `schema`, with this name.\n\n" +
		"A range is `[start, end]`: numbers of bytes, without byte end. A time is a text of RFC 3339. A value is a\ntext, " +
		"a number, a boolean or a list of texts. Absent says that the member is missing when there is nothing to say.\n")
	for schema, name := range carriers {
		p.headings[name] = schema
	}
	for _, schema := range slices.Sorted(maps.Keys(carriers)) {
		if carriers[schema] == "" {
			t.Errorf("no struct has the schema %s as its first member", schema)
			continue
		}
		p.describe("## "+schema, carriers[schema])
		for ; len(p.waiting) > 0; p.waiting = p.waiting[1:] {
			p.describe("### "+p.headings[p.waiting[0]], p.waiting[0])
		}
	}
	name := filepath.Join("..", "..", "doc", "json-reference.md")
	if *updateJSON {
		_ = os.WriteFile(name, []byte(p.text.String()), 0o644) // the next lines report an error
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != p.text.String() {
		t.Errorf("doc/json-reference.md is not what -update-json writes: %v", err)
	}
}

// jsonType is a Go type with its comment.
type jsonType struct {
	expr    ast.Expr
	comment string
}

// jsonPage writes doc/json-reference.md. Names of types and constants begin with their package.
type jsonPage struct {
	t         *testing.T
	types     map[string]jsonType
	constants map[string]string // the schemas that are constants
	headings  map[string]string // the headings of the objects, by type
	waiting   []string          // the types of objects without a description
	text      strings.Builder
}

// declare adds the types and the schemas of a file.
func (p *jsonPage) declare(file *ast.File) {
	for _, decl := range file.Decls {
		decl, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				p.types[file.Name.Name+"."+spec.Name.Name] = jsonType{spec.Type, spec.Doc.Text() + decl.Doc.Text()}
			case *ast.ValueSpec:
				if len(spec.Values) == 1 && schemaName.MatchString(constant(spec.Values[0])) {
					p.constants[file.Name.Name+"."+spec.Names[0].Name] = constant(spec.Values[0])
				}
			}
		}
	}
}

// schema returns the schema that is the first element of a struct, or "".
func (p *jsonPage) schema(element ast.Expr) string {
	if pair, ok := element.(*ast.KeyValueExpr); ok {
		element = pair.Value
	}
	if text := constant(element); schemaName.MatchString(text) {
		return text
	}
	return p.constants[typeName("main", element)]
}

// typeName returns the name of a type or constant with its package. folder is the package of e.
func typeName(folder string, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(folder, e.X)
	case *ast.Ident:
		return folder + "." + e.Name
	}
	return types.ExprString(e)
}

// describe writes the members of the struct called name.
func (p *jsonPage) describe(heading, name string) {
	_, local, _ := strings.Cut(name, ".")
	fmt.Fprintf(&p.text, "\n%s\n\n", heading)
	comment, _, _ := strings.Cut(strings.ReplaceAll(p.types[name].comment, "\n", " "), ". ")
	if comment == "" {
		p.t.Errorf("%s has no comment", name)
	}
	fmt.Fprintf(&p.text, "%s\n\n", sentence(local, comment))
	p.text.WriteString("| member | type | meaning |\n|---|---|---|\n")
	p.members(name)
}

// members writes one line for each member of the struct called name.
func (p *jsonPage) members(name string) {
	structure, ok := p.types[name].expr.(*ast.StructType)
	if !ok {
		p.t.Errorf("%s is no struct of the program", name)
		return
	}
	folder, _, _ := strings.Cut(name, ".")
	for _, field := range structure.Fields.List {
		if field.Tag == nil {
			if len(field.Names) == 0 {
				p.members(typeName(folder, field.Type))
			}
			continue
		}
		tag := reflect.StructTag(constant(field.Tag))
		member, options, _ := strings.Cut(tag.Get("json"), ",")
		if member == "" || member == "-" || member == "schema" {
			continue
		}
		word, link := p.typeOf(folder, field.Type)
		if _, pointer := field.Type.(*ast.StarExpr); options != "" {
			word += " or absent"
		} else if pointer && word != "object" {
			word += " or null"
		}
		meaning := sentence(field.Names[0].Name, cmp.Or(tag.Get("doc"), field.Comment.Text(), field.Doc.Text()))
		if meaning == "" {
			p.t.Errorf("%s: the member %s has no comment", name, member)
		}
		fmt.Fprintf(&p.text, "| `%s` | %s%s | %s |\n", member, word, link, meaning)
	}
}

// typeOf returns the type of a member in words, and a link to the description of an object.
func (p *jsonPage) typeOf(folder string, e ast.Expr) (word, link string) {
	switch e := e.(type) {
	case *ast.StarExpr:
		return p.typeOf(folder, e.X)
	case *ast.ArrayType:
		word, link = p.typeOf(folder, e.Elt)
		return many(word), link
	case *ast.MapType:
		word, link = p.typeOf(folder, e.Value)
		return many(word) + " by name", link
	}
	name := typeName(folder, e)
	if word := cmp.Or(jsonTypes[name], jsonTypes[strings.TrimPrefix(name, folder+".")]); word != "" {
		return word, ""
	}
	found, ok := p.types[name]
	if _, structure := found.expr.(*ast.StructType); ok && !structure {
		return p.typeOf(name[:strings.Index(name, ".")], found.expr)
	}
	if p.headings[name] == "" {
		p.headings[name] = p.heading(name)
		p.waiting = append(p.waiting, name)
	}
	anchor := strings.NewReplacer(" ", "-", ".", "", "/", "").Replace(p.headings[name])
	return "object", fmt.Sprintf(" ([%s](#%s))", p.headings[name], anchor)
}

// many returns the plural of a type in words.
func many(word string) string {
	if strings.HasSuffix(word, "s") {
		return "lists of " + word
	}
	return word + "s"
}

// heading returns a heading for the struct called name that no other struct has.
func (p *jsonPage) heading(name string) string {
	folder, local, _ := strings.Cut(name, ".")
	heading := strings.ToLower(strings.Join(wordInName.FindAllString(strings.TrimSuffix(local, "JSON"), -1), " "))
	_, command := p.types["main."+heading+"JSON"]
	if command && folder != "main" || slices.Contains(slices.Collect(maps.Values(p.headings)), heading) {
		return folder + " " + heading
	}
	return heading
}

// sentence returns the comment of name as one line, without "name is" at its start.
func sentence(name, comment string) string {
	text := strings.ReplaceAll(strings.Join(strings.Fields(comment), " "), "|", "\\|")
	if rest, ok := strings.CutPrefix(text, name+" "); ok {
		text = startVerb.ReplaceAllString(rest, "")
	}
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}
