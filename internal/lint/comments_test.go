package lint_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestExportedNamesHaveComments checks that exported names and packages have comments, and that files
// have at most 800 lines. It skips tests and folders called bench. Generated files may be longer.
func TestExportedNamesHaveComments(t *testing.T) {
	root := filepath.Join("..", "..")
	packages := map[string]bool{}
	must.Do(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bench" ||
			name == "shared") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := filepath.Dir(path)
		packages[dir] = packages[dir] || file.Doc.Text() != ""
		n := fset.File(file.Pos()).LineCount()
		check.That(t, n <= 800 || ast.IsGenerated(file), "%s has %d lines: split it by construct", path, n)
		for _, missing := range uncommented(file) {
			t.Errorf("%s: exported %s has no comment", fset.Position(missing.Pos()), missing.Name)
		}
		return nil
	}))
	for dir, has := range packages {
		check.That(t, has, "%s: the package has no comment", dir)
	}
	must.That(t, len(packages) != 0, "no packages found")
}

func uncommented(file *ast.File) []*ast.Ident {
	var missing []*ast.Ident
	check := func(id *ast.Ident, docs ...*ast.CommentGroup) {
		if !id.IsExported() {
			return
		}
		for _, doc := range docs {
			if doc.Text() != "" {
				return
			}
		}
		missing = append(missing, id)
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil || receiverExported(decl.Recv) {
				check(decl.Name, decl.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					check(spec.Name, decl.Doc, spec.Doc)
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						check(id, decl.Doc, spec.Doc, spec.Comment)
					}
				}
			}
		}
	}
	return missing
}

func receiverExported(recv *ast.FieldList) bool {
	t := recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}
