package collection

import (
	"context"

	"sheaf/collection/access"
	"sheaf/rank"
	"sheaf/search"
)

// AuditLeaking is Audit of a collection whose check is made weaker.
func AuditLeaking(ctx context.Context, c *Collection, o AuditOptions, weaken func(*access.Grant)) (*Audit, error) {
	return c.audit(ctx, o, func(g access.Grant) (*Reader, error) {
		weaken(&g)
		return c.For(g)
	})
}

// AuditIncomplete is how many checks of each door of Audit were not complete.
func AuditIncomplete(ctx context.Context, c *Collection, o AuditOptions) (map[string]int, error) {
	out, err := c.Audit(ctx, o)
	if err != nil {
		return nil, err
	}
	return out.lacking, nil
}

// VectorLooks is what a server does now and then for documents that lack vectors.
func VectorLooks(c *Collection) func(context.Context) error {
	var looks vectorLooks
	return func(ctx context.Context) error { return c.embedPending(ctx, &looks) }
}

// RereadProfiles has a collection look at the files of its profiles again.
func RereadProfiles(c *Collection) { c.profiles.reread() }

// RoomOf is what an answer lies in, as others will have it once the answer is released.
func RoomOf(a *Answer) any { return a.room }

// KeptFor is what is kept of the ranking that a cursor is of, and the bytes that it counts.
func KeptFor(r *Reader, cursor string) (*search.Result, int64, error) {
	k, _, _, err := r.c.rankings.find(cursor, r.owner())
	if err != nil {
		return nil, 0, err
	}
	return k.result, k.bytes, nil
}

// FactsOf is what rankings of a reader know of documents.
func FactsOf(r *Reader) rank.Facts { return r.guard }
