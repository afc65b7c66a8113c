package http

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/search"
)

// call is the state of one request while an operation answers it.
type call struct {
	api   *API
	grant access.Grant
	// coll is the collection that the request names. reader is the caller's Reader of coll. A field is nil if the route
	// does not need it.
	coll   *collection.Collection
	reader *collection.Reader
	// header is the header of the answer. status, if not 0, replaces the route's status of success.
	header http.Header
	status int
	// request is the HTTP request, whose body has already been read.
	request *http.Request
	body    []byte
	timings []search.Timing
}

// Where names the collection of a request.
type Where struct {
	Collection string `query:"collection" maxLength:"256" doc:"The collection; the first one when it is left out."`
}

func (w Where) name() string { return w.Collection }

// posted is the input of a request whose body is B.
type posted[B any] struct {
	Where
	Body B
}

// collectionInput is an input that names a collection, because it embeds Where.
type collectionInput interface{ name() string }

// raw is an answer that is sent unchanged, with the media type of its route.
type raw struct{ body []byte }

// endpoint is the description of a route in the OpenAPI document.
type endpoint struct {
	route string // the method and the path, as "GET /v1/search"
	// id is the name of the operation in the document and in metrics.
	id, summary, about string
	scope              access.Scope // "" admits every caller
	example            string       // an accepted body in JSON
	// media is the content type of an answer that is not JSON. A route with media needs no slot, so it answers even if
	// the server is busy.
	media  string
	status int
	// statuses lists other statuses of success, and statuses of problems that only some routes have.
	statuses []int
	// large means that a body may have Limits.IngestBody bytes; without large, the limit is Limits.Body.
	large bool
}

// route is an operation of the API, with its method and path.
type route struct {
	endpoint
	method, path  string
	input, output reflect.Type
	body          reflect.Type // nil if the requests have no body
	// parseBody, if not nil, parses the body, and the rules of the fields do not apply. The errors of parseBody have the
	// form of spec/reciprocal-rank-fusion.
	parseBody func(a *API, body []byte) (any, error)
	reads     bool // the call gets a Reader
	run       func(ctx context.Context, c *call, input any) (any, error)
	set       *fieldSet
}

func operation[I, O any](e endpoint, run func(context.Context, *call, *I) (*O, error)) *route {
	r := &route{endpoint: e, input: reflect.TypeFor[I](), output: reflect.TypeFor[O]()}
	r.method, r.path, _ = strings.Cut(e.route, " ")
	r.status = cmp.Or(r.status, http.StatusOK)
	r.run = func(ctx context.Context, c *call, input any) (any, error) { return run(ctx, c, input.(*I)) }
	if f, ok := r.input.FieldByName("Body"); ok {
		r.body = f.Type
	}
	r.set = fieldsOf(r.input, "path", "query", "header")
	for _, name := range r.set.names {
		if f := r.set.byName[name]; f.rules.hasDeflt {
			var list faults
			f.deflt = reflect.New(f.typ).Elem()
			setText(f.rules.deflt, f.deflt, f.rules, fault{Parameter: name}, &list)
			if len(list) > 0 {
				panic(invalid(list))
			}
		}
	}
	return r
}

// reading makes a route like operation. Each call also gets a Reader of the collection that the request names.
func reading[I, O any](e endpoint, run func(context.Context, *call, *I) (*O, error)) *route {
	r := operation(e, run)
	r.reads = true
	return r
}

// match reports whether an escaped path belongs to the route. It returns the values of the path's parameters. The last
// parameter gets the whole rest of the path.
func (r *route) match(path string) (values map[string]string, ok bool) {
	segments := strings.Split(r.path, "/")
	parts := strings.SplitN(path, "/", len(segments))
	if len(parts) != len(segments) {
		return nil, false
	}
	values = map[string]string{}
	for i, segment := range segments {
		text, err := url.PathUnescape(parts[i])
		name, isName := strings.CutPrefix(segment, "{")
		switch {
		case err != nil || !isName && text != segment || isName && text == "":
			return nil, false
		case isName:
			values[strings.TrimSuffix(name, "}")] = text
		}
	}
	return values, true
}

// bindParameters reads the path, query and headers of a request into the input v. list has the faults of wrong
// parameters. err says that the query of the URL cannot be parsed.
func (r *route) bindParameters(req *http.Request, path map[string]string) (v reflect.Value, list faults, err error) {
	v = reflect.New(r.input).Elem()
	query, err := url.ParseQuery(req.URL.RawQuery)
	if err != nil {
		return v, nil, problem("invalid-input", "the query of the address cannot be read: %v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if f := r.set.byName[name]; f == nil || f.in != "query" {
			known := "the address takes none"
			names := slices.DeleteFunc(slices.Clone(r.set.names), func(n string) bool { return r.set.byName[n].in != "query" })
			if len(names) > 0 {
				known = "the parameters are " + strings.Join(names, ", ")
			}
			list.add(fault{Parameter: name[:min(len(name), 100)]}, "there is no parameter of this name: %s", known)
		}
	}
	for _, name := range r.set.names {
		f := r.set.byName[name]
		at := fault{Parameter: name}
		var values []string
		switch f.in {
		case "path":
			values = []string{path[name]}
		case "query":
			values = query[name]
		case "header":
			values = req.Header.Values(name)
		}
		switch {
		case len(values) > 1 && f.typ.Kind() != reflect.Slice && !f.lists():
			list.add(at, "it is given %d times", len(values))
		case len(values) > 0:
			setText(strings.Join(values, ","), v.FieldByIndex(f.index), f.rules, at, &list)
		case f.rules.required:
			list.add(at, "it is missing")
		case f.deflt.IsValid():
			v.FieldByIndex(f.index).Set(f.deflt)
		}
	}
	return v, list, nil
}
