// Package http serves collections to programs over HTTP. An [API] is an http.Handler: the routes under /v1, the
// OpenAPI document, health, metrics, and other doors that the program mounts. It decodes a request, asks a
// collection.Reader, and encodes the answer. It does no ranking.
//
// Every route is an operation: one Go struct is its input, with the rules of every field in tags, and another its
// output. The decoder (decode.go) and the OpenAPI document (openapi.go) use the same tags.
package http

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
)

// Options say what is served, and to whom.
type Options struct {
	// Collections are served. The first one is used when a request names none.
	Collections []*collection.Collection
	// Keys are the keys of callers. When it is nil or empty, callers without a key get Open.
	Keys *access.Keys
	// Open is the grant of a caller without a key while there are no keys. The
	// zero Grant allows nothing.
	Open access.Grant
	// SignOn is for a program that knows its callers: it returns the grant of a request's caller. Its Name identifies
	// the caller. An error of SignOn and an expired grant are answered with 401. With SignOn, Keys and Open are not
	// used.
	SignOn func(*http.Request) (access.Grant, error)
	// Hosts are names of the server beside localhost and IP addresses. Requests to other names are refused, so that a
	// web page cannot reach the server under its own name (DNS rebinding). Origins are other web pages that may ask,
	// such as "https://example.org".
	Hosts   []string
	Origins []string
	// Version is the version of the program.
	Version string
	// RRF has the defaults of /v1/rrf/search.
	RRF RRF
	// Log gets failures; nil is slog.Default.
	Log    *slog.Logger
	Limits Limits
}

// DefaultTime is how long a request may take.
const DefaultTime = 10 * time.Second

// Limits bound the work of the server. Zero is the default. New refuses a negative value.
type Limits struct {
	// Body and IngestBody bound one body, in bytes: 1 MiB and 16 MiB. Bodies bounds the bodies that are read at once,
	// and the memory for parsing them: 256 MiB.
	Body, IngestBody, Bodies int64
	// Time bounds a request: DefaultTime.
	Time time.Duration
	// Running bounds the reading requests that work at once, and as many writing ones: twice the
	// processors, or eight times with a remote store or model. Waiting bounds the waiting requests:
	// 1024. Each waits for at most Patience: 5 s. OfOne bounds the requests of one caller: 256.
	Running, Waiting, OfOne int
	Patience                time.Duration
}

// validate returns an error that wraps sheaf.ErrInvalid and names a negative limit.
func (l *Limits) validate() error {
	for _, limit := range []struct {
		name string
		n    int64
	}{
		{"Body", l.Body}, {"IngestBody", l.IngestBody}, {"Bodies", l.Bodies}, {"Time", int64(l.Time)},
		{"Running", int64(l.Running)}, {"Waiting", int64(l.Waiting)}, {"OfOne", int64(l.OfOne)},
		{"Patience", int64(l.Patience)},
	} {
		if limit.n < 0 {
			return sheaf.Invalidf("Limits.%s is %d: must be 1 or more, or 0 for the default", limit.name, limit.n)
		}
	}
	return nil
}

func (l *Limits) defaults(remote bool) {
	perProcessor := 2
	if remote {
		perProcessor = 8
	}
	l.Body = cmp.Or(l.Body, 1<<20)
	l.IngestBody = cmp.Or(l.IngestBody, 16<<20)
	l.Bodies = cmp.Or(l.Bodies, 256<<20)
	l.Time = cmp.Or(l.Time, DefaultTime)
	l.Running = cmp.Or(l.Running, perProcessor*runtime.GOMAXPROCS(0))
	l.Waiting = cmp.Or(l.Waiting, 1024)
	l.OfOne = cmp.Or(l.OfOne, 256)
	l.Patience = cmp.Or(l.Patience, 5*time.Second)
}

// API serves collections over HTTP. It is safe for concurrent use. Call Mount only before it serves.
type API struct {
	o       Options
	routes  []*route
	mounts  []mount
	metrics *metrics
	zipped  http.Handler // serve, with compressed answers
	// Writes have slots of their own, because they wait for each other and must not stop searches.
	reads, writes *admission
	bodies        *semaphore.Weighted // bytes of bodies that are read
	values        *semaphore.Weighted // memory for parsed bodies
	// document returns the OpenAPI document, and page its page for people. The first call writes
	// them, which keeps the start of the server fast.
	document func() ([]byte, error)
	page     func() []byte
}

// mount is another door with its own address.
type mount struct {
	path  string
	scope access.Scope
	door  Door
}

// New makes the API of the collections in o.
func New(o Options) (*API, error) {
	if len(o.Collections) == 0 {
		return nil, sheaf.Invalidf("serve: no collection")
	}
	if i := slices.Index(o.Collections, nil); i >= 0 {
		return nil, sheaf.Invalidf("serve: collection %d is nil", i)
	}
	o.Log, o.Version = cmp.Or(o.Log, slog.Default()), cmp.Or(o.Version, "dev")
	if err := errors.Join(o.RRF.validate(), o.checkNames(), o.Limits.validate()); err != nil {
		return nil, err
	}
	o.Limits.defaults(slices.ContainsFunc(o.Collections, (*collection.Collection).Remote))
	a := &API{
		o: o, metrics: newMetrics(),
		reads: newAdmission(o.Limits), writes: newAdmission(o.Limits),
		bodies: semaphore.NewWeighted(o.Limits.Bodies), values: semaphore.NewWeighted(o.Limits.Bodies),
	}
	a.zipped = zipped(http.HandlerFunc(a.serve))
	a.addRoutes()
	a.document, a.page = a.documentOf(), sync.OnceValue(a.documentPage)
	return a, nil
}

// Door returns the handler for a request of another door. grant says what the caller may see. The handler calls admit
// before it works.
type Door func(grant access.Grant, admit Admit) http.Handler

// Admit waits until a request may work. Call leave when the work is done. It returns an error when too many requests
// wait. A request without a scope works at once.
type Admit func(ctx context.Context) (leave func(), err error)

// Mount gives requests at path to another door. A path with a trailing slash includes everything below it, except "/".
// Callers need scope, unless it is "". The API checks Host, Origin and keys first. The door has its own limits of body
// and time.
func (a *API) Mount(path string, scope access.Scope, door Door) {
	a.mounts = append(a.mounts, mount{path, scope, door})
	slices.SortStableFunc(a.mounts, func(x, y mount) int { return len(y.path) - len(x.path) })
}

// Collection returns the collection of a name, or the first one for "".
func (a *API) Collection(name string) (*collection.Collection, error) {
	for _, c := range a.o.Collections {
		if name == "" || c.Name() == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%w: there is no collection %q", sheaf.ErrNotFound, name)
}

// find returns the route of a method and an escaped path, with the values of its parameters. When only the method is
// wrong, methods are the methods of the path.
func (a *API) find(method, path string) (r *route, values map[string]string, methods []string) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, r := range a.routes {
		values, ok := r.match(path)
		if !ok {
			continue
		}
		if r.method == method {
			return r, values, nil
		}
		methods = append(methods, r.method)
	}
	return nil, nil, methods
}

// mounted returns the door that serves a path, or nil.
func (a *API) mounted(path string) *mount {
	for i := range a.mounts {
		m := &a.mounts[i]
		below := strings.HasSuffix(m.path, "/") && m.path != "/"
		if path == m.path || below && strings.HasPrefix(path, m.path) {
			return m
		}
	}
	return nil
}
