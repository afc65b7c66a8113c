package storekit

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sheaf"
	"sheaf/store"
)

// Client sends requests to one server. Its fields must not change while it is used.
type Client struct {
	// Store is the name of the store in errors.
	Store string
	// URL is scheme, host and port, without a slash at its end.
	URL string
	// HTTP speaks to the server, with the certificates that it trusts.
	HTTP *http.Client
	// Authorize adds who asks to a request; nil adds nothing.
	Authorize func(*http.Request)
	// Refusal puts an answer that is no success into our categories; nil is
	// [Refusal].
	Refusal func(status int, body []byte) error
	// Attempts is how often a request is sent at most; 0 is 5. For a server that says it
	// is busy a write counts the time instead, as [WaitsFor] says.
	Attempts int
}

// The pauses between attempts: the first, and the longest.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
)

// maxAnswer bounds what is read of an answer, in bytes; tests lower it.
var maxAnswer int64 = 512 << 20

// Transport keeps as many connections as there may be branches of a few queries.
func Transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 32
	return t
}

// Lines is a body that is sent as it is, as JSON objects one a line.
type Lines []byte

// Bytes are a body that is sent as it is, of the content type that Type names.
type Bytes struct {
	Type string
	Data []byte
}

// Call sends body (nil for none, Lines and Bytes as they are, else as JSON) and
// decodes the answer into out unless that is nil. An error names the store and the
// request.
func (c *Client) Call(ctx context.Context, method, path string, body, out any) error {
	what := fmt.Sprintf("%s: %s %s", c.Store, method, path)
	var data []byte
	contentType := "application/json"
	switch b := body.(type) {
	case nil:
	case Lines:
		data, contentType = b, "application/x-ndjson"
	case Bytes:
		data, contentType = b.Data, b.Type
	default:
		var err error
		if data, err = json.Marshal(b); err != nil {
			return sheaf.Invalidf("%s: %w", what, err)
		}
	}
	silence := silenceOf(ctx)
	silence.ask()
	defer silence.end()
	began, failed := time.Now(), 0
	for attempt := 1; ; attempt++ {
		answer, pause, err := c.once(ctx, method, path, contentType, data)
		if err == nil {
			if out == nil {
				return nil
			}
			err := json.Unmarshal(answer, out)
			if err == nil && string(bytes.TrimSpace(answer)) == "null" {
				err = errors.New("there is nothing in it")
			}
			if err != nil {
				return fmt.Errorf("%s: %w: the answer is not what such a server says (is that %s?): %w: %.200q", what,
					sheaf.ErrUnavailable, c.Store, err, answer)
			}
			return nil
		}
		busy, again := errors.Is(err, errBusy), false
		if busy && silence != nil {
			again = WaitsFor(ctx, began)
		} else {
			failed++
			again = failed < c.attempts()
		}
		if pause < 0 || ctx.Err() != nil || !again {
			return fmt.Errorf("%s: %w", what, err)
		}
		if busy { // it has answered, and is not asked before the pause ends
			silence.end()
		}
		err = Wait(ctx, attempt, pause)
		if busy {
			silence.ask()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}

func (c *Client) attempts() int {
	if c.Attempts == 0 {
		return 5
	}
	return c.Attempts
}

// Wait pauses before another attempt, longer after each, for about as long as pause
// says when that is above 0. It ends early, with an error, when ctx does.
func Wait(ctx context.Context, attempt int, pause time.Duration) error {
	if pause <= 0 {
		pause = min(firstPause<<(attempt-1), maxPause)
	}
	select {
	case <-time.After(pause/2 + rand.N(pause)):
		return nil
	case <-ctx.Done():
		return OutOfTime(ctx, ctx.Err())
	}
}

// OutOfTime is the error of a call whose context ended: that of a caller who went
// away, or sheaf.ErrUnavailable for a server that took too long.
func OutOfTime(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) && !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return ctx.Err()
	}
	return store.Late(err)
}

