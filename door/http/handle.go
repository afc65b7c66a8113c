package http

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/index/vfs"
	"sheaf/search"
)

// statusHungUp is the status that metrics show when the client closed the connection before the answer.
const statusHungUp = 499

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, req *http.Request) { a.zipped.ServeHTTP(w, req) }

func (a *API) serve(w http.ResponseWriter, req *http.Request) {
	began := time.Now()
	id := requestID(req)
	h := w.Header()
	h.Set("X-Request-Id", id)
	h.Set("X-Content-Type-Options", "nosniff")
	trace := traceOf(req)
	if trace != "" {
		h.Set("Traceparent", trace)
	}
	name, status := "none", 0
	c := &call{api: a, header: h, request: req}
	defer func() {
		if fault := recover(); fault != nil {
			if fault == http.ErrAbortHandler {
				panic(fault)
			}
			a.o.Log.Error("panic", "request", id, "trace", trace, "fault", fmt.Sprint(fault), "stack", string(debug.Stack()))
			status = http.StatusInternalServerError
			problem("internal", "the server failed; its log says why").write(w, id)
		}
		a.metrics.request(name, status, time.Since(began), c.timings)
	}()
	fail := func(err error, r *route) {
		p := problemOf(collection.Told(err, &c.grant), r)
		if own := (*Problem)(nil); !errors.As(err, &own) {
			p.cause = err // with all details
		}
		status = p.Status
		switch {
		case errors.Is(err, context.Canceled) && req.Context().Err() != nil:
			status = statusHungUp
		case status >= 500 && p.cause != nil:
			level := slog.LevelError
			if status == http.StatusServiceUnavailable && !errors.Is(err, vfs.ErrCorrupt) { // a later try may succeed
				level = slog.LevelWarn
			}
			a.o.Log.Log(req.Context(), level, "request failed", "request", id, "trace", trace, "path", req.URL.Path, "error",
				p.cause.Error())
		}
		if r != nil && r.parseBody != nil && p.Status != http.StatusUnauthorized {
			p.send(w, "application/json", map[string]string{"error": p.Detail}) // see spec/reciprocal-rank-fusion
			return
		}
		p.write(w, id)
	}
	if err := a.checkOrigin(req); err != nil {
		fail(err, nil)
		return
	}
	a.allowOrigin(w, req)
	if req.Method == http.MethodOptions && req.Header.Get("Access-Control-Request-Method") != "" {
		status = http.StatusNoContent
		w.WriteHeader(status)
		return
	}
	path := req.URL.EscapedPath()
	r, values, methods := a.find(req.Method, path)
	if r == nil {
		if m := a.mountAt(req.URL.Path); m != nil && len(methods) == 0 {
			name = "mounted"
			answer := &statusWriter{ResponseWriter: w, status: http.StatusOK}
			defer func() { status = answer.status }() // before the metrics count it
			if err := a.pass(answer, req, m); err != nil {
				fail(err, nil)
				answer.status = status
			}
			return
		}
		fail(noRoute(methods), nil)
		return
	}
	name = r.id
	c.status = r.status
	out, err := a.answer(c, r, values)
	if err != nil {
		if errors.Is(err, sheaf.ErrNotFound) {
			collection.Settle(req.Context(), c.grant, began)
		}
		fail(err, r)
		return
	}
	status = c.status
	if err := send(w, c, r.media, out, began); err != nil {
		fail(fmt.Errorf("encode the answer: %w", err), r)
	}
}

func noRoute(methods []string) *Problem {
	if len(methods) == 0 {
		return problem("not-found", "there is nothing at this address: see /openapi.json")
	}
	if i := slices.Index(methods, http.MethodGet); i >= 0 { // GET routes answer HEAD too
		methods = slices.Insert(slices.Clone(methods), i+1, http.MethodHead)
	}
	p := problem("method-not-allowed", "this address allows only %s", strings.Join(methods, ", "))
	p.allow = strings.Join(methods, ", ")
	return p
}

