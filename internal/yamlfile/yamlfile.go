// Package yamlfile parses YAML from untrusted files. It checks size and depth first, because the parser's time and
// memory grow with the square of the depth. If the parser panics, the caller gets a fault of the file.
package yamlfile

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Fault is an error in a text and its position. Line and Column count from 1; 0 means unknown.
type Fault struct {
	Line, Column int
	Text         string
}

// Error returns the position, if it is known, and the error.
func (f *Fault) Error() string {
	if f.Line == 0 {
		return f.Text
	}
	return fmt.Sprintf("line %d, column %d: %s", f.Line, f.Column, f.Text)
}

// Limits are the largest size of a text in bytes, and the largest depth of nested collections.
type Limits struct{ Bytes, Depth int }

// Parse parses a text within limits. Every error is a [Fault].
func Parse(text string, most Limits, options ...parser.Option) (file *ast.File, err error) {
	if len(text) > most.Bytes {
		return nil, &Fault{Text: fmt.Sprintf("%d bytes: at most %d are read", len(text), most.Bytes)}
	}
	if 3*strings.Count(text, "\x00") > len(text) { // as PowerShell writes files
		return nil, &Fault{Text: "the text is UTF-16: save it as UTF-8"}
	}
	text = strings.TrimPrefix(text, "\ufeff") // some editors write this mark first
	err = guarded("malformed YAML: ", func() error {
		tokens := lexer.Tokenize(text)
		if t := tooDeep(tokens, most.Depth); t != nil {
			return &Fault{t.Position.Line, t.Position.Column, fmt.Sprintf("nested deeper than %d levels", most.Depth)}
		}
		file, err = parser.Parse(tokens, 0, options...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return file, nil
}

// Decode stores a node of a parsed file in the variable to which into points. Unknown keys are faults. Every error is a
// [Fault].
func Decode(node ast.Node, into any) error {
	return guarded("", func() error { return yaml.NodeToValue(node, into, yaml.Strict()) })
}

// duplicateKey matches the parser's error for a repeated key: the key, and the line of the first one.
var duplicateKey = regexp.MustCompile(`^mapping key (".*") already defined at \[(\d+):\d+\]$`)

// guarded calls do and turns its error or panic into a fault. prefix comes before the text of the error.
func guarded(prefix string, do func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = &Fault{Text: "the YAML cannot be read"}
		}
	}()
	err = do()
	var fault *Fault
	if err == nil || errors.As(err, &fault) {
		return err
	}
	var placed yaml.Error
	if !errors.As(err, &placed) {
		first, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
		return &Fault{Text: prefix + first}
	}
	fault = &Fault{Text: prefix + placed.GetMessage()}
	if twice := duplicateKey.FindStringSubmatch(placed.GetMessage()); twice != nil {
		fault.Text = fmt.Sprintf("%s is set twice: line %s has it too", twice[1], twice[2])
	}
	if t := placed.GetToken(); t != nil && t.Position != nil {
		fault.Line, fault.Column = t.Position.Line, t.Position.Column
	}
	return fault
}

// tooDeep returns the first token at which collections are nested deeper than the limit, or nil. The depth is the sum
// of three numbers:
//   - the open brackets;
//   - outside brackets, the open block collections: one for each larger column at which a key or an item begins;
//   - inside brackets, the item marks and colons since the last comma, because each may open a collection.
func tooDeep(tokens token.Tokens, limit int) *token.Token {
	var columns []int // of the open block collections, ascending
	flow, marks := 0, 0
	for i, t := range tokens {
		begins := t
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow, marks = max(0, flow-1), 0
		case token.CollectEntryType:
			marks = 0
		case token.SequenceEntryType, token.MappingKeyType, token.MappingValueType:
			if flow > 0 {
				marks++
				break
			}
			if t.Type == token.MappingValueType && i > 0 {
				begins = tokens[i-1] // the key
			}
			column := begins.Position.Column
			for len(columns) > 0 && columns[len(columns)-1] >= column {
				columns = columns[:len(columns)-1]
			}
			columns = append(columns, column)
		}
		if flow+len(columns)+marks > limit {
			return begins
		}
	}
	return nil
}
