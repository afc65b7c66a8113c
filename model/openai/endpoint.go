package openai

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
)

// Server describes a server of a model, and how to call it.
type Server struct {
	// URL is the address of the API, for example http://localhost:11434/v1. If the path lacks the end "/embeddings",
	// "/chat/completions" or "/rerank", the client adds the end that it needs.
	URL string
	// Model is the server's name for the model.
	Model string
	// The client sends Key as a bearer token unless Key is empty. Errors never contain Key.
	Key string
	// Timeout limits one request, in addition to the context; 0 is defaultTimeout. Attempts is the largest number of
	// attempts of a request while the server is busy; 0 is defaultAttempts.
	Timeout  time.Duration
	Attempts int
	// Client sends the requests and does not follow redirects; nil creates a client.
	Client *http.Client
	// sleep waits between attempts, or until the context ends. Tests replace it.
	sleep func(context.Context, time.Duration) error
}

// endpoint is one address of a server. It sends requests and repeats them while the server is busy.
type endpoint struct {
	Server
	kind   error   // errors wrap kind and start with its text
	most   int64   // largest size of an answer in bytes
	outage *outage // records whether the server answers; nil records nothing
	// failFast makes requests fail at once while outage holds a recent failure. A timeout then counts as a failure too.
	failFast bool
	hint     string // the address that the user probably meant, or ""
}

// outage remembers for some time that a server did not answer, so that requests can fail at once. It is safe for
// concurrent use.
type outage struct {
	length time.Duration
	failed atomic.Pointer[silence] // nil when the server answered
}

// silence is the failure of a server that did not answer. Before the time until, requests fail at once with fault.
type silence struct {
	fault error
	until time.Time
}

func (r *outage) recentFailure() error {
	if s := r.failed.Load(); s != nil && time.Now().Before(s.until) {
		return s.fault
	}
	return nil
}

// learn records the result of a request: nil if the server answered, otherwise the fault.
func (r *outage) learn(fault error) {
	if fault == nil {
		r.failed.Store(nil)
		return
	}
	r.failed.Store(&silence{fault, time.Now().Add(r.length)})
}

// open checks the address and sets defaults. If the address does not end with path, open appends path. what is the
// prefix of a setting's name in errors, for example "chat ". Errors wrap ErrConfig.
func (e endpoint) open(what, path string) (*endpoint, error) {
	u, err := url.Parse(e.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%w: %surl %q: must be an address such as http://localhost:11434/v1", ErrConfig, what,
			redact(e.URL))
	case u.User != nil:
		return nil, fmt.Errorf("%w: %surl %q: must not hold a password; give a key instead", ErrConfig, what, redact(e.URL))
	case strings.ContainsFunc(e.Key, unicode.IsControl):
		return nil, fmt.Errorf("%w: the %skey has several lines or control characters: it must be one line", ErrConfig, what)
	}
	if u.Path = strings.TrimSuffix(u.Path, "/"); !strings.HasSuffix(u.Path, path) {
		if base := *u; !versioned(u.Path) {
			base.Path = strings.TrimSuffix(u.Path, "/api/embed") + "/v1" // of Ollama
			e.hint = base.String()
		}
		u.Path += path
	}
	e.URL = u.String()
	if e.Timeout <= 0 {
		e.Timeout = defaultTimeout
	}
	if e.Attempts <= 0 {
		e.Attempts = defaultAttempts
	}
	var client http.Client
	if e.Client != nil {
		client = *e.Client
	}
	// Send texts and key only to the configured address.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	e.Client = &client
	if e.sleep == nil {
		e.sleep = sleep
	}
	return &e, nil
}

// versioned reports whether one of the parts of a path is the version of an API, such as v1.
func versioned(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool {
		_, err := strconv.Atoi(strings.TrimPrefix(part, "v"))
		return err == nil && part[0] == 'v'
	})
}

// transport returns a transport that takes at most limit to connect. For limit 0, it returns nil: the default.
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

// redact replaces the part of an address before "@", which may be a password.
func redact(address string) string {
	if at := strings.LastIndexByte(address, '@'); at >= 0 {
		return "…" + address[at:]
	}
	return address
}

