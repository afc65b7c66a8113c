package store

import (
	"context"

	"sheaf/text/analysis"
)

// Access says how a store is used.
type Access int

const (
	// Make is for writing. Open creates a missing store.
	Make Access = iota
	// Existing is for writing. If the store is missing, Open fails.
	Existing
	// ReadOnly is for reading a store that exists.
	ReadOnly
	// ListOnly is for listing the content of a store. The store may have been made with any settings.
	ListOnly
)

// Writes reports whether the access is for writing.
func (a Access) Writes() bool { return a == Make || a == Existing }

// Opener opens the store at an address.
type Opener interface {
	Open(ctx context.Context, a *analysis.Analyzer, vectors []VectorField, access Access) (Backend, error)
	// Drop removes the store with its settings.
	Drop(ctx context.Context) error
	// String returns the address without its password. Server returns the address of the server: without the password
	// and without the place on the server.
	String() string
	Server() string
	// PlaceKind returns what this kind of server calls the place of a store, such as "schema".
	PlaceKind() string
}
