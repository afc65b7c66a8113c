package storetest

import (
	"context"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
)

// together checks that requests sent together get the same answers as single requests, even with unknown words.
func together(t *testing.T, b store.Backend) {
	all, ok := b.(store.Batcher)
	if !ok {
		t.Skip("the store takes one request at a time")
	}
	ctx := context.Background()
	if r, err := all.RetrieveAll(ctx, nil); len(r) != 0 || err != nil {
		t.Errorf("no requests: %v, %v", r, err)
	}
	n, err := all.CountAll(ctx, nil)
	check.That(t, len(n) == 0 && err == nil, "nothing to count: %v, %v", n, err)
	var reqs []store.Request
	for _, r := range Requests() {
		if !refused(t, b, r.Request) {
			reqs = append(reqs, r.Request)
		}
	}
	agree(t, b, reqs)
	must.Do(t, b.Write(ctx, Library()))
	found := agree(t, b, reqs)
	check.That(t, found != 0, "nothing was found")
	more := Chunk("notes:b.md#c", "hierarchy", "brand new", "body", "unheard words beside tea")
	write(t, b, more)
	agree(t, b, append(reqs, Words(sheaf.Match{Text: "unheard"}), Words(sheaf.Match{Text: "unheard", Field: "hierarchy"})))
	bad := reqs[0]
	bad.Limit = 0
	if _, err := all.RetrieveAll(ctx, []store.Request{reqs[0], bad}); err == nil {
		t.Error("a limit of 0 is answered")
	}
	if _, err := all.CountAll(ctx, []store.Request{reqs[0], bad}); err == nil {
		t.Error("a limit of 0 is counted")
	}
}

// agree checks that requests sent together get the same answers as single requests. It returns the number of hits.
func agree(t *testing.T, b store.Backend, reqs []store.Request) int {
	t.Helper()
	ctx := context.Background()
	all, ok := b.(store.Batcher)
	if !ok {
		return 0
	}
	rankings, err := all.RetrieveAll(ctx, reqs)
	must.That(t, err == nil, "together: %v", err)
	counts, err := all.CountAll(ctx, reqs)
	must.That(t, err == nil, "counted together: %v", err)
	found := 0
	for i, req := range reqs {
		alone, err := b.Retrieve(ctx, req)
		must.Do(t, err)
		same := len(alone) == len(rankings[i])
		for k := range alone {
			same = same && alone[k].ID == rankings[i][k].ID && near(b, alone[k].Score, rankings[i][k].Score) &&
				alone[k].Passage == rankings[i][k].Passage
		}
		if !same {
			t.Errorf("%+v %+v: together %v, alone %v", req.Text, req.Filter, rankings[i], alone)
		}
		if n, err := b.(store.Counter).Count(ctx, req); n != counts[i] || err != nil {
			t.Errorf("%+v %+v: counted together %d, alone %d, %v", req.Text, req.Filter, counts[i], n, err)
		}
		found += len(alone)
	}
	return found
}
