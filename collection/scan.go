package collection

import (
	"context"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/ingest"
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
		req.Visible, req.Shown = v.guard.visible, v.guard.filter
		req.Filter = both(v.guard.filter, req.Filter)
	}
	req.HideComments = v.guard.hides || ingest.HidesComments(v.guard.view)
	return v.scanner.Scan(ctx, req)
}

// documents tells of the documents and chunks of results.
type documents interface {
	Chunk(id sheaf.ID) (sheaf.Chunk, bool)
	// SharedDocument is the document called id, which must not be changed; nil when
	// there is none.
	SharedDocument(id sheaf.ID) *sheaf.Document
	Date(doc sheaf.ID) (sheaf.Dated, bool)
	text(doc sheaf.ID) ([]byte, error)
}

// scannedFiles are the documents of results that were found in files. What the
// caller may not see was never scanned.
type scannedFiles struct{ *catalog.View }

func (f scannedFiles) text(doc sheaf.ID) ([]byte, error) { return ingest.Shown(f.View, doc) }

// documentsOf returns the documents of results that a scan of files found; nil when the catalog has them.
func documentsOf(result *search.Result) (documents, error) {
	if result.Scanned == nil || len(result.Hits) == 0 {
		return nil, nil
	}
	docs := make([]sheaf.ID, len(result.Hits))
	for i := range result.Hits {
		docs[i] = result.Hits[i].Doc
	}
	view, err := result.Scanned.Catalog(docs...)
	if err != nil {
		return nil, err
	}
	return scannedFiles{view}, nil
}
