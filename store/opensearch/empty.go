package opensearch

import (
	"context"
	"errors"
	"strings"
	"time"

	"sheaf"
)

// remakeTimeout limits how long Empty takes to create the index again.
const remakeTimeout = 30 * time.Second

// Empty implements [store.Emptier]. It removes the index and creates it again with the same settings, mapping and
// second names. It does not delete the chunks one by one, because deleted chunks count in statistics until the server
// merges segments. The dictionary stays: a term without chunks finds nothing.
func (s *Store) Empty(ctx context.Context) error {
	return s.calls.Write(ctx, func(ctx context.Context) error {
		var found map[string]struct {
			Aliases  map[string]any `json:"aliases"`
			Mappings map[string]any `json:"mappings"`
			Settings struct {
				Index map[string]any `json:"index"`
			} `json:"settings"`
		}
		if err := s.client.Call(ctx, "GET", "/"+s.index(), nil, &found); err != nil {
			return err
		}
		if len(found) != 1 {
			return s.several(s.index(), len(found))
		}
		for name, index := range found {
			for _, own := range []string{"uuid", "creation_date", "provided_name", "version"} { // the server sets these
				delete(index.Settings.Index, own)
			}
			// After a lost answer, a repeated request finds no index to delete. Empty creates the index
			// again even after the caller canceled.
			if err := s.client.Call(ctx, "DELETE", "/"+name, nil, nil); err != nil && !errors.Is(err, sheaf.ErrNotFound) {
				return err
			}
			again, stop := context.WithTimeout(context.WithoutCancel(ctx), remakeTimeout)
			err := s.client.Call(again, "PUT", "/"+name, index, nil)
			stop()
			if err != nil && !strings.Contains(err.Error(), "resource_already_exists") {
				return s.fault(err, "the index %s was removed and could not be made again", name)
			}
		}
		return nil
	})
}