// once sends a request one time. A negative pause says that trying again is of no
// use, 0 that the usual pause will do.
func (c *Client) once(ctx context.Context, method, path, contentType string, data []byte) (answer []byte,
	pause time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, method, c.URL+path, bytes.NewReader(data))
	if err != nil {
		return nil, -1, sheaf.Invalidf("%w", err)
	}
	if len(data) > 0 {
		req.Header.Set("Content-Type", contentType)
	}
	if c.Authorize != nil {
		c.Authorize(req)
	}
	resp, err := c.direct().Do(req)
	if err == nil {
		defer resp.Body.Close()
		answer, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
		if err != nil {
			err = fmt.Errorf("the answer broke off: %w", err)
		}
	}
	switch {
	case int64(len(answer)) > maxAnswer:
		return nil, -1, fmt.Errorf("%w: the answer has more than %d MB, which is not what such a server says (is that %s?)",
			sheaf.ErrUnavailable, maxAnswer>>20, c.Store)
	case err != nil && ctx.Err() != nil:
		return nil, -1, OutOfTime(ctx, err)
	case err != nil:
		if once := new(*url.Error); errors.As(err, once) {
			err = (*once).Err // the request is named already
		}
		if errors.As(err, new(*tls.CertificateVerificationError)) {
			return nil, -1, fmt.Errorf("%w: %w", sheaf.ErrUnavailable, err)
		}
		return nil, 0, fmt.Errorf("%w: %s is not reached%s: %w", sheaf.ErrUnavailable, c.URL, c.unreached(err), err)
	}
	done := resp.StatusCode < 300
	pause = patience(resp)
	switch resp.StatusCode {
	case http.StatusBadGateway, http.StatusGatewayTimeout: // a proxy speaks, the server does not
	default:
		if done || pause >= 0 {
			silenceOf(ctx).answered() // a server that asks for time is there
		}
	}
	if done {
		return answer, 0, nil
	}
	if to := resp.Header.Get("Location"); resp.StatusCode < 400 && to != "" {
		return nil, -1, fmt.Errorf("%w: status %d: %s sends on to %.300q, which is not followed: put that host and port "+
			"into the address, or look at the proxy before the server", sheaf.ErrUnavailable, resp.StatusCode, c.URL, to)
	}
	refusal := c.Refusal
	if refusal == nil {
		refusal = Refusal
	}
	err = refusal(resp.StatusCode, answer)
	switch resp.StatusCode {
	case http.StatusBadRequest:
		if says := string(answer); strings.Contains(says, "HTTP request") && strings.Contains(says, "HTTPS") {
			err = fmt.Errorf("%w (the server speaks TLS: put +https into the address, after %s)", err, c.Store)
		}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if errors.Is(err, ErrTooLarge) {
			return nil, -1, err // which is as large the next time
		}
		err = busy{err}
	}
	return nil, pause, err
}

// errBusy is what an answer is that asks for patience.
var errBusy = errors.New("busy")

// busy is a refusal of a server that asks for patience.
type busy struct{ error }

func (b busy) Unwrap() error        { return b.error }
func (b busy) Is(target error) bool { return target == errBusy }

// unreached is what a person can do about a server that was not reached.
func (c *Client) unreached(err error) string {
	dial, late := new(net.OpError), net.Error(nil)
	switch {
	case errors.As(err, new(*net.DNSError)):
		return " (is the host spelled right?)"
	case errors.As(err, &dial) && dial.Op == "dial":
		return " (does a server run there?)"
	case errors.As(err, new(tls.RecordHeaderError)), strings.Contains(err.Error(), "HTTP response to HTTPS client"):
		return " (the server speaks no TLS: leave +https out of the address)"
	case errors.As(err, &late) && late.Timeout(), errors.Is(err, context.Canceled):
		return ""
	}
	// The connection ended before an answer, or what came is none.
	return fmt.Sprintf(" (is that %s, and does it speak TLS or not as the address says?)", c.Store)
}

// patience is how long to wait before a refused request is worth repeating; it is
// negative when it is not.
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

// ErrTooLarge is that a request has more bytes than the server, or a proxy before it,
// takes. It wraps sheaf.ErrInvalid.
var ErrTooLarge = fmt.Errorf("%w", sheaf.ErrInvalid)

// Halve sends list, in halves when it is too large for one request, and tells refuse
// of each part that is too large by itself.
func Halve[T any](list []T, send func(list []T) error, refuse func(one T, err error)) error {
	err := send(list)
	switch {
	case !errors.Is(err, ErrTooLarge):
		return err
	case len(list) == 1:
		refuse(list[0], err)
		return nil
	}
	return errors.Join(Halve(list[:len(list)/2], send, refuse), Halve(list[len(list)/2:], send, refuse))
}

// direct is the client that follows no redirect: texts and secrets go to the address that
// was given, and nowhere else.
func (c *Client) direct() *http.Client {
	direct := *c.HTTP
	direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &direct
}

// Refusal puts an answer that is no success into our categories, by its status.
func Refusal(status int, body []byte) error {
	return Refused(status, fmt.Sprintf("%.300q", body))
}

// Refused is [Refusal] with what the server says as the reason.
func Refused(status int, reason string) error {
	category, hint := sheaf.ErrInvalid, ""
	switch {
	case status == http.StatusUnauthorized:
		category = store.ErrKeptOut
		hint = " (check user and password, API key or token: the user is in the address, the secret where store_key_env " +
			"or store_key_file says)"
	case status == http.StatusForbidden:
		category = store.ErrForbidden
		hint = " (the user lacks a right, or the license does not cover this: grant it, or name the secret of another " +
			"with store_key_env or store_key_file)"
	case status == http.StatusNotFound:
		category = sheaf.ErrNotFound
	case status == http.StatusRequestEntityTooLarge:
		category, hint = ErrTooLarge, " (raise the limit of the server, or of the proxy before it, or leave the document out)"
	case status == http.StatusTooManyRequests:
		category, hint = sheaf.ErrUnavailable, " (the server has too much to do: repeat this later, or let it take more "+
			"requests at once)"
	case status == http.StatusBadGateway, status == http.StatusServiceUnavailable, status == http.StatusGatewayTimeout:
		category, hint = sheaf.ErrUnavailable, " (the server is not ready, or the proxy before it does not reach it: "+
			"repeat this later; its log says more)"
	case status >= 500:
		category, hint = sheaf.ErrUnavailable, " (the server's log says more)"
	}
	return fmt.Errorf("%w: status %d%s: %s", category, status, hint, reason)
}
