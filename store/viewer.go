package store

import "context"

// Viewer says for whom a store is asked: the caller's tenant, people and groups. Filters already
// hide from callers what they may not see. PostgreSQL with row-level security hides it a second
// time, so that a fault in one of the two reveals nothing.
type Viewer struct {
	// Tenant is the tenant, "" for documents without one; AnyTenant sees the documents of all.
	Tenant    string
	AnyTenant bool
	// Access are the people and groups; everyone sees public documents. AnyAccess sees private
	// documents too.
	Access    []string
	AnyAccess bool
}

type viewerKey struct{}

// WithViewer returns a context whose requests are made for v.
func WithViewer(ctx context.Context, v Viewer) context.Context {
	return context.WithValue(ctx, viewerKey{}, v)
}

// ViewerOf returns for whom the requests of ctx are made; without a viewer, for a caller who sees
// everything.
func ViewerOf(ctx context.Context) Viewer {
	if v, ok := ctx.Value(viewerKey{}).(Viewer); ok {
		return v
	}
	return Viewer{AnyTenant: true, AnyAccess: true}
}
