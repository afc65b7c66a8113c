package collection

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sheaf"
	"sheaf/collection/intake"
	"sheaf/index/catalog"
	"sheaf/ingest"
)

// storedDocument is the stored form of a given document.
type storedDocument struct {
	ID       sheaf.ID       `json:"id"`
	Document *DocumentInput `json:"document"`
}

// encodeGiven returns a given document in its stored form and in the form for indexing.
func encodeGiven(id sheaf.ID, d *DocumentInput) ([]byte, ingest.Given, error) {
	content, err := json.Marshal(storedDocument{id, d})
	if err != nil {
		return nil, ingest.Given{}, fmt.Errorf("write %s: %w", id, err)
	}
	return content, d.given(id, content), nil
}

// stored returns a given document in its stored form.
func (c *Collection) stored(id sheaf.ID) (content []byte, doc storedDocument, err error) {
	err = c.given.file.View(func(tx *intake.Tx) error {
		content = tx.Document(id)
		return nil
	})
	if err == nil {
		doc, err = decodeGiven(id, content)
	}
	return content, doc, err
}

// decodeGiven parses the stored form of a given document; fs.ErrNotExist if content is nil.
func decodeGiven(id sheaf.ID, content []byte) (doc storedDocument, err error) {
	if content == nil {
		return doc, fmt.Errorf("read document: the text of the given document %s is missing: %w", id, fs.ErrNotExist)
	}
	switch err := json.Unmarshal(content, &doc); {
	case err != nil:
		return doc, fmt.Errorf("read document: %w: %s: %w", sheaf.ErrCorrupt, id, err)
	case doc.Document == nil || doc.ID != id:
		return doc, fmt.Errorf("read document: %w: %s: it holds %q", sheaf.ErrCorrupt, id, doc.ID)
	}
	return doc, nil
}

// givenDocuments returns a function that finds given documents of an index, for
// ingest.Options.Kept. For an unreadable document, the catalog's text is used.
func givenDocuments(folder string) func(doc sheaf.ID, hash catalog.Hash) (ingest.Given, bool, error) {
	file := intake.Open(folder)
	return func(doc sheaf.ID, hash catalog.Hash) (ingest.Given, bool, error) {
		var content []byte
		err := file.View(func(tx *intake.Tx) error {
			if of, ok := tx.Hash(doc); ok && of == hash {
				content = tx.Document(doc)
			}
			return nil
		})
		if content == nil && err == nil {
			content, err = os.ReadFile(filepath.Join(folder, olderDocuments, olderName(doc, hash)))
		}
		var stored storedDocument
		if err == nil {
			stored, err = decodeGiven(doc, content)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, sheaf.ErrCorrupt):
			return ingest.Given{}, false, nil
		case err != nil:
			return ingest.Given{}, false, fmt.Errorf("read document: %w", err)
		}
		return stored.Document.given(doc, content), true, nil
	}
}

// wasGiven returns a function that reports whether a document of an index was ever given; nil if no
// document was.
func wasGiven(folder string) (func(doc sheaf.ID) bool, error) {
	older, err := olderVersions(folder)
	if err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	ids := map[sheaf.ID]bool{}
	file := intake.Open(folder)
	err = file.View(func(tx *intake.Tx) error {
		for id := range tx.Hashes() {
			ids[id] = true
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	if _, err := os.Stat(file.Path()); older == nil && err != nil {
		return nil, nil
	}
	return func(doc sheaf.ID) bool { return ids[doc] || older[fileKey(doc)] != nil }, nil
}
