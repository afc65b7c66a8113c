package backendtest

import (
	"context"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/backend"
	"sheaf/query"
)

// asWritten: numbers are found by the way in which a document writes them, and compared by their size. Dates with a
// zone and without are compared as the clocks of their writers show them.
func asWritten(t *testing.T, o Options) {
	b := o.Open(t)
	defer b.Close()
	numbers := func(name string, values ...sheaf.Value) []backend.Column {
		plain, written := column(sheaf.PropertyColumn(name)), column(sheaf.WrittenColumn(name))
		for _, v := range values {
			plain.Values = append(plain.Values, v.Plain())
			written.Values = append(written.Values, sheaf.TextValue(v.String()))
		}
		if len(values) == 1 && values[0].Text == "" {
			return []backend.Column{plain}
		}
		return []backend.Column{plain, written}
	}
	date := func(when string) backend.Column {
		at, err := time.Parse(time.RFC3339, when)
		if err != nil {
			t.Fatal(err)
		}
		return column(sheaf.PropertyColumn("due"), sheaf.WrittenDate(at).Plain())
	}
	chunk := func(id string, columns ...backend.Column) backend.Chunk {
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
		chunk("t:late", date("2024-12-31T23:30:00-08:00")), // which is in the next year in UTC
		chunk("t:early", date("2025-01-01T00:30:00+09:00")),
		chunk("t:day", date("2024-12-31T00:00:00Z")), // as a date without a zone is kept
		chunk("t:old", date("0999-01-01T00:00:00Z")),
	)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.FixedZone("", -8*3600))
	for text, want := range map[string]string{
		"course:21E08": "t:course", "course:21e08": "t:course", "course:2100000000": "t:usual", "course:>=2100000000": "t:course t:usual", "course:21*": "t:course",
		"sku:000032": "t:zeros", "sku:32": "t:32 t:both", "sku:007": "t:both", "sku:7": "", "sku:>31": "t:zeros t:32 t:both", "sku:<8": "t:both", "sku:0*": "t:zeros t:both",
		"release:12.10": "t:12.10", "release:12.1": "t:12.1", "release:>12": "t:12.10 t:12.1", "release:12.1*": "t:12.10",
		"due:2024-12-31": "t:late t:day", "due:2025": "t:early", "due:2024-12": "t:late t:day", "due:>2024-12-31": "t:early", "due:<1000-01-01": "t:old", "due:*": "t:late t:early t:day t:old",
	} {
		q := query.Parse(text, query.Options{Now: now, Properties: []string{"course", "sku", "release", "due"}})
		req := body(sheaf.Match{Text: "heron"})
		req.Filter = q.Filter
		if q.Filter == nil {
			t.Errorf("%s: no filter", text)
		}
		expectSet(t, b, text, req, want)
		if counter, ok := b.(backend.Counter); ok && !refused(t, b, req) {
			if n, err := counter.Count(context.Background(), req); err != nil || n != len(strings.Fields(want)) {
				t.Errorf("%s: a count of %d, %v, want %d", text, n, err, len(strings.Fields(want)))
			}
		}
	}
}
