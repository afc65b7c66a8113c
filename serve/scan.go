package serve

import (
	"context"

	"sheaf"
	"sheaf/catalog"
	"sheaf/search"
)

// visibleFiles scans files as one caller may see them: those whose documents the
// catalog has and the guard shows, and of these only what is still for the caller
// as the file is now.
type visibleFiles struct {
	scanner search.Scanner
	guard   *guard
}

// Scan implements search.Scanner.
func (v visibleFiles) Scan(ctx context.Context, req search.ScanRequest) (*search.Scanned, error) {
	if v.guard.filter != nil {
		req.Visible = v.guard.visible
		req.Filter = both(v.guard.filter, req.Filter)
	}
	return v.scanner.Scan(ctx, req)
}

// documents tells of the documents and chunks of results.
type documents interface {
	Chunk(id sheaf.ID) (sheaf.Chunk, bool)
	Document(id sheaf.ID) (sheaf.Document, bool)
	Date(doc sheaf.ID) (sheaf.Dated, bool)
	text(doc sheaf.ID) ([]byte, error)
}

// scannedFiles are the documents of results that were found in files. What the
// caller may not see was never scanned.
type scannedFiles struct{ *catalog.View }

func (f scannedFiles) text(doc sheaf.ID) ([]byte, error) { return f.Text(doc) }

// keepScanned keeps of what was scanned the documents of the results.
func (k *kept) keepScanned() error {
	scanned := k.result.Scanned
	if scanned == nil {
		return nil
	}
	docs := make([]sheaf.ID, len(k.result.Hits))
	for i := range k.result.Hits {
		docs[i] = k.result.Hits[i].Doc
	}
	k.result.Scanned = nil
	if len(docs) == 0 {
		return nil
	}
	view, err := scanned.Catalog(docs...)
	if err != nil {
		return err
	}
	k.documents = scannedFiles{view}
	return nil
}
