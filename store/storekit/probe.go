package storekit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sheaf"
)

// removing bounds how long what a probe made is removed, also when its caller went away.
const removing = 30 * time.Second

// Probe makes what a DELETE of path removes, and removes it, to see whether both may be
// done. It is removed also when ctx ends in between, or when the answer to making it was
// lost; an error says when it may stand there still.
func (c *Client) Probe(ctx context.Context, path string, make func() error) error {
	made := make()
	if made != nil && ctx.Err() == nil && !errors.Is(made, sheaf.ErrUnavailable) {
		return made // the server refused, so there is nothing to remove
	}
	again, stop := context.WithTimeout(context.WithoutCancel(ctx), removing)
	defer stop()
	err := c.Call(again, "DELETE", path, nil, nil)
	switch {
	case err == nil || errors.Is(err, sheaf.ErrNotFound): // a DELETE that was sent again finds it gone
		return made
	case made != nil:
		return fmt.Errorf("%w (%s may have been made: remove it when the server answers)", made, path)
	}
	return fmt.Errorf("%w (%s, which was made to look whether it may be, stands there still: remove it)", err, path)
}
