package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
)

// large checks texts and values that are larger than the keys of an index. If the store cannot write a document, it
// must name the document and the limit, and write the rest.
func large(t *testing.T, b store.Backend) {
	ctx := context.Background()
	value := strings.Repeat("v", 40_000)
	path := "t:" + strings.Repeat("folder/", 500) + "deep.md"
	huge := "t:" + strings.Repeat("x", 40_000)
	batch := store.Batch{Chunks: []store.Chunk{
		withColumns(Chunk("t:value", "body", "marker"), column("c", sheaf.TextValue(value))),
		withColumns(Chunk("t:another", "body", "marker"), column("c", sheaf.TextValue(value+"y"))),
		Chunk("t:term", "body", strings.Repeat("t", 300_000)+" marker"),
		Chunk("t:text", "body", strings.Repeat("filler ", 200_000)+"the marker stands last"),
		Chunk(path, "body", "marker"),
		Chunk(huge, "body", "marker"),
	}}
	taken := len(batch.Chunks)
	err := b.Write(ctx, batch)
	var partial *store.PartialError
	if errors.As(err, &partial) {
		reason := partial.Rejected[sheaf.ID(huge)]
		must.That(t, len(partial.Rejected) == 1 && errors.Is(reason, sheaf.ErrInvalid) &&
			strings.Contains(fmt.Sprint(reason), "at most"), "%.500v", err)
		taken--
	} else if err != nil {
		t.Fatalf("%.500v", err)
	}
	found := func(what string, req store.Request, want ...string) {
		t.Helper()
		if refused(t, b, req) {
			return
		}
		r, err := b.Retrieve(ctx, req)
		var got []string
		for _, h := range r {
			got = append(got, string(h.ID))
		}
		check.That(t, err == nil && strings.Join(got, " ") == strings.Join(want, " "),
			"%s: found %.200q, want %.200q, %v", what, got, want, err)
	}
	check.Equal(t, len(retrieve(t, b, body(sheaf.Match{Text: "marker"}))), taken, "chunks found")
	req := body(sheaf.Match{Text: "marker"})
	req.Filter = sheaf.In{Column: "c", Values: []sheaf.Value{sheaf.TextValue(value)}}
	found("a long value", req, "t:value")
	req.Filter = sheaf.In{Column: "c", Values: []sheaf.Value{sheaf.TextValue(value + "y")}}
	found("a longer value", req, "t:another")
	found("a phrase behind 200,000 words", body(sheaf.Phrase{Text: "marker stands last"}), "t:text")
	found("a word once behind them", body(sheaf.Match{Text: "stands"}), "t:text")
	req = body(sheaf.Match{Text: "marker"})
	req.Within = []sheaf.ID{sheaf.ID(path)}
	found("within a long ID", req, path)
	must.Do(t, b.Write(ctx, store.Batch{Replace: []sheaf.ID{sheaf.ID(path), "t:text"}}))
	check.Equal(t, len(retrieve(t, b, body(sheaf.Match{Text: "marker"}))), taken-2, "chunks found after two are deleted")
}

// names checks names of fields and columns that look like parts of a request. If the store cannot use a name, it must
// write nothing, and the error must contain the name.
func names(t *testing.T, b store.Backend) {
	ctx := context.Background()
	for i, name := range []string{`x"}}}) {y`, "x'; DROP TABLE chunk; --", "x) OR true", "a.b.c", "_id", "t_body", "Ä ö",
		"x\ny", strings.Repeat("n", 200), "$1", "%s", "\x00", "\xff"} {
		c := withColumns(Chunk(fmt.Sprintf("t:%02d", i), name, "marker", "body", "other"), column(name, sheaf.TextValue("v")))
		err := b.Write(ctx, store.Batch{Chunks: []store.Chunk{c}})
		if errors.Is(err, sheaf.ErrInvalid) && strings.Contains(err.Error(), fmt.Sprintf("%q", name)) {
			continue
		}
		if err != nil {
			t.Errorf("write %q: %.300v", name, err)
			continue
		}
		req := Words(sheaf.Match{Text: "marker", Field: name})
		req.Filter = sheaf.And{sheaf.In{Column: name, Values: []sheaf.Value{sheaf.TextValue("v")}},
			sheaf.Exists{Column: name}}
		if refused(t, b, req) {
			continue
		}
		if r, err := b.Retrieve(ctx, req); err != nil || len(r) != 1 || r[0].ID != c.ID {
			t.Errorf("a field and a column called %q: found %v, %v", name, ids(r), err)
		}
	}
}
