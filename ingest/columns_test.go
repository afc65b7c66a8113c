package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/text/chunk"
)

// TestColumnsHoldValuesOnce checks that a column holds each value once, in the order of the
// document, up to a limit. Of a deep tag, it also holds the ancestors near the top.
func TestColumnsHoldValuesOnce(t *testing.T) {
	doc := &sheaf.Document{ID: "t:a.md", Tree: "t", Path: "a.md"}
	var values, want []sheaf.Value
	for i := range 300 {
		for _, format := range []string{"Value %d", "value %d"} {
			values = append(values, sheaf.TextValue(fmt.Sprintf(format, i%100)))
		}
		if i < 100 {
			want = append(want, sheaf.TextValue(fmt.Sprintf("value %d", i)))
		}
	}
	doc.Properties = []sheaf.Property{{Name: "Kind", Values: values[:250]}, {Name: "kind", Values: values},
		{Name: "access", Values: values}}
	deep := strings.TrimSuffix(strings.Repeat("a/", 20_000), "/")
	doc.Tags = []string{"Work/Now", "work/later", "/odd", deep}
	columns := map[string][]sheaf.Value{}
	for _, c := range Columns(doc, sheaf.Dated{}) {
		check.That(t, columns[c.Name] == nil, "%s appears twice", c.Name)
		columns[c.Name] = c.Values
	}
	check.List(t, columns[sheaf.PropertyColumn("kind")], want, "values of a property written in two ways")
	check.Equal(t, len(columns[sheaf.ColumnAccess]), 200, "groups")
	tags := columns[sheaf.ColumnTag]
	for i, want := range []string{"work/now", "work", "work/later", "/odd", deep, deep[:2*maxTagsAbove-1]} {
		check.Equal(t, tags[i], sheaf.TextValue(want),
			"tag %d", i)
	}
	if last := tags[len(tags)-1]; len(tags) != 5+maxTagsAbove || last != sheaf.TextValue("a") {
		t.Errorf("%d tags, the last %q", len(tags), last.Text)
	}
}

// TestColumnsAreFolded checks that a property with a link has its note's name, or the date or number in it. Names and
// texts are equal in any Unicode composition.
func TestColumnsAreFolded(t *testing.T) {
	text := sheaf.TextValue
	doc := &sheaf.Document{ID: "t:a.md", Tree: "t", Path: "a.md", Tags: []string{"cafe\u0301", "Caf\u00e9"},
		Properties: []sheaf.Property{
			{Name: "Author", Values: []sheaf.Value{text("[[Ann]]"), text("[[People/ann.md|A]]"), text("[[#Here]]"),
				text("see [[Ann]]")}},
			{Name: "due", Values: []sheaf.Value{text("[[Journal/2024-05-31]]"), text("[[1982]]")}},
			{Name: "cafe\u0301", Values: []sheaf.Value{text("E\u0301te\u0301")}},
			{Name: "caf\u00e9", Values: []sheaf.Value{text("\u00e9t\u00e9")}},
		}}
	day := sheaf.DateValue(time.Date(2024, 5, 31, 0, 0, 0, 0, time.UTC))
	want := map[string][]sheaf.Value{
		sheaf.ColumnTag:  {text("caf\u00e9")},
		"prop.author":    {text("ann"), text("[[#here]]"), text("see [[ann]]")},
		"prop.due":       {day, sheaf.NumberValue(1982)},
		"prop.caf\u00e9": {text("\u00e9t\u00e9")},
	}
	for _, c := range Columns(doc, sheaf.Dated{}) {
		values, ok := want[c.Name]
		check.That(t, !ok || slices.Equal(c.Values, values), "%s has %v, want %v", c.Name, c.Values, values)
		delete(want, c.Name)
	}
	check.That(t, len(want) <= 0, "not there: %v", want)
}

