package storekit

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"sheaf"
	"sheaf/store"
	"sheaf/text/analysis"
)

// DefaultTimeout limits the calls of a store whose options have no Timeout.
const DefaultTimeout = 30 * time.Second

// Options are the options of every store on a server that speaks HTTP.
type Options struct {
	// URL is the address of the server: scheme, host and port.
	URL string
	// Client sends the HTTP requests, with its own certificate and the certificates that it trusts. Nil trusts the
	// certificates of the system and has no certificate of its own.
	Client *http.Client
	// Analyzer makes terms from texts. A store can only be opened with the analyzer that made it.
	Analyzer *analysis.Analyzer
	// Vectors are the vector fields with their models. If the server allows other vector fields, these take the
	// dimensions of their first vector.
	Vectors []store.VectorField
	// K1 and B are the parameters of the store's BM25. If both are 0, the defaults of package store apply.
	K1, B float64
	// Timeout limits every call without an earlier deadline. In a write, it limits the time between two answers. 0
	// means 30 s.
	Timeout time.Duration
	// Access says whether Open may create the store, and whether calls may write to it.
	Access store.Access
}

// Prepare sets defaults. For invalid options, the error is sheaf.ErrInvalid. Its message begins with "open" and the
// name in server. maxDims is the largest number of dimensions that the server accepts.
func (o *Options) Prepare(server string, maxDims int) error {
	o.connect()
	if !strings.HasPrefix(o.URL, "http://") && !strings.HasPrefix(o.URL, "https://") {
		return sheaf.Invalidf("open %s: the address %q: must begin with http:// or https://", server, o.URL)
	}
	return o.PrepareMade(server, maxDims)
}

// PrepareMade works like Prepare, but only for the options that decide how a store is made, not for the connection.
func (o *Options) PrepareMade(server string, maxDims int) error {
	if o.K1 == 0 && o.B == 0 {
		o.K1, o.B = store.DefaultK1, store.DefaultB
	}
	if o.Analyzer == nil {
		return sheaf.Invalidf("open %s: no analyzer", server)
	}
	if !(o.K1 >= 0 && o.K1 <= 1000 && o.B >= 0 && o.B <= 1) {
		return sheaf.Invalidf("open %s: k1 %v and b %v: must be within 0..1000 and 0..1", server, o.K1, o.B)
	}
	return store.ValidateVectorFields(server, o.Vectors, maxDims)
}

// connect sets the defaults of the options for connections.
func (o *Options) connect() {
	o.URL = strings.TrimRight(o.URL, "/")
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	if o.Client == nil {
		o.Client = &http.Client{Transport: Transport()}
	}
}

// NewClient returns a client for the server. Errors call the store by this name. refusal returns the error for an
// unsuccessful answer. authorize adds credentials to a request.
func (o *Options) NewClient(name string, refusal func(status int, body []byte) error,
	authorize func(*http.Request)) *Client {
	o.connect()
	return &Client{Store: name, URL: o.URL, HTTP: o.Client, Refusal: refusal, Authorize: authorize}
}

// Made returns the record of the settings of a store that these options create.
func (o *Options) Made() Made { return Made{Analyzer: o.Analyzer.Name(), K1: o.K1, B: o.B} }

// Opens returns an error if these options cannot open a store with the record m. If the store's version differs from
// known, the version that this program reads, the error is sheaf.ErrUnsupported. If the store has other settings, it is
// store.ErrMadeOtherwise. In errors, place names the store's place, for example "index".
func (o *Options) Opens(m Made, version, known int, place string) error {
	if version != known {
		return fmt.Errorf("%w: the %s has version %d, this program reads version %d: "+
			"use the program that made it, or another %[2]s", sheaf.ErrUnsupported, place, version, known)
	}
	if o.Access == store.ListOnly {
		return nil
	}
	return m.Same(o.Made(), place)
}

// Refuses returns the reason why a server with its own BM25 cannot score a request, or "" if it can. In the reason,
// place names the store's place, for example "index".
func (o *Options) Refuses(req *store.Request, place string) string {
	t := req.Text
	switch {
	case t == nil:
	case t.Combine == store.CombineBM25F:
		return "combine: bm25f: use sum or best, or another store"
	case req.CountsAmong():
		return "statistics: candidates: use corpus, or another store"
	case t.K1 != o.K1 || t.B != o.B:
		return fmt.Sprintf("k1 %v and b %v: the %s was made with %v and %v: ask for these, or make another %[3]s with those",
			t.K1, t.B, place, o.K1, o.B)
	}
	return ""
}

// Unscored returns req with a scoring that every server supports, for counting. It matches the same chunks.
func (o *Options) Unscored(req store.Request) store.Request {
	if req.Text != nil {
		text := *req.Text
		text.Combine, text.Statistics, text.Among = store.CombineSum, store.StatisticsCorpus, nil
		text.K1, text.B = o.K1, o.B
		req.Text = &text
	}
	return req
}
