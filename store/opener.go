package store

import (
	"context"

	"sheaf/text/analysis"
)

// Access says what is done with a store.
type Access int

const (
	// Make writes, and makes the store when it is new.
	Make Access = iota
	// Existing writes to a store that exists, and makes none.
	Existing
	// ReadOnly reads a store that exists.
	ReadOnly
	// ListOnly lists what a store holds, whatever it was made with.
	ListOnly
)

// Opener opens the store that an address names.
type Opener interface {
	Open(ctx context.Context, a *analysis.Analyzer, vectors []VectorField, access Access) (Backend, error)
	// Drop removes the store with its settings.
	Drop(ctx context.Context) error
	// String is the address without its password, Server the same without the place on that server.
	String() string
	Server() string
	// PlaceKind names what a place on the server is called, such as "schema".
	PlaceKind() string
}
