package ingest

import (
	"context"
	"errors"
	"maps"

	"sheaf"
	"sheaf/catalog"
)

// Relist writes the lists of skipped and of pending documents and the copy of the
// settings anew when they are damaged, from what the rest of the catalog says;
// what a walk skips the next Run adds. When it cannot be known which documents want vectors, all of them do. It reports
// whether there was anything to write.
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
	if err := errors.Join(skippedErr, pendingErr, settingsErr); err == nil || !errors.Is(err, sheaf.ErrCorrupt) && !errors.Is(err, sheaf.ErrUnsupported) {
		return false, err
	}
	settings := view.Settings()
	u := catalog.Update{Settings: &settings} // which writes the copy
	if skippedErr != nil {
		binaries, err := binaries(view)
		if err != nil {
			return false, err
		}
		u.Skipped = &binaries
		settings.Extra = maps.Clone(settings.Extra)
		delete(settings.Extra, skipsKey) // so that the next run writes the list
		delete(settings.Extra, skippedKey)
	}
	if pendingErr != nil {
		pending := map[sheaf.ID]string{}
		for id := range view.Files() {
			if settings.Embedder != "" {
				pending[id] = "vectors"
			}
		}
		u.Pending = &pending
	}
	if err := view.Err(); err != nil {
		return false, err
	}
	return true, c.Update(ctx, u)
}

// binaries lists the files that a run found to be binary: documents without
// chunks, with that warning.
func binaries(view *catalog.View) ([]catalog.Skip, error) {
	warned, err := view.Warned()
	if err != nil {
		return nil, err
	}
	skips := []catalog.Skip{}
	for _, id := range warned {
		r, err := view.Record(id)
		if err != nil {
			return nil, err
		}
		for _, w := range r.Document.Warnings {
			if w.Message == ReasonBinary {
				skips = append(skips, catalog.Skip{Path: r.Document.Path, Reason: ReasonBinary})
			}
		}
	}
	return skips, nil
}
