// Package http serves collections to programs over HTTP. An [API] is an http.Handler for the routes under /v1, the
// OpenAPI document, health, metrics, and other mounted doors. The API decodes a request, asks a collection.Reader,
// and encodes the answer. The ranking happens in other packages.
//
// Every route is an operation. Its input is a Go struct, with the rules of each field in tags. Its output is another
// struct. The decoder (decode.go) and the OpenAPI document (openapi.go) use the same tags.
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

// Options say what the API serves, and to whom.
type Options struct {
	// Collections are the collections to serve. A request that names no collection uses the first one.
	Collections []*collection.Collection
	// Keys are the keys of callers. If there is no key, every caller gets the grant Open.
	Keys *access.Keys
	// Open is the grant of every caller while there are no keys. The zero Grant allows nothing.
	Open access.Grant
	// SignOn, if not nil, replaces Keys and Open in a program that identifies callers itself. It returns the grant of a
	// request's caller. Requests whose grants have the same Name belong to one caller. If SignOn fails, or the grant has
	// expired, the answer is 401.
	SignOn func(*http.Request) (access.Grant, error)
	// Hosts are names of the server, beside localhost and IP addresses. The API refuses requests to other names.
	// Without this check, a web page could reach the server under a name of its own (DNS rebinding). Origins are other
	// web sites whose pages may send requests, such as "https://example.org".
	Hosts   []string
	Origins []string
	// Version is the version of the program.
	Version string
	// RRF holds the defaults of /v1/rrf/search.
	RRF RRF
	// Log receives failures; nil is slog.Default.
	Log    *slog.Logger
	Limits Limits
}

// DefaultTime is the time limit of a request if Limits.Time is 0.
const DefaultTime = 10 * time.Second

// Limits limit the work of the server. 0 means the default. New returns an error for a negative value.
type Limits struct {
	// Body limits one body: 1 MiB by default. IngestBody limits one body with documents: 16 MiB. Bodies limits the total
	// of all bodies that are read at once: 256 MiB. The same limit applies separately to the memory for parsing. The unit
	// is bytes.
	Body, IngestBody, Bodies int64
	// Time limits the duration of a request: DefaultTime by default.
	Time time.Duration
	// Running limits how many reads run at once, and separately how many writes. For each processor, the default is two,
	// or eight with a remote store or model. Waiting limits how many requests wait: 1024. Patience limits how long a
	// request waits: 5 s. OfOne limits the running and waiting requests of one caller: 256.
	Running, Waiting, OfOne int
	Patience                time.Duration
}

// complete gives each limit of 0 its default. It returns sheaf.ErrInvalid for each negative limit. If remote is true, a
// store or model is on another machine, and the default of Running is higher.
func (l *Limits) complete(remote bool) error {
	perProcessor := 2
	if remote {
		perProcessor = 8
	}
	return errors.Join(limit("Body", &l.Body, 1<<20), limit("IngestBody", &l.IngestBody, 16<<20),
		limit("Bodies", &l.Bodies, 256<<20), limit("Time", &l.Time, DefaultTime),
		limit("Running", &l.Running, perProcessor*runtime.GOMAXPROCS(0)), limit("Waiting", &l.Waiting, 1024),
		limit("OfOne", &l.OfOne, 256), limit("Patience", &l.Patience, 5*time.Second))
}

func limit[N int | int64 | time.Duration](name string, n *N, usual N) error {
	if *n < 0 {
		return sheaf.Invalidf("Limits.%s is %d: must be 1 or more, or 0 for the default", name, *n)
	}
	*n = cmp.Or(*n, usual)
	return nil
}

// API serves collections over HTTP. It is safe for concurrent use, but call Mount only before it serves.
type API struct {
	o       Options
	routes  []*route
	mounts  []mount
	metrics *metrics
	zipped  http.Handler // serve, with compressed answers
	// Reads and writes have separate slots: writes wait for each other, and must not delay searches.
	reads, writes *admission
	bodies        *semaphore.Weighted // bytes of bodies that are read
	values        *semaphore.Weighted // memory for parsed bodies
	// document returns the OpenAPI document, and page returns the page that shows it to people. Each makes its result at
	// the first call, so that the server starts fast.
	document func() ([]byte, error)
	page     func() []byte
}

// mount is another door, and the path under which the API serves it.
type mount struct {
	path  string
	scope access.Scope
	door  Door
}

// New makes an API for the collections in o. It returns sheaf.ErrInvalid for a wrong option, and without a collection.
func New(o Options) (*API, error) {
	if len(o.Collections) == 0 {
		return nil, sheaf.Invalidf("serve: no collection")
	}
	if i := slices.Index(o.Collections, nil); i >= 0 {
		return nil, sheaf.Invalidf("serve: collection %d is nil", i)
	}
	o.Log, o.Version = cmp.Or(o.Log, slog.Default()), cmp.Or(o.Version, "dev")
	remote := slices.ContainsFunc(o.Collections, (*collection.Collection).Remote)
	if err := errors.Join(o.RRF.validate(), o.checkNames(), o.Limits.complete(remote)); err != nil {
		return nil, err
	}
	a := &API{
		o: o,
		metrics: &metrics{began: time.Now(), requests: map[string]uint64{}, times: map[string]*series{},
			steps: map[string]*series{}},
		reads: newAdmission(o.Limits), writes: newAdmission(o.Limits),
		bodies: semaphore.NewWeighted(o.Limits.Bodies), values: semaphore.NewWeighted(o.Limits.Bodies),
	}
	a.zipped = zipped(http.HandlerFunc(a.serve))
	a.routes = slices.Concat(searchRoutes(), collectionRoutes(), documentRoutes(), saveRoutes(), rrfRoutes(),
		serverRoutes())
	a.document, a.page = a.documentOf(), sync.OnceValue(a.documentPage)
	return a, nil
}

// Door returns a handler for one request of another door. It shows what grant allows, and calls admit first.
type Door func(grant access.Grant, admit Admit) http.Handler

// Admit waits until a request may run. Call leave when the request ends. If too many requests wait, Admit returns an
// error. At a path that needs no scope, Admit does not wait.
type Admit func(ctx context.Context) (leave func(), err error)

// Mount serves requests at path with another door. A path that ends with a slash includes every path below it, except
// that "/" means only itself. A caller's grant needs scope; if scope is "", no key is needed. The API checks Host,
// Origin and keys before it calls the door, and limits the memory for bodies. The door limits each body and the time.
func (a *API) Mount(path string, scope access.Scope, door Door) {
	a.mounts = append(a.mounts, mount{path, scope, door})
	slices.SortStableFunc(a.mounts, func(x, y mount) int { return len(y.path) - len(x.path) })
}

// Collection returns the collection of this name, or sheaf.ErrNotFound. For "", it returns the first collection.
func (a *API) Collection(name string) (*collection.Collection, error) {
	for _, c := range a.o.Collections {
		if name == "" || c.Name() == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%w: there is no collection %q", sheaf.ErrNotFound, name)
}

// find returns the route for a method and an escaped path, and the values of the parameters in the path. If no route
// has this path and method, r is nil, and methods lists the methods of the path.
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

// mountAt returns the mounted door for a path, or nil. A slash at the end of the path does not count.
func (a *API) mountAt(path string) *mount {
	for i := range a.mounts {
		m := &a.mounts[i]
		below := strings.HasSuffix(m.path, "/") && m.path != "/"
		if path == m.path || strings.TrimSuffix(path, "/") == m.path || below && strings.HasPrefix(path, m.path) {
			return m
		}
	}
	return nil
}
