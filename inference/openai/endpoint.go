package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// endpoint is one address of a server. It makes requests, again when the server
// is busy.
type endpoint struct {
	kind            error // what errors wrap, and begin with
	url, model, key string
	timeout         time.Duration // of one request
	connect         time.Duration // of that, to connect; 0 is all of it
	attempts        int
	most            int64 // bytes of an answer
	client          *http.Client
	sleep           func(context.Context, time.Duration) error
	rest            *rest // what is known of the server; nil when nobody asks
	resting         bool  // requests fail at once while the server is let rest
}

// rest remembers for a while that a server did not answer. It is safe for
// concurrent use.
type rest struct {
	length time.Duration
	now    func() time.Time

	mu    sync.Mutex
	until time.Time
	fault error
}

// known is why the server did not answer a moment ago, nil when it did.
func (r *rest) known() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now().Before(r.until) {
		return r.fault
	}
	return nil
}

// learn records whether the server answered.
func (r *rest) learn(fault error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault, r.until = fault, time.Time{}
	if fault != nil {
		r.until = r.now().Add(r.length)
	}
}

// open checks the address, adds path to it when it does not end so, and sets what
// was left out. what begins the name of the setting in errors, which wrap
// ErrConfig.
func (e endpoint) open(what, path string) (*endpoint, error) {
	u, err := url.Parse(e.url)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%w: %surl %q: must be an address such as http://localhost:11434/v1", ErrConfig, what, redact(e.url))
	case u.User != nil:
		return nil, fmt.Errorf("%w: %surl %q: must not hold a password; give a key instead", ErrConfig, what, redact(e.url))
	}
	if !strings.HasSuffix(u.Path, path) {
		u.Path = strings.TrimSuffix(u.Path, "/") + path
	}
	e.url = u.String()
	if e.timeout <= 0 {
		e.timeout = DefaultTimeout
	}
	if e.attempts <= 0 {
		e.attempts = DefaultAttempts
	}
	if e.client == nil {
		e.client = &http.Client{Transport: transport(e.connect)}
	}
	if e.sleep == nil {
		e.sleep = sleep
	}
	return &e, nil
}

// transport connects within limit; nil, the usual one, when that is 0.
func transport(limit time.Duration) http.RoundTripper {
	usual, ok := http.DefaultTransport.(*http.Transport)
	if limit <= 0 || !ok {
		return nil
	}
	t := usual.Clone()
	t.DialContext = (&net.Dialer{Timeout: limit, KeepAlive: 30 * time.Second}).DialContext
	t.TLSHandshakeTimeout = limit
	return t
}

// redact hides what stands before an @ in an address.
func redact(address string) string {
	if at := strings.LastIndexByte(address, '@'); at >= 0 {
		return "…" + address[at:]
	}
	return address
}

// post sends body and gives the answer to read, whose error is final.
func (e *endpoint) post(ctx context.Context, body []byte, read func(data []byte) error) error {
	if e.resting {
		if err := e.rest.known(); err != nil {
			return err
		}
	}
	wait := 500 * time.Millisecond
	for attempt := 1; ; attempt++ {
		retry, err := e.try(ctx, body, read)
		if err == nil || retry < 0 || attempt == e.attempts {
			return err
		}
		pause := wait + rand.N(wait)
		if retry > 0 {
			pause = retry
		}
		if pause > maxWait {
			return fmt.Errorf("%w; it asks to wait %v", err, pause)
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < pause {
			return err
		}
		if sleepErr := e.sleep(ctx, pause); sleepErr != nil {
			return errors.Join(err, sleepErr)
		}
		wait *= 2
	}
}

// try makes one request. retry is below 0 when another attempt cannot help, the
// time to wait when the server names one, and 0 otherwise.
func (e *endpoint) try(asked context.Context, body []byte, read func(data []byte) error) (retry time.Duration, err error) {
	ctx, cancel := context.WithTimeout(asked, e.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return -1, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	req.Header.Set("Content-Type", "application/json")
	if e.key != "" {
		req.Header.Set("Authorization", "Bearer "+e.key)
	}
	resp, err := e.client.Do(req)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		err = e.fault("did not answer in time: %w", ctx.Err())
	default:
		err = e.fault("cannot be reached: %w: is it running, and is the address right?", errors.Unwrap(err))
	}
	if e.rest != nil && asked.Err() == nil { // who gave up learned nothing
		e.rest.learn(err)
	}
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, e.most+1))
	switch {
	case err != nil:
		return 0, e.fault("broke off its answer: %w", err)
	case int64(len(data)) > e.most:
		return -1, e.fault("answered more than %d bytes", e.most)
	case resp.StatusCode != http.StatusOK:
		return retryAfter(resp), e.fault("%s", refusal(resp, data, e.key, e.model))
	}
	return -1, read(data)
}

func (e *endpoint) fault(format string, args ...any) error {
	return fmt.Errorf("%w %s %w", e.kind, e.url, fmt.Errorf(format, args...))
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// refusal says what an answer other than 200 says, without the key.
func refusal(resp *http.Response, data []byte, key, model string) string {
	message := strings.Join(strings.Fields(strings.ToValidUTF8(string(data[:min(len(data), 300)]), "?")), " ")
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/html" {
		message = "an HTML page: is this the address of an API?"
	}
	if key != "" {
		message = strings.ReplaceAll(message, key, "…")
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Sprintf("refused the key (%s): %s", resp.Status, message)
	case http.StatusNotFound:
		return fmt.Sprintf("knows no model %q or no such address (%s): %s", model, resp.Status, message)
	}
	return fmt.Sprintf("answered %s: %s", resp.Status, message)
}

// retryAfter says when a refused request may be made again.
func retryAfter(resp *http.Response) time.Duration {
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusInternalServerError:
	default:
		return -1
	}
	value := resp.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil && seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
