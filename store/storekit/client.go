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

// Client sends requests to one server. The caller must not change the fields while requests run.
type Client struct {
	// Store is the name of the store in errors.
	Store string
	// URL has scheme, host and port, without a slash at its end.
	URL string
	// HTTP sends the requests. It checks the server's certificate as the options say.
	HTTP *http.Client
	// Authorize adds credentials to a request; nil adds none.
	Authorize func(*http.Request)
	// Refusal returns the error for an unsuccessful answer, with a category of package sheaf. Nil means [Refusal].
	Refusal func(status int, body []byte) error
	// Attempts limits the attempts of a request; 0 means 5. Writes have a time limit instead: see [WaitsFor].
	Attempts int
}

// These are the first and the longest pause between attempts.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
)

// maxAnswer is the largest size of an answer in bytes. Tests lower it.
var maxAnswer int64 = 512 << 20

// Transport returns an HTTP transport with enough idle connections for the branches of a few queries.
func Transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 32
	return t
}

// Lines is a body of JSON objects, one on each line. The client sends it unchanged.
type Lines []byte

// Bytes is a body that is sent unchanged, with Type as its content type.
type Bytes struct {
	Type string
	Data []byte
}

// Call sends body and decodes the answer into out. It sends Lines and Bytes unchanged, and everything else as JSON. A
// nil body sends nothing, and a nil out decodes nothing. An error names the store and the request.
func (c *Client) Call(ctx context.Context, method, path string, body, out any) error {
	place, _, _ := strings.Cut(path, "?")
	what := fmt.Sprintf("%s: %s %s", c.Store, method, place)
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
	one, stop := bounded(ctx)
	defer func() { stop() }()
	began, failed := time.Now(), 0
	for attempt := 1; ; attempt++ {
		answer, pause, err := c.sendOnce(one, method, path, contentType, data)
		if err == nil {
			return c.decode(what, answer, out)
		}
		busy := errors.Is(err, errBusy)
		again := WaitsFor(ctx, began)
		if !busy || writeTimeout(ctx) == 0 {
			failed++
			again = failed < c.attempts()
		}
		if pause < 0 || one.Err() != nil || !again {
			return fmt.Errorf("%s: %w", what, err)
		}
		waiting := one
		if busy { // the server answered: its time begins again after the pause
			waiting = ctx
		}
		if err = Wait(waiting, attempt, pause); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if busy {
			stop()
			one, stop = bounded(ctx)
		}
	}
}

// decode decodes an answer into out, unless out is nil. what names the request in errors.
func (c *Client) decode(what string, answer []byte, out any) error {
	if out == nil {
		return nil
	}
	err := json.Unmarshal(answer, out)
	if err == nil && string(bytes.TrimSpace(answer)) == "null" {
		err = errors.New("it is empty")
	}
	if err != nil {
		return fmt.Errorf("%s: %w: the answer is not from such a server (is that %s?): %w: %.200q", what,
			sheaf.ErrUnavailable, c.Store, err, answer)
	}
	return nil
}

func (c *Client) attempts() int {
	if c.Attempts == 0 {
		return 5
	}
	return c.Attempts
}

// Wait pauses before an attempt, about as long as pause. If pause is 0 or less, the pause grows with the number of the
// attempt. If ctx ends first, Wait returns an error.
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

// OutOfTime returns the error of a call whose context has ended. If the caller canceled the context, it returns the
// cancellation. Otherwise the server was slow, and OutOfTime returns err as sheaf.ErrUnavailable.
func OutOfTime(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return store.Late(err)
}

// sendOnce sends a request once and returns the server's answer. After an error, pause is the time before the next
// attempt. 0 means the usual pause, and a negative pause means that another attempt is useless.
func (c *Client) sendOnce(ctx context.Context, method, path, contentType string, data []byte) (answer []byte,
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
		return nil, -1, fmt.Errorf("%w: the answer has more than %d MB, too much for such a server (is that %s?)",
			sheaf.ErrUnavailable, maxAnswer>>20, c.Store)
	case err != nil && ctx.Err() != nil:
		return nil, -1, OutOfTime(ctx, err)
	case err != nil:
		if once := new(*url.Error); errors.As(err, once) {
			err = (*once).Err // the error already names the request
		}
		if errors.As(err, new(*tls.CertificateVerificationError)) {
			return nil, -1, fmt.Errorf("%w: %w", sheaf.ErrUnavailable, err)
		}
		return nil, 0, fmt.Errorf("%w: %s is not reached%s: %w", sheaf.ErrUnavailable, c.URL, c.unreachedAdvice(err), err)
	}
	if resp.StatusCode < 300 {
		return answer, 0, nil
	}
	if to := resp.Header.Get("Location"); resp.StatusCode < 400 && to != "" {
		return nil, -1, fmt.Errorf("%w: status %d: %s redirects to %.300q, which is not followed: put that host and port "+
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
			return nil, -1, err // a second attempt would be as large
		}
		err = busy{err}
	}
	return nil, patience(resp), err
}

// errBusy marks the error of an answer in which a busy server asks the client to wait.
var errBusy = errors.New("busy")

// busy is the error for the answer of a busy server. It matches errBusy.
type busy struct{ error }

func (b busy) Unwrap() error        { return b.error }
func (b busy) Is(target error) bool { return target == errBusy }

// unreachedAdvice returns advice for a server that the client cannot reach.
func (c *Client) unreachedAdvice(err error) string {
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
	// The connection ended before an answer, or the answer is not HTTP.
	return fmt.Sprintf(" (is that %s, and does it speak TLS or not as the address says?)", c.Store)
}

// patience returns how long to wait before the next attempt of a refused request. 0 means the usual pause, and a
// negative result means that another attempt is useless.
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

// ErrTooLarge means that a request is larger than the server or its proxy accepts. It wraps sheaf.ErrInvalid.
var ErrTooLarge = fmt.Errorf("%w", sheaf.ErrInvalid)

// Halve sends the elements from..to-1 of a list. If they are too large for one request, Halve sends each half
// separately. If a single element is too large, Halve calls the function refuse for it.
func Halve(from, to int, send func(from, to int) error, refuse func(i int, err error)) error {
	err := send(from, to)
	switch middle := (from + to) / 2; {
	case !errors.Is(err, ErrTooLarge):
		return err
	case from+1 == to:
		refuse(from, err)
		return nil
	default:
		return errors.Join(Halve(from, middle, send, refuse), Halve(middle, to, send, refuse))
	}
}

// direct returns a client that follows no redirects. So texts and secrets go only to the configured address.
func (c *Client) direct() *http.Client {
	direct := *c.HTTP
	direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &direct
}

// Refusal returns the error for an unsuccessful answer. The status decides the category.
func Refusal(status int, body []byte) error {
	return Refused(status, fmt.Sprintf("%.300q", body))
}

// Refused works like [Refusal], and adds the server's message as the reason.
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
