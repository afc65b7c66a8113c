package ingest

import (
	"context"
	"errors"
	"maps"

	"sheaf"
	"sheaf/index/catalog"
)

// Relist writes the lists of skipped and of pending documents and the copy of the
// settings anew when they are damaged, from what the rest of the catalog says;
// the next Run finds again what is skipped. When it cannot be known which
// documents want vectors, all of them do, and which wait to be read again, all are read; which
// were begun is forgotten, so that what a store has of those whose files are gone stays. It
// reports whether there was anything to write.
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
		delete(settings.Extra, parserKey) // nobody knows which documents wait to be read again
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
