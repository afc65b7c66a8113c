// Package english carries a static embedding model of English inside the
// program: no download, no server, nothing to parse at start. How it was made
// and how good it is stands in lab/model/README.md.
package english

import (
	_ "embed"

	"sheaf/model/static"
)

//go:embed sheaf-en-1.bin
var file []byte

// Family begins the names of all versions of the model.
const Family = "sheaf-en-"

// Open returns the table. The error can only be that of a damaged program.
func Open() (*static.Model, error) { return static.Open(file) }

// New returns the model. The error can only be that of a damaged program.
func New() (*static.Embedder, error) {
	m, err := Open()
	if err != nil {
		return nil, err
	}
	return static.NewEmbedder(m.Name(), m, nil)
}
