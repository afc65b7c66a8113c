package collection

import (
	"context"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/search"
)

// visibleFiles scans the files whose documents are in the catalog and visible to the caller. It
// checks the access rules again in the current content of each file.
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

// documents has the documents and chunks of results.
type documents interface {
	// SharedDocument returns the document called id, or nil. The caller must not change it.
	SharedDocument(id sheaf.ID) *sheaf.Document
	Date(doc sheaf.ID) (sheaf.Dated, bool)
	text(doc sheaf.ID) ([]byte, error)
}

// scannedFiles are the documents of scanned results. The scan skipped everything that the caller
// may not see.
type scannedFiles struct{ *catalog.View }

func (f scannedFiles) text(doc sheaf.ID) ([]byte, error) { return ingest.Shown(f.View, doc) }

// documentsOf returns the documents of scanned results, or nil if the catalog has them.
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