// TestColumnsReadTexts checks that a text which is a date or number has a column of that type. Another column keeps
// the spelling.
func TestColumnsReadTexts(t *testing.T) {
	day := sheaf.DateValue(time.Date(2024, 1, 5, 0, 0, 0, 0, time.UTC))
	evening := sheaf.DateValue(time.Date(2024, 1, 5, 22, 30, 0, 0, time.UTC))
	late := time.Date(2024, 1, 5, 23, 30, 0, 0, time.FixedZone("", -8*60*60))
	for _, c := range []struct {
		value, want sheaf.Value
		written     string
	}{
		{sheaf.TextValue("2024-01-05"), day, ""},
		{sheaf.TextValue("5 Jan 2024"), day, "5 Jan 2024"},
		{sheaf.TextValue("January 5, 2024"), day, "January 5, 2024"},
		{sheaf.TextValue("January 5th, 2024"), day, "January 5th, 2024"},
		{sheaf.TextValue("Fri, 5 Jan 2024"), day, "Fri, 5 Jan 2024"},
		{sheaf.TextValue("Friday, January 5, 2024"), day, "Friday, January 5, 2024"},
		{sheaf.TextValue("Fri, 05 Jan 2024 00:00:00 GMT"), day, "Fri, 05 Jan 2024 00:00:00 GMT"},
		{sheaf.TextValue("2024年1月5日"), day, "2024年1月5日"},
		{sheaf.TextValue("2024년 1월 5일"), day, "2024년 1월 5일"},
		{sheaf.TextValue("05.01.2024"), day, "05.01.2024"},
		{sheaf.TextValue("5. Januar 2024"), day, "5. Januar 2024"},
		{sheaf.TextValue("5 janvier 2024"), day, "5 janvier 2024"},
		{sheaf.TextValue("5 de Enero de 2024"), day, "5 de Enero de 2024"},
		{sheaf.TextValue("5 stycznia 2024"), day, "5 stycznia 2024"},
		{sheaf.TextValue("5 января 2024"), day, "5 января 2024"},
		{sheaf.TextValue("2024/01/05"), day, "2024/01/05"},
		{sheaf.TextValue("2024\u201101\u201105"), day, "2024\u201101\u201105"},
		{sheaf.TextValue("5 Jan 2024 10:30 PM"), evening, "5 Jan 2024 10:30 PM"},
		{sheaf.TextValue("January 5, 2024, 22:30"), evening, "January 5, 2024, 22:30"},
		{sheaf.TextValue("2024/1/5 10:30pm"), evening, "2024/1/5 10:30pm"},
		{sheaf.TextValue("5.1.2024 22:30:00 +0100"), evening, "5.1.2024 22:30:00 +0100"},
		{sheaf.TextValue("20240105T223000Z"), evening, "20240105T223000Z"},
		{sheaf.TextValue("5 Jan 2024 22:61"), sheaf.TextValue("5 jan 2024 22:61"), ""},
		{sheaf.TextValue("20240105"), sheaf.NumberValue(20240105), ""},
		{sheaf.NumberValue(20240105), sheaf.NumberValue(20240105), ""},
		{sheaf.TextValue("0012"), sheaf.NumberValue(12), "0012"},
		{sheaf.TextValue("1,000,000"), sheaf.NumberValue(1e6), "1,000,000"},
		{sheaf.TextValue("1 000 000.50"), sheaf.NumberValue(1000000.5), "1 000 000.50"},
		{sheaf.TextValue("-12\u202f345"), sheaf.NumberValue(-12345), "-12\u202f345"},
		{sheaf.TextValue("100,200"), sheaf.NumberValue(100200), "100,200"},
		{sheaf.TextValue("1'000’000"), sheaf.TextValue("1'000’000"), ""},
		{sheaf.TextValue("1,000 000"), sheaf.TextValue("1,000 000"), ""},
		{sheaf.TextValue("0,123"), sheaf.TextValue("0,123"), ""},
		{sheaf.TextValue("001,234"), sheaf.TextValue("001,234"), ""},
		{sheaf.TextValue("00 000"), sheaf.TextValue("00 000"), ""},
		{sheaf.TextValue("030 123 456"), sheaf.TextValue("030 123 456"), ""},
		{sheaf.TextValue(" in review "), sheaf.TextValue("in review"), ""},
		{sheaf.TextValue(" 12 "), sheaf.NumberValue(12), ""},
		{sheaf.TextValue("1,00"), sheaf.TextValue("1,00"), ""},
		{sheaf.TextValue("1000 000"), sheaf.TextValue("1000 000"), ""},
		{sheaf.TextValue("Inf"), sheaf.TextValue("inf"), ""},
		{sheaf.TextValue(""), sheaf.TextValue(""), ""},
		{sheaf.TextValue("on 5 Jan 2024"), sheaf.TextValue("on 5 jan 2024"), ""},
		{sheaf.WrittenDate(late), sheaf.DateValue(sheaf.Clock(late)), "2024-01-05T23:30:00-08:00"},
	} {
		var plain, written []sheaf.Value
		for _, column := range propertyColumns([]sheaf.Property{{Name: "due", Values: []sheaf.Value{c.value}}}) {
			if column.Name == sheaf.WrittenColumn("due") {
				written = column.Values
			} else {
				plain = column.Values
			}
		}
		check.List(t, plain, []sheaf.Value{c.want}, "%q: column", c.value)
		if got := len(written) == 1 && written[0].Text == c.written; got != (c.written != "") || !got && len(written) > 0 {
			t.Errorf("%q: written as %v, want %q", c.value, written, c.written)
		}
	}
}

// TestAccessProperties checks that a property which fills an access column is never part of a text.
func TestAccessProperties(t *testing.T) {
	for _, name := range []string{PropertyTenant, PropertyAccess, PropertySets, "Access", "title", "author"} {
		check.Equal(t, chunk.IsAccessProperty(name), accessColumn(name) != "", "%s, column %q", name, accessColumn(name))
	}
}
