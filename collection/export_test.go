package collection

import (
	"context"

	"sheaf/collection/access"
	"sheaf/rank"
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

// FactsOf is what rankings of a reader know of documents.
func FactsOf(r *Reader) rank.Facts { return r.guard }

// AtPoints has f called at the named points of changes of given documents.
func AtPoints(f func(point string)) { reached = f }

// WasGiven reports whether a version of a document was given to the index in a folder.
var WasGiven = wasGiven
