package store

import "context"

// Viewer is the caller of a request: tenant, people and groups. Filters already hide documents from
// callers who may not see them. PostgreSQL with row-level security hides them a second time, so that
// a fault in one of the two reveals nothing.
type Viewer struct {
	// Tenant is the tenant, "" for documents without one. AnyTenant sees documents of all tenants.
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

// ViewerOf returns the viewer of the requests of ctx. A context without a viewer returns a viewer
// who sees everything.
func ViewerOf(ctx context.Context) Viewer {
	if v, ok := ctx.Value(viewerKey{}).(Viewer); ok {
		return v
	}
	return Viewer{AnyTenant: true, AnyAccess: true}
}
