// Package english has a static embedding model of English inside the program. The model needs no download, no server
// and no preparation. lab/model/README.md describes its training and its quality.
package english

import (
	_ "embed"

	"sheaf/model/static"
)

//go:embed sheaf-en-1.bin
var file []byte

// Family is the beginning of the names of all versions of the model.
const Family = "sheaf-en-"

// Open returns the model's table: its word pieces and their vectors. It returns an error only when the program is
// damaged.
func Open() (*static.Model, error) { return static.Open(file) }

// New returns the model as an embedder. It returns an error only when the program is damaged.
func New() (*static.Embedder, error) {
	m, err := Open()
	if err != nil {
		return nil, err
	}
	return static.NewEmbedder(m.Name(), m, nil)
}
