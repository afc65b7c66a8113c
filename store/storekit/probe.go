package storekit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sheaf"
)

// removing limits the time for removing a probe, even if the caller is gone.
const removing = 30 * time.Second

// Probe checks the rights to create and to delete: it calls make, then removes the result with a
// DELETE of path. It removes it even if ctx ends in between or the answer to make was lost. An
// error says when the probe may be left behind.
func (c *Client) Probe(ctx context.Context, path string, make func() error) error {
	made := make()
	if made != nil && ctx.Err() == nil && !errors.Is(made, sheaf.ErrUnavailable) {
		return made // the server refused, so there is nothing to remove
	}
	again, stop := context.WithTimeout(context.WithoutCancel(ctx), removing)
	defer stop()
	err := c.Call(again, "DELETE", path, nil, nil)
	switch {
	case err == nil || errors.Is(err, sheaf.ErrNotFound): // a repeated DELETE finds nothing
		return made
	case made != nil:
		return fmt.Errorf("%w (%s may have been made: remove it when the server answers)", made, path)
	}
	return fmt.Errorf("%w (%s was made to test the rights and is left behind: remove it)", err, path)
}
