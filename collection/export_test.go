package collection

import (
	"context"

	"sheaf/collection/access"
	"sheaf/rank"
)

// AuditLeaking is Audit of a collection with weakened grants.
func AuditLeaking(ctx context.Context, c *Collection, o AuditOptions, weaken func(*access.Grant)) (*Audit, error) {
	return c.audit(ctx, o, func(g access.Grant) (*Reader, error) {
		weaken(&g)
		return c.For(g)
	})
}

// VectorLooks returns the regular task of a server for documents without vectors.
func VectorLooks(c *Collection) func(context.Context) error {
	var looks vectorLooks
	return func(ctx context.Context) error { return c.embedPending(ctx, &looks) }
}

// RereadProfiles makes a collection read its profile files again.
func RereadProfiles(c *Collection) { c.profiles.reread() }

// FactsOf returns what stages of a reader know about documents.
func FactsOf(r *Reader) rank.Facts { return r.guard }

// AtPoints makes changes of given documents call f at named points.
func AtPoints(f func(point string)) { crashPoint = f }

// WasGiven returns a function that reports whether a document of an index was given. BegunChanges returns the changes
// whose end is not recorded.
var WasGiven, BegunChanges = wasGiven, begunChanges
