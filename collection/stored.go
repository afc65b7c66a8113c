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

// storedDocument is a document on disk.
type storedDocument struct {
	ID       sheaf.ID       `json:"id"`
	Document *DocumentInput `json:"document"`
}

// encodeGiven is a document as it is kept on disk, and as it is indexed.
func encodeGiven(id sheaf.ID, d *DocumentInput) ([]byte, ingest.Given, error) {
	content, err := json.Marshal(storedDocument{id, d})
	if err != nil {
		return nil, ingest.Given{}, fmt.Errorf("write %s: %w", id, err)
	}
	return content, d.given(id, content), nil
}

// stored returns a document as it was given.
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

// decodeGiven reads a document as it was given; fs.ErrNotExist when content is nil.
func decodeGiven(id sheaf.ID, content []byte) (doc storedDocument, err error) {
	if content == nil {
		return doc, fmt.Errorf("read document: %s was given: %w", id, fs.ErrNotExist)
	}
	switch err := json.Unmarshal(content, &doc); {
	case err != nil:
		return doc, fmt.Errorf("read document: %w: %s: %w", sheaf.ErrCorrupt, id, err)
	case doc.Document == nil || doc.ID != id:
		return doc, fmt.Errorf("read document: %w: %s: it holds %q", sheaf.ErrCorrupt, id, doc.ID)
	}
	return doc, nil
}

// givenDocuments finds given documents as they were given to the index in a folder, for
// ingest.Options.Kept. Of one that cannot be read the catalog's text must do.
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

// wasGiven reports of documents whether some version of them was given to the index in a folder.
// It is nil when no document ever was.
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
