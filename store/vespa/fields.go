package vespa

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/store"
)

// wordFields returns the fields for words, in the order of sheaf.Fields. The field for the body is named content.
func wordFields() []string {
	var out []string
	for _, f := range sheaf.Fields {
		out = append(out, wordField(f))
	}
	return out
}

func wordField(name string) string {
	if name == sheaf.FieldBody {
		return "content"
	}
	return name
}

// vectorField returns the name of a vector field in the schema.
func vectorField(name string) string {
	switch name {
	case store.VectorBody:
		return "embeddings"
	case store.VectorTitle:
		return "title_embedding"
	}
	return "vector_" + hex.EncodeToString([]byte(name))
}

// nearProfile returns the name of the rank profile that finds the nearest vectors of a field. The name has the number
// of dimensions, because a server silently pads or cuts vectors of other dimensions.
func nearProfile(v store.VectorField) string {
	return fmt.Sprintf("nearest_%s_%d", vectorField(v.Name), v.Dims)
}

// wordsProfile returns the name of the rank profile for BM25. The name has k1 and b, because a query cannot set them.
func (o *Options) wordsProfile() string {
	return "words_" + strings.NewReplacer(".", "_", "-", "m", "+", "").Replace(plain(o.K1)+"_"+plain(o.B))
}

// plain returns the shortest form of a number.
func plain(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// form says in which way a separate field stores the values of a column.
type form uint8

const (
	formList          form = iota // words
	formSet                       // words of weight 1
	formTruth                     // whether one of the values is true
	formNumber                    // the first number
	formNumbers                   // whole numbers
	formSeconds                   // the latest date
	formRelationships             // texts of three parts with "__" between them
)

// attribute is a separate field of the schema. It has the values of a column, besides the field with the words of all
// columns.
type attribute struct {
	// Field and Type are the name and the type in the schema.
	Field, Type string
	columns     []string // the values come from the first of these columns that a chunk has
	form        form
}

// Fast reports whether the field has an index for filters. Struct reports whether the values are structs.
func (a attribute) Fast() bool {
	return a.form == formList || a.form == formSet || a.form == formNumbers
}
func (a attribute) Struct() bool { return a.form == formRelationships }

// attributes are separate fields for rankings and for queries that users write. Columns "onyx.*" belong to package
// onyx.
var attributes = []attribute{
	{"tenant_id", "array<string>", []string{sheaf.ColumnTenant}, formList},
	{"access_control_list", "weightedset<string>", []string{sheaf.ColumnAccess}, formSet},
	{"document_sets", "weightedset<string>", []string{sheaf.ColumnSet}, formSet},
	{"hidden", "bool", []string{"onyx.hidden"}, formTruth},
	{"source_type", "array<string>", []string{"onyx.source"}, formList},
	{"metadata_list", "array<string>", []string{"onyx.tag", sheaf.ColumnTag}, formList},
	{"user_project", "array<int>", []string{"onyx.project"}, formNumbers},
	{"personas", "array<int>", []string{"onyx.persona"}, formNumbers},
	{"chunk_id", "int", []string{"onyx.index"}, formNumber},
	{"doc_updated_at", "long", []string{"onyx.updated", sheaf.ColumnDate}, formSeconds},
	{"boost", "double", []string{sheaf.PropertyColumn("boost")}, formNumber},
	{"aggregated_chunk_boost_factor", "double", []string{sheaf.PropertyColumn("chunk_boost")}, formNumber},
	{"kg_entities", "array<string>", []string{"onyx.entities"}, formList},
	{"kg_terms", "array<string>", []string{"onyx.terms"}, formList},
	{"kg_relationships", "array<kg_relationship>", []string{"onyx.relationships"}, formRelationships},
}

// value returns the field's value for a chunk with the columns c. If the chunk has no value, the result is nil, false
// or an empty list or map.
func (a attribute) value(c sheaf.Columns) any {
	var values []sheaf.Value
	for _, column := range a.columns {
		if values = c.Values(column); len(values) > 0 {
			break
		}
	}
	switch a.form {
	case formTruth:
		for _, v := range values {
			if v == sheaf.BoolValue(true) {
				return true
			}
		}
		return false
	case formNumber, formSeconds:
		return a.number(values)
	case formSet:
		out := map[string]int{}
		for _, v := range values {
			if v.Kind == sheaf.KindText {
				out[folded(v.Text)] = 1
			}
		}
		return out
	}
	list := []any{}
	for _, v := range values {
		switch {
		case a.form == formNumbers && v.Kind == sheaf.KindNumber && math.Abs(v.Number) <= math.MaxInt32:
			list = append(list, int(v.Number))
		case a.form == formList && v.Kind == sheaf.KindText:
			list = append(list, folded(v.Text))
		case a.form == formRelationships && v.Kind == sheaf.KindText:
			if parts := strings.SplitN(v.Text, "__", 3); len(parts) == 3 {
				list = append(list, map[string]string{"source": folded(parts[0]), "rel_type": folded(parts[1]),
					"target": folded(parts[2])})
			}
		}
	}
	return list
}

func (a attribute) number(values []sheaf.Value) any {
	var out any
	for _, v := range values {
		switch {
		case math.IsInf(v.Number, 0):
		case a.form == formNumber && v.Kind == sheaf.KindNumber && out == nil:
			out = v.Number
		case a.form == formSeconds && v.Kind == sheaf.KindDate:
			seconds := int64(math.Floor(v.Number / 1000))
			if last, ok := out.(int64); !ok || seconds > last {
				out = seconds
			}
		}
	}
	return out
}

// looked returns the field in which a filter looks up texts of a column. "" means the field with all columns' words.
func looked(column string) string {
	for _, a := range attributes {
		if (a.form == formList || a.form == formSet) && len(a.columns) == 1 && a.columns[0] == column {
			return a.Field
		}
	}
	return ""
}

// folded encodes a text in characters that no server folds, trims, forbids or reads as syntax. Different texts get
// different encodings, and usual names stay readable.
func folded(text string) string {
	var out strings.Builder
	for _, c := range []byte(text) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("_-.:@/=", c) >= 0 {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02x", c)
		}
	}
	return out.String()
}
