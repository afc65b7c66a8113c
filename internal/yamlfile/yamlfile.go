// Package yamlfile parses YAML that anybody may have written: sizes and depths are
// bounded before the parser sees them, since its memory and time grow with the
// square of the depth, and its panics are faults of the file.
package yamlfile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Fault is what is wrong with a text, and where: line and column count from 1, and
// are 0 where there is no place.
type Fault struct {
	Line, Column int
	Text         string
}

// Error says the place, where there is one, and what is wrong there.
func (f *Fault) Error() string {
	if f.Line == 0 {
		return f.Text
	}
	return fmt.Sprintf("line %d, column %d: %s", f.Line, f.Column, f.Text)
}

// Limits are the most that a text may have: bytes, and collections within each
// other.
type Limits struct{ Bytes, Depth int }

// Parse parses a text within limits. Every error is a [Fault].
func Parse(text string, most Limits, options ...parser.Option) (file *ast.File, err error) {
	if len(text) > most.Bytes {
		return nil, &Fault{Text: fmt.Sprintf("%d bytes: at most %d are read", len(text), most.Bytes)}
	}
	text = strings.TrimPrefix(text, "\ufeff") // with which some editors begin files
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

// Decode gives into, a pointer, what a node of a parsed file says. Keys that it does
// not know are faults. Every error is a [Fault].
func Decode(node ast.Node, into any) error {
	return guarded("", func() error { return yaml.NodeToValue(node, into, yaml.Strict()) })
}

// guarded makes every error of do, and its panic, a fault. prefix goes before what do
// says.
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
	if t := placed.GetToken(); t != nil && t.Position != nil {
		fault.Line, fault.Column = t.Position.Line, t.Position.Column
	}
	return fault
}

// tooDeep is the token at which collections are nested deeper than most, nil when
// none are: brackets, marks of items and keys that no comma separates within brackets, and
// elsewhere the columns in which items and keys begin.
func tooDeep(tokens token.Tokens, most int) *token.Token {
	var columns []int // of the block collections that are open, rising
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
		if flow+len(columns)+marks > most {
			return begins
		}
	}
	return nil
}
