package elastic

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"sheaf"
)

// client sends requests to one server.
type client struct{ o Options }

// Retries: every request here can be repeated, because documents are written
// under IDs of their own.
const (
	attempts   = 5
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
	// maxAnswer bounds what is read of an answer.
	maxAnswer = 1 << 30
)

// call sends body (nil, bytes as they are, or anything else as JSON) and decodes
// the answer into out unless that is nil.
func (c client) call(ctx context.Context, method, path string, body, out any) error {
	var data []byte
	contentType := "application/json"
	switch b := body.(type) {
	case nil:
	case []byte:
		data, contentType = b, "application/x-ndjson"
	default:
		data = encode(b)
	}
	what := fmt.Sprintf("%s: %s %s", c.o.Dialect, method, path)
	for attempt := 1; ; attempt++ {
		answer, pause, err := c.once(ctx, method, path, contentType, data)
		if err == nil {
			if out == nil {
				return nil
			}
			if err := json.Unmarshal(answer, out); err != nil {
				return fmt.Errorf("%s: %w: the answer is not what such a server says: %w: %.200q", what, sheaf.ErrUnavailable, err, answer)
			}
			return nil
		}
		if pause < 0 || attempt == attempts || ctx.Err() != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if pause == 0 {
			pause = min(firstPause<<(attempt-1), maxPause)
		}
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, outOfTime(ctx, err))
		}
	}
}

func outOfTime(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return fmt.Errorf("%w: no answer in time: %w", sheaf.ErrUnavailable, err)
}

// once sends a request one time. A negative pause says that trying again is of no
// use, 0 that the usual pause will do.
func (c client) once(ctx context.Context, method, path, contentType string, data []byte) (answer []byte, pause time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, method, c.o.URL+path, bytes.NewReader(data))
	if err != nil {
		return nil, -1, sheaf.Invalidf("%w", err)
	}
	if len(data) > 0 {
		req.Header.Set("Content-Type", contentType)
	}
	c.authorize(req)
	resp, err := c.o.Client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, -1, outOfTime(ctx, err)
		}
		return nil, 0, fmt.Errorf("%w: %w", sheaf.ErrUnavailable, err)
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		if ctx.Err() != nil {
			return nil, -1, outOfTime(ctx, err)
		}
		return nil, 0, fmt.Errorf("%w: the answer broke off: %w", sheaf.ErrUnavailable, err)
	}
	if resp.StatusCode < 300 {
		return answer, 0, nil
	}
	return nil, patience(resp), refusal(resp.StatusCode, answer)
}

func (c client) authorize(req *http.Request) {
	switch {
	case c.o.APIKey != "":
		req.Header.Set("Authorization", "ApiKey "+c.o.APIKey)
	case c.o.Bearer != "":
		req.Header.Set("Authorization", "Bearer "+c.o.Bearer)
	case c.o.User != "":
		req.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(c.o.User+":"+c.o.Password)))
	}
}

// patience is how long to wait before a refused request is worth repeating.
func patience(resp *http.Response) time.Duration {
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
			return min(time.Duration(seconds)*time.Second, maxPause)
		}
		return 0
	}
	return -1
}

// serverError is what the server says about a request or a document.
type serverError struct {
	Type   string
	Reason string
	Cause  []struct{ Type, Reason string } `json:"root_cause"`
}

// String prefers the root cause, which names the fault.
func (e serverError) String() string {
	if len(e.Cause) > 0 && e.Cause[0].Reason != "" {
		return e.Cause[0].Type + ": " + e.Cause[0].Reason
	}
	return e.Type + ": " + e.Reason
}

var errMissing = fmt.Errorf("there is no such index: %w", sheaf.ErrNotFound)

// refusal puts an answer that is no success into our categories.
func refusal(status int, body []byte) error {
	var said struct {
		Error serverError
		Type  string // beside it in errors of proxies
	}
	reason := fmt.Sprintf("%.300q", body)
	if json.Unmarshal(body, &said) == nil && said.Error.Type != "" {
		reason = fmt.Sprintf("%.500s", said.Error.String())
	}
	var category error
	hint := ""
	switch {
	case status == http.StatusUnauthorized:
		category, hint = sheaf.ErrInvalid, " (check user and password, API key or token)"
	case status == http.StatusForbidden:
		category, hint = sheaf.ErrInvalid, " (the user lacks a right, or the license does not cover this)"
	case status == http.StatusNotFound && said.Error.Type == "index_not_found_exception":
		return errMissing
	case status == http.StatusRequestEntityTooLarge:
		category, hint = sheaf.ErrInvalid, " (raise http.max_content_length, or write smaller batches)"
	case status == http.StatusTooManyRequests, status >= 500:
		category = sheaf.ErrUnavailable
	case status == http.StatusNotFound:
		category = sheaf.ErrNotFound
	default:
		category = sheaf.ErrInvalid
	}
	return fmt.Errorf("%w: status %d%s: %s", category, status, hint, reason)
}
