package storetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/store"
)

// asWritten checks that numbers match in the document's form, and compare by size. Dates compare by
// their local time, with a zone or without.
func asWritten(t *testing.T, b store.Backend) {
	numbers := func(name string, values ...sheaf.Value) []store.Column {
		plain, written := column(sheaf.PropertyColumn(name)), column(sheaf.WrittenColumn(name))
		for _, v := range values {
			plain.Values = append(plain.Values, v.Plain())
			written.Values = append(written.Values, sheaf.TextValue(v.String()))
		}
		if len(values) == 1 && values[0].Text == "" {
			return []store.Column{plain}
		}
		return []store.Column{plain, written}
	}
	date := func(when string) store.Column {
		at, err := time.Parse(time.RFC3339, when)
		if err != nil {
			t.Fatal(err)
		}
		return column(sheaf.PropertyColumn("due"), sheaf.WrittenDate(at).Plain())
	}
	chunk := func(id string, columns ...store.Column) store.Chunk {
		return withColumns(Chunk(id, "body", "heron"), columns...)
	}
	write(t, b,
		chunk("t:course", numbers("course", sheaf.WrittenNumber(21e8, "21E08"))...),
		chunk("t:usual", numbers("course", sheaf.NumberValue(2_100_000_000))...),
		chunk("t:zeros", numbers("sku", sheaf.WrittenNumber(32, "000032"))...),
		chunk("t:32", numbers("sku", sheaf.NumberValue(32))...),
		chunk("t:both", numbers("sku", sheaf.NumberValue(32), sheaf.WrittenNumber(7, "007"))...),
		chunk("t:12.10", numbers("release", sheaf.WrittenNumber(12.1, "12.10"))...),
		chunk("t:12.1", numbers("release", sheaf.NumberValue(12.1))...),
		chunk("t:late", date("2024-12-31T23:30:00-08:00")), // in UTC this is in the next year
		chunk("t:early", date("2025-01-01T00:30:00+09:00")),
		chunk("t:day", date("2024-12-31T00:00:00Z")), // the stored form of a date without a zone
		chunk("t:old", date("0999-01-01T00:00:00Z")),
	)
	// Package query makes these filters from the user's text.
	prop, written := sheaf.PropertyColumn, sheaf.WrittenColumn
	in := func(column string, v sheaf.Value) sheaf.Filter {
		return sheaf.In{Column: column, Values: []sheaf.Value{v}}
	}
	unusual := func(name, text string) sheaf.Filter { return in(written(name), sheaf.TextValue(text)) }
	usual := func(name, text string, n float64) sheaf.Filter {
		plain := sheaf.And{in(prop(name), sheaf.NumberValue(n)), sheaf.Not{Filter: sheaf.Exists{Column: written(name)}}}
		return sheaf.Or{unusual(name, text), plain}
	}
	begins := func(name, text string) sheaf.Filter {
		return sheaf.Or{sheaf.HasPrefix{Column: prop(name), Prefix: text},
			sheaf.HasPrefix{Column: written(name), Prefix: text}}
	}
	above := func(name string, n float64) sheaf.Filter {
		return sheaf.Range{Column: prop(name), Min: sheaf.NumberValue(n), MinOpen: true}
	}
	days := func(from, to string) sheaf.Filter {
		f := sheaf.Range{Column: prop("due"), MaxOpen: true}
		for at, bound := range map[string]*sheaf.Value{from: &f.Min, to: &f.Max} {
			if at == "" {
				continue
			}
			day, err := time.Parse(time.DateOnly, at)
			if err != nil {
				t.Fatal(err)
			}
			*bound = sheaf.DateValue(day)
		}
		return f
	}
	for text, c := range map[string]struct {
		filter sheaf.Filter
		want   string
	}{
		"course:21E08":       {unusual("course", "21E08"), "t:course"},
		"course:2100000000":  {usual("course", "2100000000", 21e8), "t:usual"},
		"course:>2099999999": {above("course", 2_099_999_999), "t:course t:usual"},
		"course:21*":         {begins("course", "21"), "t:course"},
		"sku:000032":         {unusual("sku", "000032"), "t:zeros"},
		"sku:32":             {usual("sku", "32", 32), "t:32 t:both"},
		"sku:007":            {unusual("sku", "007"), "t:both"},
		"sku:7":              {usual("sku", "7", 7), ""},
		"sku:>31":            {above("sku", 31), "t:zeros t:32 t:both"},
		"sku:0*":             {begins("sku", "0"), "t:zeros t:both"},
		"release:12.10":      {unusual("release", "12.10"), "t:12.10"},
		"release:12.1":       {usual("release", "12.1", 12.1), "t:12.1"},
		"release:>12":        {above("release", 12), "t:12.10 t:12.1"},
		"release:12.1*":      {begins("release", "12.1"), "t:12.10"},
		"due:2024-12-31":     {days("2024-12-31", "2025-01-01"), "t:late t:day"},
		"due:2025":           {days("2025-01-01", "2026-01-01"), "t:early"},
		"due:<1000-01-01":    {days("", "1000-01-01"), "t:old"},
		"due:>=2024-12-31":   {days("2024-12-31", ""), "t:late t:early t:day"},
		"due:*":              {sheaf.Exists{Column: prop("due")}, "t:late t:early t:day t:old"},
	} {
		req := body(sheaf.Match{Text: "heron"})
		req.Filter = c.filter
		expectSet(t, b, text, req, c.want)
		if counter, ok := b.(store.Counter); ok && !refused(t, b, req) {
			if n, err := counter.Count(context.Background(), req); err != nil || n != len(strings.Fields(c.want)) {
				t.Errorf("%s: a count of %d, %v, want %d", text, n, err, len(strings.Fields(c.want)))
			}
		}
	}
}