// call sends the parameter asked as JSON. It passes the answer to the function read, and returns the result of read. It
// repeats the request as [endpoint.post] does.
func call[T any](ctx context.Context, e *endpoint, asked map[string]any,
	read func(data []byte) (T, error)) (out T, err error) {
	body, err := json.Marshal(asked)
	if err != nil {
		return out, err
	}
	err = e.post(ctx, body, func(data []byte) (err error) {
		out, err = read(data)
		return err
	})
	return out, err
}

// post sends body and passes the answer to read. It repeats this while the server is busy, up to Attempts times in all.
// If the server closes the connection, post sends body once more, even if Attempts is 1. If read fails, post does not
// repeat the request.
func (e *endpoint) post(ctx context.Context, body []byte, read func(data []byte) error) error {
	if e.failFast {
		if err := e.outage.recentFailure(); err != nil {
			return err
		}
	}
	wait := 500 * time.Millisecond
	for attempt := 1; ; attempt++ {
		retry, err := e.try(ctx, body, read)
		reconnect := causeOf(err) == closed && attempt == 1
		if err == nil || retry < 0 || attempt >= e.Attempts && !reconnect {
			return err
		}
		pause := wait + rand.N(wait)
		if reconnect {
			pause = reconnectPause
		}
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
			return fmt.Errorf("%w; the retry was canceled: %w", err, sleepErr)
		}
		wait *= 2
	}
}

// try sends one request. retry is the wait that the server asks for, or 0. retry is negative if another attempt cannot
// help.
func (e *endpoint) try(asked context.Context, body []byte, read func(data []byte) error) (retry time.Duration,
	err error) {
	ctx, cancel := context.WithTimeout(asked, e.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(body))
	if err != nil {
		return -1, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	req.Header.Set("Content-Type", "application/json")
	if e.Key != "" {
		req.Header.Set("Authorization", "Bearer "+e.Key)
	}
	resp, err := e.Client.Do(req)
	var data []byte
	if err == nil {
		defer resp.Body.Close()
		data, err = io.ReadAll(io.LimitReader(resp.Body, e.most+1))
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	away := false // this request did not reach the server
	switch {
	case err == nil:
	case errors.Is(asked.Err(), context.Canceled):
		return -1, e.fault("did not answer before the request was canceled: %w", asked.Err())
	case ctx.Err() != nil:
		away, err = e.failFast, &failure{e.fault("did not answer in time: %w", ctx.Err()), late}
	case resp != nil:
		err = &failure{e.fault("broke off its answer: %w", err), closed}
	case closes(err):
		err = &failure{e.fault("closed the connection without an answer"), closed}
	case untrusted:
		away, err = true, e.fault("is not trusted: %w: is its certificate valid, and its authority among those that the "+
			"system trusts? (SSL_CERT_FILE can name a file with the authority's, but not on macOS and Windows)",
			errors.Unwrap(err))
	default:
		away, err = true, e.fault("cannot be reached: %w: is it running, and is the address right?", errors.Unwrap(err))
	}
	// A canceled request says nothing about the server. After a failure that a text may have
	// caused, the server was at least reached.
	if e.outage != nil && asked.Err() == nil && (err == nil || away) {
		e.outage.learn(err)
	}
	switch {
	case untrusted, errors.Is(err, context.DeadlineExceeded): // the same request would take as long again
		return -1, err
	case err != nil:
		return 0, err
	case int64(len(data)) > e.most:
		return -1, e.fault("answered more than %d bytes", e.most)
	case resp.StatusCode != http.StatusOK:
		err := &failure{e.fault("%s", e.refusal(resp, data)), causeOfStatus(resp.StatusCode, data)}
		if err.cause == tooMuch {
			return -1, err
		}
		return retryAfter(resp), err
	}
	if err := read(data); err != nil {
		return -1, &failure{err, unusable}
	}
	return -1, nil
}

// failure is an error of a request, with its cause.
type failure struct {
	error
	cause cause
}

func (f *failure) Unwrap() error { return f.error }

// cause says whether the texts of a request may be the cause of a failure, or only the server.
type cause uint8

const (
	otherCause cause = iota // not the texts
	tooMuch                 // too many texts, or a text longer than the model reads
	unusable                // the server was reached and gave no usable answer: a text may break it
	closed                  // like unusable, and the connection closed before the answer was complete
	late                    // no answer in time: a text may take the server too long
)

// causeOf returns the cause of an error of [endpoint.post].
func causeOf(err error) cause {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.cause
	}
	return otherCause
}

// reconnectPause is the pause before a request is sent again after the connection closed.
const reconnectPause = 50 * time.Millisecond

// closes reports whether err means that the server closed the connection.
func closes(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || ok && (op.Op == "read" || op.Op == "write")
}

// causeOfStatus returns the cause of a refusal, from its status and answer. A text may also be the cause if the status
// means an error of the server. For example, llama.cpp and Ollama answer a long text with status 500. If a text breaks
// a server behind a proxy, the proxy answers with status 502.
func causeOfStatus(status int, data []byte) cause {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return tooMuch
	case http.StatusInternalServerError:
		if bytes.Contains(data, []byte("too large")) || bytes.Contains(data, []byte("context length")) {
			return tooMuch
		}
		return unusable
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return unusable
	}
	return otherCause
}

