package ingest

import (
	"context"
	"errors"
	"maps"

	"sheaf"
	"sheaf/index/catalog"
)

// Relist repairs the damaged lists of skipped and of pending documents, and the copy of the
// settings, from the rest of the catalog. The next Run finds skipped files again. Without the
// list of pending documents, all of them wait for vectors and are read again, and what the
// store has of documents that were begun and whose files are gone stays. Relist reports
// whether it wrote anything.
func Relist(ctx context.Context, c *catalog.Catalog) (bool, error) {
	release, err := c.Hold()
	if err != nil {
		return false, err
	}
	changed, err := relist(ctx, c)
	return changed, errors.Join(err, release())
}

func relist(ctx context.Context, c *catalog.Catalog) (bool, error) {
	view := c.View()
	defer view.Close()
	skippedErr, pendingErr, settingsErr := view.ListFaults()
	err := errors.Join(skippedErr, pendingErr, settingsErr)
	if !errors.Is(err, sheaf.ErrCorrupt) && !errors.Is(err, sheaf.ErrUnsupported) {
		return false, err
	}
	settings := view.Settings()
	u := catalog.Update{Settings: &settings} // which writes the copy
	if skippedErr != nil {
		u.Skipped = &[]catalog.Skip{}
		settings.Extra = maps.Clone(settings.Extra)
		delete(settings.Extra, skippedKey) // so that the next run writes the list
	}
	if pendingErr != nil {
		settings.Extra = maps.Clone(settings.Extra)
		delete(settings.Extra, parserKey) // the documents that wait to be read again are unknown
		pending := map[sheaf.ID]string{}
		for id := range view.Files() {
			if settings.Embedder != "" {
				pending[id] = ReasonVectors
			}
		}
		u.Pending = &pending
	}
	if err := view.Err(); err != nil {
		return false, err
	}
	return true, c.Update(ctx, u)
}
