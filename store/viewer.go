package store

import "context"

// Viewer says for whom a request is made: a tenant, people and groups. Filters already hide the documents that the
// viewer may not see. PostgreSQL with row-level security also hides these documents, so that one faulty check alone
// reveals nothing.
type Viewer struct {
	// Tenant is the viewer's tenant. The viewer sees only documents of this tenant or, if Tenant is "", only documents
	// without a tenant. With AnyTenant, the viewer sees the documents of all tenants.
	Tenant    string
	AnyTenant bool
	// Access are the viewer's people and groups. Every viewer sees public documents. With AnyAccess, the viewer also
	// sees all private documents.
	Access    []string
	AnyAccess bool
}

type viewerKey struct{}

// WithViewer returns a context for requests of the viewer v.
func WithViewer(ctx context.Context, v Viewer) context.Context {
	return context.WithValue(ctx, viewerKey{}, v)
}

// ViewerOf returns the viewer of ctx. If ctx has none, ViewerOf returns a viewer who sees everything.
func ViewerOf(ctx context.Context) Viewer {
	if v, ok := ctx.Value(viewerKey{}).(Viewer); ok {
		return v
	}
	return Viewer{AnyTenant: true, AnyAccess: true}
}
