package store

import "context"

// Viewer is on whose behalf a store is asked: the tenant and the people and groups
// that a caller is. Filters keep from callers what they may not see; a store that can
// (PostgreSQL with row-level security) holds it back once more by this, so that a
// fault in one of the two shows nothing.
type Viewer struct {
	// Tenant is the tenant, "" for documents of none; AnyTenant sees those of
	// every one.
	Tenant    string
	AnyTenant bool
	// Access are the people and groups; public documents are seen by all.
	// AnyAccess sees private ones too.
	Access    []string
	AnyAccess bool
}

type viewerKey struct{}

// WithViewer is a context whose requests are made for v.
func WithViewer(ctx context.Context, v Viewer) context.Context {
	return context.WithValue(ctx, viewerKey{}, v)
}

// ViewerOf is for whom the requests of ctx are made; without one, for somebody who
// sees everything.
func ViewerOf(ctx context.Context) Viewer {
	if v, ok := ctx.Value(viewerKey{}).(Viewer); ok {
		return v
	}
	return Viewer{AnyTenant: true, AnyAccess: true}
}
