package postgres

import (
	"fmt"
	"strings"

	"sheaf"
	"sheaf/store"
)

// statement builds an SQL statement and its parameters.
type statement struct {
	args  []any
	parts []string // common table expressions
}

// arg adds the parameter v to the statement, and returns its placeholder. kind is the SQL type of the parameter.
func (s *statement) arg(v any, kind string) string {
	s.args = append(s.args, v)
	return fmt.Sprintf("$%d::%s", len(s.args), kind)
}

// withTable adds a common table expression with this body to the statement. It returns its name, which begins with
// prefix.
func (s *statement) withTable(prefix, body string) string {
	name := fmt.Sprintf("%s%d", prefix, len(s.parts))
	s.parts = append(s.parts, name+" AS ("+body+")")
	return name
}

// withOnce does the same as withTable, but the server computes the expression only once. If the tables have no
// statistics, the server may otherwise compute it again for each row of a join.
func (s *statement) withOnce(prefix, body string) string {
	name := fmt.Sprintf("%s%d", prefix, len(s.parts))
	s.parts = append(s.parts, name+" AS MATERIALIZED ("+body+")")
	return name
}

// maxArgs is the largest number of parameters that the protocol allows.
const maxArgs = 65_535

// text returns the whole statement, which ends with final. Call it after all parameters are added.
func (s *statement) text(final string) (string, error) {
	if len(s.args) > maxArgs {
		return "", fmt.Errorf("postgres: search: %w: the query and its filter take %d parameters, where the server takes "+
			"%d: name the values of one column together, or leave parts out", sheaf.ErrUnsupported, len(s.args), maxArgs)
	}
	if len(s.parts) == 0 {
		return final, nil
	}
	return "WITH " + strings.Join(s.parts, ",\n") + "\n" + final, nil
}

// maxFilters limits the parts of a filter. The store refuses a larger filter before it builds a statement; see maxArgs.
const maxFilters = 10_000

// validate returns an error for a request that cannot become a statement.
func validate(req *store.Request) error {
	if err := req.ValidatePlain(); err != nil {
		return err
	}
	return checkFilter(req.Filter)
}

func checkFilter(f sheaf.Filter) error { return store.ValidateParts(f, "postgres: search", maxFilters) }

// keyBytes is the largest number of bytes of a name or a text in the indexes of the table "property". The indexes omit
// later bytes.
const keyBytes = 256

// filter returns the SQL condition for f on c, a row of the table chunk.
func (s *statement) filter(f sheaf.Filter) string {
	switch f := f.(type) {
	case sheaf.And:
		return s.filters(f, " AND ", "true")
	case sheaf.Or:
		return s.filters(f, " OR ", "false")
	case sheaf.Not:
		return "NOT " + s.filter(f.Filter)
	case sheaf.In:
		return s.in(f)
	case sheaf.Range:
		return s.between(f)
	case sheaf.Exists:
		return s.hasValue(f.Column, "true")
	case sheaf.HasPrefix:
		prefix := []byte(f.Prefix)
		condition := "kind = 1"
		if len(prefix) > 0 {
			condition += " AND substring(text for " + s.arg(len(prefix), "int") + ") = " + s.arg(prefix, "bytea")
			condition += s.span(prefix)
		}
		return s.hasValue(f.Column, condition)
	}
	return "false"
}

// span returns an SQL condition for texts that start with prefix. The condition tests at most keyBytes bytes of prefix.
// The condition begins with AND, and an index can answer it.
func (s *statement) span(prefix []byte) string {
	prefix = prefix[:min(len(prefix), keyBytes)]
	out := fmt.Sprintf(" AND substring(text for %d) >= %s", keyBytes, s.arg(prefix, "bytea"))
	if end := prefixEnd(prefix); end != nil {
		out += fmt.Sprintf(" AND substring(text for %d) < %s", keyBytes, s.arg(end, "bytea"))
	}
	return out
}

// prefixEnd returns the first text that sorts after all texts with this prefix. Without such a text, it returns nil.
func prefixEnd(prefix []byte) []byte {
	for n := len(prefix); n > 0; n-- {
		if prefix[n-1] < 0xff {
			out := append([]byte{}, prefix[:n]...)
			out[n-1]++
			return out
		}
	}
	return nil
}

func (s *statement) filters(list []sheaf.Filter, join, none string) string {
	if len(list) == 0 {
		return none
	}
	parts := make([]string, len(list))
	for i, f := range list {
		parts[i] = s.filter(f)
	}
	return "(" + strings.Join(parts, join) + ")"
}

// hasValue returns an SQL condition on chunk c: the column has a value for which the given condition is true.
func (s *statement) hasValue(column, condition string) string {
	name := []byte(column)
	short := name[:min(len(name), keyBytes)]
	return fmt.Sprintf("c.ord IN (SELECT chunk FROM property WHERE substring(name for %d) = %s AND name = %s AND %s)",
		keyBytes, s.arg(short, "bytea"), s.arg(name, "bytea"), condition)
}

func (s *statement) in(f sheaf.In) string {
	var texts, keys [][]byte
	numbers := map[sheaf.Kind][]float64{}
	for _, v := range f.Values {
		if v.Kind == sheaf.KindText {
			t := []byte(v.Text)
			texts = append(texts, t)
			keys = append(keys, t[:min(len(t), keyBytes)])
		} else if !v.IsZero() {
			numbers[v.Kind] = append(numbers[v.Kind], v.Number)
		}
	}
	var any []string
	if len(texts) > 0 {
		any = append(any, s.hasValue(f.Column, fmt.Sprintf("kind = 1 AND substring(text for %d) = ANY(%s) AND text = ANY(%s)",
			keyBytes, s.arg(keys, "bytea[]"), s.arg(texts, "bytea[]"))))
	}
	for _, kind := range []sheaf.Kind{sheaf.KindNumber, sheaf.KindDate, sheaf.KindBool} {
		if list := numbers[kind]; len(list) > 0 {
			any = append(any, s.hasValue(f.Column, fmt.Sprintf("kind <> 1 AND kind = %d AND number = ANY(%s)", kind,
				s.arg(list, "float8[]"))))
		}
	}
	if len(any) == 0 {
		return "false"
	}
	return "(" + strings.Join(any, " OR ") + ")"
}

func (s *statement) between(f sheaf.Range) string {
	kind, ok := f.Kind()
	if !ok {
		return "false"
	}
	condition := fmt.Sprintf("kind = %d", kind)
	column := "text"
	value := func(v sheaf.Value) string { return s.arg([]byte(v.Text), "bytea") }
	if kind != sheaf.KindText {
		condition += " AND kind <> 1"
		column = "number"
		value = func(v sheaf.Value) string { return s.arg(v.Number, "float8") }
	}
	if !f.Min.IsZero() {
		condition += " AND " + column + operator(" >", f.MinOpen) + value(f.Min)
	}
	if !f.Max.IsZero() {
		condition += " AND " + column + operator(" <", f.MaxOpen) + value(f.Max)
	}
	return s.hasValue(f.Column, condition)
}

func operator(sign string, open bool) string {
	if open {
		return sign + " "
	}
	return sign + "= "
}
