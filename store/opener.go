package store

import (
	"context"

	"sheaf/text/analysis"
)

// Access says how a store is used.
type Access int

const (
	// Make writes, and creates the store when it is new.
	Make Access = iota
	// Existing writes to an existing store, and creates none.
	Existing
	// ReadOnly reads an existing store.
	ReadOnly
	// ListOnly lists the content of a store, whatever it was made with.
	ListOnly
)

// Writes reports whether the store may be written.
func (a Access) Writes() bool { return a == Make || a == Existing }

// Opener opens the store that an address names.
type Opener interface {
	Open(ctx context.Context, a *analysis.Analyzer, vectors []VectorField, access Access) (Backend, error)
	// Drop removes the store with its settings.
	Drop(ctx context.Context) error
	// String returns the address without its password; Server also leaves out the place on the server.
	String() string
	Server() string
	// PlaceKind returns the word for a place on the server, such as "schema".
	PlaceKind() string
}
