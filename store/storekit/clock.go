package storekit

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"sheaf"
)

// Clock requests path and returns how much the server's clock and this machine's clock differ, to about a second. It
// reads the Date header of the answer. Without a Date it fails with sheaf.ErrUnsupported.
func (c *Client) Clock(ctx context.Context, path string) (time.Duration, error) {
	what := fmt.Sprintf("%s: GET %s", c.Store, path)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+path, nil)
	if err != nil {
		return 0, sheaf.Invalidf("%s: %w", what, err)
	}
	if c.Authorize != nil {
		c.Authorize(req)
	}
	before := time.Now()
	resp, err := c.direct().Do(req)
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %w", what, sheaf.ErrUnavailable, err)
	}
	defer resp.Body.Close()
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return 0, fmt.Errorf("%s: %w: the answer has no date", what, sheaf.ErrUnsupported)
	}
	// Dates are rounded down to seconds.
	return date.Add(time.Second / 2).Sub(before.Add(time.Since(before) / 2)).Abs(), nil
}
