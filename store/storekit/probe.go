package storekit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sheaf"
	"sheaf/store"
)

// NotTold is the text in a Finding if the server does not answer the question.
const NotTold = "not told"

// Finding returns the result of a check: found if err is nil, otherwise err.
func Finding(check, found string, err error) store.Finding {
	if err != nil {
		found = ""
	}
	return store.Finding{Check: check, Found: found, Err: err}
}

// Connected returns the result of the check whether a server answers. The check started at began.
func Connected(began time.Time) store.Finding {
	return store.Finding{Check: "connection", Found: fmt.Sprintf("in %v", time.Since(began).Round(time.Millisecond))}
}

// Chunks returns the finding that an opened store has this many chunks and the configured settings. check is the name
// of the check. If err is not nil, the check failed.
func Chunks(check string, chunks int, err error) store.Finding {
	return store.Finding{Check: check, Err: err,
		Found: fmt.Sprintf("%d chunks, analyzer, k1, b and models as configured", chunks)}
}

// removeTimeout limits how long the removal of a probe takes. The removal continues even if the caller's context has
// ended.
const removeTimeout = 30 * time.Second

// Probe checks the rights to create and to delete. It calls make, then removes what make created with a DELETE of path.
// The removal also runs if ctx ends meanwhile, or if the answer to make is lost. If the removal fails, the error says
// that the created thing may still be on the server.
func (c *Client) Probe(ctx context.Context, path string, make func() error) error {
	made := make()
	if made != nil && ctx.Err() == nil && !errors.Is(made, sheaf.ErrUnavailable) {
		return made // the server refused, so there is nothing to remove
	}
	again, stop := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
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