func (e *endpoint) fault(format string, args ...any) error {
	return fmt.Errorf("%w %s %w", e.kind, e.URL, fmt.Errorf(format, args...))
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// refusal describes an answer with a status other than 200.
func (e *endpoint) refusal(resp *http.Response, data []byte) string {
	message := cmp.Or(e.quoteAnswer(data), "an empty answer")
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/html" {
		message = "an HTML page"
		if resp.StatusCode < http.StatusInternalServerError {
			message += ": is this the address of an API?"
		}
	}
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return fmt.Sprintf("refused the key (%s): %s", resp.Status, message)
	case code == http.StatusNotFound && e.hint != "":
		return fmt.Sprintf("has no such address (%s): %s; set the url to %s", resp.Status, message, e.hint)
	case code == http.StatusNotFound && e.Model == "":
		return fmt.Sprintf("has no such address (%s): %s", resp.Status, message)
	case code == http.StatusNotFound:
		return fmt.Sprintf("knows no model %q or no such address (%s): %s", e.Model, resp.Status, message)
	case code >= 300 && code < 400:
		return fmt.Sprintf("answered %s, which is not followed: its address may be %s", resp.Status,
			redact(e.quoteAnswer([]byte(resp.Header.Get("Location")))))
	}
	return fmt.Sprintf("answered %s: %s", resp.Status, message)
}

// quoteAnswer returns the start of a server's answer, on one line and without the key.
func (e *endpoint) quoteAnswer(data []byte) string {
	text := string(data)
	if e.Key != "" { // before the text is cut, because a cut could leave a part of the key
		text = strings.ReplaceAll(text, e.Key, "…")
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(text[:min(len(text), 300)], "?")), " ")
}

// notJSON returns the error for an answer that cannot be read as JSON. wanted names what the answer should contain, and
// err is the error of reading. If err only names Go types, the result quotes the answer instead of err.
func (e *endpoint) notJSON(wanted string, data []byte, err error) error {
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok || !json.Valid(data) {
		said := cmp.Or(e.quoteAnswer(data), "an empty answer")
		if strings.HasPrefix(said, "<") {
			said = "an HTML page: is this the address of an API?"
		}
		return e.fault("answered no JSON of %s: %s", wanted, said)
	}
	return e.fault("answered no JSON of %s: %w", wanted, err)
}

// errorMessage returns the error message in a server's answer, with ": " before it. Without a message, it returns "".
func (e *endpoint) errorMessage(data []byte) string {
	var answer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(data, &answer) != nil || len(answer.Error) == 0 || string(answer.Error) == "null" {
		return ""
	}
	return ": " + e.quoteAnswer(answer.Error)
}

// retryAfter returns how long the server asks to wait before the next attempt, or 0 if it names no time. The result is
// negative if another attempt cannot help.
func retryAfter(resp *http.Response) time.Duration {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode < http.StatusInternalServerError {
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