// answer runs the operation of a route. It checks the key, reads the body, and parses the input. Then it waits for a
// slot, opens the collection, and calls the operation.
func (a *API) answer(c *call, r *route, values map[string]string) (any, error) {
	var err error
	if c.grant, err = a.admit(c.request, r.scope); err != nil {
		return nil, err
	}
	v, wrong, err := r.bindParameters(c.request, values)
	if err != nil {
		return nil, err
	}
	if r.body != nil {
		free, err := a.readBody(c, r)
		if err != nil && len(wrong) > 0 {
			return nil, invalid(wrong) // reading the body would not help
		}
		if err != nil {
			return nil, err
		}
		defer free()
	}
	input, err := a.parse(c, r, v, wrong)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.request.Context(), a.o.Limits.Time)
	defer cancel()
	if r.media != "" {
		return r.run(ctx, c, input)
	}
	slots := a.reads
	if r.scope != access.ScopeSearch && r.method != http.MethodGet {
		slots = a.writes
	}
	if err := slots.enter(c.grant.Caller); err != nil {
		return nil, err
	}
	defer slots.release(c.grant.Caller)
	leave, err := slots.slot(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if in, ok := input.(collectionInput); ok {
		if c.coll, err = a.Collection(in.name()); err != nil {
			return nil, &collection.FieldError{Field: "collection", Err: err}
		}
	}
	if r.reads {
		if c.reader, err = c.coll.For(c.grant); err != nil {
			return nil, err
		}
		defer c.reader.Close()
	}
	return r.run(ctx, c, input)
}

// pass lets another door answer a request, with the grant of the caller.
func (a *API) pass(w http.ResponseWriter, req *http.Request, m *mount) error {
	grant, err := a.admit(req, m.scope)
	if err != nil {
		return err
	}
	admit := func(context.Context) (func(), error) { return func() {}, nil }
	if m.scope != "" {
		if err := a.reads.enter(grant.Caller); err != nil {
			return err
		}
		defer a.reads.release(grant.Caller)
		admit = a.reads.slot
	}
	body := &sharedBody{ReadCloser: req.Body, shares: a.bodies}
	defer body.free()
	req.Body = body
	m.door(grant, admit).ServeHTTP(w, req)
	return nil
}

// admit returns the grant of a request's caller. If the grant lacks scope, admit returns an error.
func (a *API) admit(req *http.Request, scope access.Scope) (access.Grant, error) {
	if scope == "" {
		return access.Grant{}, nil
	}
	grant, err := a.signedOn(req)
	if err == nil && !grant.May(scope) {
		err = problem("forbidden", "the key lacks the scope %s", scope)
	}
	return grant, err
}

// signedOn returns the grant of a request's caller. The field Caller of the grant identifies the caller for admission.
func (a *API) signedOn(req *http.Request) (access.Grant, error) {
	if a.o.SignOn != nil {
		grant, err := a.o.SignOn(req)
		switch {
		case err != nil:
			return access.Grant{}, problem("not-authenticated", "%v", err)
		case grant.Ended(time.Now()):
			return access.Grant{}, problem("not-authenticated", "your access has expired: sign in again")
		}
		grant.Caller = "signed on: " + grant.Name
		return grant, nil
	}
	keyed, err := a.o.Keys.Any()
	grant, given := a.o.Open, len(req.Header.Values("Authorization"))
	switch {
	case err != nil:
		return access.Grant{}, keysUnread(err)
	case !keyed && len(grant.Scopes) == 0:
		return access.Grant{}, problem("not-authenticated", "there is no key yet: make one with sheaf key add")
	case !keyed:
		grant.Caller = "local"
		return grant, nil
	case given > 1:
		return access.Grant{}, problem("not-authenticated", "the header Authorization is given %d times: give one key", given)
	}
	scheme, secret, ok := strings.Cut(req.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return access.Grant{}, problem("not-authenticated", "give a key in the header Authorization: Bearer KEY")
	}
	key, err := a.o.Keys.Find(strings.TrimSpace(secret))
	switch {
	case errors.Is(err, access.ErrKey):
		return access.Grant{}, problem("not-authenticated", "the key is unknown, expired or revoked")
	case err != nil:
		return access.Grant{}, keysUnread(err)
	}
	key.Grant.Caller = key.ID
	return key.Grant, nil
}

// keysUnread returns the problem for a file of keys that cannot be read. Only the log has the file and the reason.
func keysUnread(err error) error {
	p := problem("unavailable", "the keys cannot be read: the log says why")
	p.cause = err
	return p
}

