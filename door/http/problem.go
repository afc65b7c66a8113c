package http

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/collection"
	"sheaf/index/vfs"
)

// Problem is the error of a request in the form of RFC 9457, with one more member: error.
type Problem struct {
	Type     string  `json:"type" doc:"The kind of problem; the name of a kind never changes."`
	Title    string  `json:"title" doc:"The kind of problem in a few words."`
	Status   int     `json:"status" doc:"The HTTP status."`
	Detail   string  `json:"detail" doc:"What is wrong, and what to do."`
	Instance string  `json:"instance" doc:"The identifier of the request, as in the log."`
	Message  string  `json:"error" doc:"The same as detail."`
	Errors   []fault `json:"errors,omitempty" doc:"Each fault of the request, with its place."`

	// allow lists the methods of the path, if the request has a wrong method.
	allow string
	cause error
}

// kinds are the kinds of problems. The key is the last part of the problem's type.
var kinds = map[string]struct {
	status int
	title  string
}{
	"invalid-input":       {http.StatusBadRequest, "The request is wrong"},
	"not-authenticated":   {http.StatusUnauthorized, "The caller is not known"},
	"forbidden":           {http.StatusForbidden, "The request is not allowed"},
	"not-found":           {http.StatusNotFound, "Not found"},
	"method-not-allowed":  {http.StatusMethodNotAllowed, "The address does not have this method"},
	"conflict":            {http.StatusConflict, "The request conflicts with itself, or with what there is"},
	"expired":             {http.StatusNotFound, "The cursor is not known, or no longer"},
	"precondition-failed": {http.StatusPreconditionFailed, "A condition does not hold"},
	"too-large":           {http.StatusRequestEntityTooLarge, "The body is too large"},
	"media-type":          {http.StatusUnsupportedMediaType, "The body is no plain JSON"},
	"impossible":          {http.StatusUnprocessableEntity, "The request is well formed and cannot be carried out"},
	"unsupported":         {http.StatusUnprocessableEntity, "The collection cannot do this"},
	"too-many-requests":   {http.StatusTooManyRequests, "Too many requests of one caller"},
	"internal":            {http.StatusInternalServerError, "The server failed"},
	"unavailable":         {http.StatusServiceUnavailable, "The server cannot answer now"},
}

func problem(kind, format string, args ...any) *Problem {
	k := kinds[kind]
	detail := fmt.Sprintf(format, args...)
	return &Problem{Type: "urn:sheaf:problem:" + kind, Title: k.title, Status: k.status, Detail: detail, Message: detail}
}

// invalid returns the problem of a request with these faults.
func invalid(list faults) *Problem {
	first := list[0]
	where := first.Parameter
	if where == "" {
		where = first.Pointer
	}
	return problem("invalid-input", "%s: %s", where, first.Detail).with(list...)
}

func (p *Problem) with(list ...fault) *Problem {
	p.Errors = list
	return p
}

// problemOf returns the problem for an error of an operation. Without a route, r is nil, and err is a *Problem.
func problemOf(err error, r *route) *Problem {
	var p *Problem
	var at *collection.FieldError
	var rejected *collection.RejectedError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &rejected):
		p = problem("impossible", "%v", rejected).with(r.rejectedFaults(rejected)...)
	case errors.Is(err, collection.ErrExpired):
		p = problem("expired", "%v", err).with(r.fault("cursor", err.Error()))
	case errors.As(err, &at):
		p = r.fieldProblem(err, at)
	case errors.Is(err, collection.ErrConflict):
		p = problem("conflict", "%v", err)
	case errors.Is(err, collection.ErrForbidden):
		p = problem("forbidden", "%v", err)
	case errors.Is(err, sheaf.ErrInvalid):
		p = problem("invalid-input", "%v", err)
	case errors.Is(err, sheaf.ErrNotFound):
		p = problem("not-found", "%v", err)
		if r.asksForID() {
			p = p.with(r.fault("id", err.Error()))
		}
	case errors.Is(err, sheaf.ErrUnsupported):
		p = problem("unsupported", "%v", err)
	case vfs.NoSpace(err): // the log names the place
		p = problem("unavailable", "the server has no disk space left: repeat this when there is some")
	case vfs.Forbidden(err): // the log names the file
		p = problem("unavailable", "the server lacks the right to use a file, which its log names: repeat this when "+
			"it has the right")
	case errors.Is(err, vfs.ErrCorrupt): // it is repaired if possible: see collection.Collection.Damaged
		p = problem("unavailable", "a part of the index is damaged, and the log of the server names it: repeat this "+
			"after the repair")
	case errors.Is(err, context.DeadlineExceeded):
		p = problem("unavailable", "the request took too long: ask for less")
	case errors.Is(err, collection.ErrTaken):
		p = problem("unavailable", "another server accepts documents for this index: send them there, or repeat this "+
			"after it stops")
	case errors.Is(err, vfs.ErrLocked): // the log names the file
		p = problem("unavailable", "another program writes to the index: repeat this in a moment")
	case errors.Is(err, sheaf.ErrUnavailable), errors.Is(err, context.Canceled):
		p = problem("unavailable", "%v", err)
	default:
		// Only the log has details of internal faults.
		p = problem("internal", "the server failed; its log says why")
	}
	p.cause = err
	return p
}