// readBody reads a body into c.body, within the limits. Call free when the body is no longer needed.
func (a *API) readBody(c *call, r *route) (free func(), err error) {
	kind, _, _ := strings.Cut(c.request.Header.Get("Content-Type"), ";")
	if kind = strings.ToLower(strings.TrimSpace(kind)); kind != "application/json" {
		return nil, problem("media-type", "the content type is %q: must be application/json", kind)
	}
	if code := c.request.Header.Get("Content-Encoding"); code != "" && !strings.EqualFold(code, "identity") {
		c.header.Set("Accept-Encoding", "identity")
		return nil, problem("media-type", "the body is encoded as %q: send it as it is", code)
	}
	limit := a.o.Limits.Body
	if r.large {
		limit = a.o.Limits.IngestBody
	}
	if c.request.ContentLength > limit {
		return nil, problem("too-large", "it has %d bytes: must have at most %d", c.request.ContentLength, limit)
	}
	body := &sharedBody{ReadCloser: c.request.Body, shares: a.bodies}
	c.body, err = io.ReadAll(io.LimitReader(body, limit+1))
	switch {
	case errors.Is(err, errCrowded):
		err = problem("unavailable", "too many bodies are being read")
	case err != nil:
		err = problem("invalid-input", "the body ended too early: send it again")
	case int64(len(c.body)) > limit:
		err = problem("too-large", "it has more than %d bytes", limit)
	default:
		return body.free, nil
	}
	body.free()
	return nil, err
}

// valueBytes is the approximate number of bytes of memory for each value of a body that is parsed. A body that needs at
// most smallValues bytes never waits for other bodies.
const (
	valueBytes  = 96
	smallValues = 64 << 10
)

// parse parses c.body into the input v. wrong has the faults in the parameters of the request. parse limits the memory
// for all parsed bodies, because a parsed body of brackets takes sixty times its length.
func (a *API) parse(c *call, r *route, v reflect.Value, wrong faults) (any, error) {
	n := collection.MaxValues(c.body)
	if most := a.o.Limits.Bodies / valueBytes; n > most {
		return nil, problem("too-large", "the body has %d values, at most %d are allowed: send it in parts", n, most)
	}
	if share := n * valueBytes; share > smallValues {
		ctx, cancel := context.WithTimeout(c.request.Context(), a.o.Limits.Patience)
		defer cancel()
		if a.values.Acquire(ctx, share) != nil {
			return nil, problem("unavailable", "too many bodies are being read")
		}
		defer a.values.Release(share)
	}
	switch {
	case r.parseBody != nil && len(wrong) == 0:
		in, err := r.parseBody(a, c.body)
		if err != nil {
			return nil, err
		}
		v.FieldByName("Body").Set(reflect.ValueOf(in))
	case r.parseBody == nil && r.body != nil:
		if in, ok := parseJSON(c.body, &wrong); ok {
			bind(in, v.FieldByName("Body"), &rules{}, fault{Pointer: "#"}, &wrong)
		}
	}
	if len(wrong) > 0 {
		return nil, invalid(wrong)
	}
	return v.Addr().Interface(), nil
}

// zipped compresses answers with gzip, if the client accepts gzip and the answer is longer than a packet.
func zipped(h http.Handler) http.Handler {
	zip, err := gzhttp.NewWrapper(gzhttp.MinSize(1400), gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.EnableZstd(false))
	if err != nil {
		panic("compress answers: " + err.Error())
	}
	return zip(h)
}

// send encodes the whole answer and then sends it. So if encoding fails, the client still gets a problem. media is the
// content type of a raw answer. began is the time when the request began.
func send(w http.ResponseWriter, c *call, media string, out any, began time.Time) error {
	h := w.Header()
	h.Set("Content-Type", cmp.Or(media, "application/json"))
	var body []byte
	if r, ok := out.(*raw); ok {
		body = r.body
	} else {
		var err error
		if body, err = json.Marshal(out); err != nil {
			return err
		}
		body = append(body, '\n')
	}
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-store")
	}
	var timing strings.Builder // each step, then the total
	for _, s := range append(c.timings, search.Timing{Step: "total", Duration: time.Since(began)}) {
		if timing.Len() > 0 {
			timing.WriteString(", ")
		}
		fmt.Fprintf(&timing, "%s;dur=%.3f", headerName(s.Step), float64(s.Duration.Microseconds())/1000)
	}
	h.Set("Server-Timing", timing.String())
	if c.status == http.StatusNotModified || c.status == http.StatusNoContent {
		h.Del("Content-Type")
		w.WriteHeader(c.status)
		return nil
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(c.status)
	_, _ = w.Write(body)
	return nil
}