// fieldProblem returns the problem for an error of one field. The request has passed the rules of the OpenAPI document.
// So the profile, the stage or the collection has refused the value.
func (r *route) fieldProblem(err error, at *collection.FieldError) *Problem {
	kind, detail := "", at.Err.Error()
	switch {
	case errors.Is(err, collection.ErrPrecondition) && r.inHeader(at.Field):
		kind = "precondition-failed"
	case errors.Is(err, collection.ErrConflict), errors.Is(err, collection.ErrPrecondition):
		kind = "conflict"
	case errors.Is(err, collection.ErrForbidden):
		kind = "forbidden"
	case errors.Is(err, sheaf.ErrNotFound) && !errors.Is(err, sheaf.ErrInvalid):
		kind = "not-found"
	default:
		kind = "impossible"
	}
	text := detail
	if kind == "conflict" || kind == "impossible" {
		detail = strings.TrimPrefix(detail, "invalid: ")
		text = at.Field + ": " + detail
	}
	return problem(kind, "%s", text).with(r.fault(at.Field, detail))
}

func (r *route) inHeader(field string) bool {
	return r.set.byName[field] != nil && r.set.byName[field].in == "header"
}

// asksForID reports whether the route's path or body names one thing by ID, which "not found" then means.
func (r *route) asksForID() bool {
	return r.set.byName["id"] != nil || r.body != nil && r.parseBody == nil && jsonFields(r.body).byName["id"] != nil
}

// fault returns a fault for one field. A field of the body has a JSON pointer; a parameter has its name.
func (r *route) fault(field, detail string) fault {
	if r.body != nil && r.set.byName[field] == nil { // else it is a parameter
		return fault{Pointer: "#/" + field, Detail: detail}
	}
	return fault{Parameter: field, Detail: detail}
}

// rejectedFaults returns a fault for each change of a batch that the store rejected, or nil for a single document.
func (r *route) rejectedFaults(e *collection.RejectedError) (list faults) {
	if r.set.byName["id"] != nil {
		return nil
	}
	for _, id := range slices.SortedFunc(maps.Keys(e.Changes), func(a, b sheaf.ID) int {
		return e.Changes[a] - e.Changes[b]
	}) {
		list = append(list, r.fault(fmt.Sprintf("documents/%d", e.Changes[id]), e.Rejected[id].Error()))
	}
	return list
}

func (p *Problem) write(w http.ResponseWriter, id string) {
	p.Instance = "urn:sheaf:request:" + id
	p.send(w, "application/problem+json", p)
}

// send writes content as the answer for the problem. kind is its content type.
func (p *Problem) send(w http.ResponseWriter, kind string, content any) {
	body, err := json.Marshal(content)
	if err != nil {
		panic(fmt.Sprintf("a problem is no JSON: %v", err))
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-store")
	if p.Status == http.StatusTooManyRequests || p.Status == http.StatusServiceUnavailable {
		h.Set("Retry-After", "1") // the same request may succeed later
	}
	if p.allow != "" {
		h.Set("Allow", p.allow)
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="sheaf"`)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(p.Status)
	_, _ = w.Write(body)
}

// Error returns the detail.
func (p *Problem) Error() string { return p.Detail }
