// Package openai embeds texts and calls language models through servers with OpenAI's API, such as Ollama, llama.cpp,
// TEI and vLLM. Its main types are [Embedder] and [Chat].
package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sheaf/model"
)

// ErrUnavailable means that the server gave no vectors: it was not reached, refused, or sent an invalid answer.
// The message names the server and what to do. errChat and errRerank mean the same for replies and scores.
var (
	ErrUnavailable = errors.New("embedding server")
	errChat        = errors.New("chat server")
	errRerank      = errors.New("reranking server")
)

// ErrConfig means that the options are wrong.
var ErrConfig = errors.New("invalid embedder")

// Options describe a server of embeddings.
type Options struct {
	Server
	// Dims is the number of dimensions; 0 asks the server once.
	Dims int
	// The embedder adds QueryPrefix and PassagePrefix before texts, for models that need them.
	QueryPrefix, PassagePrefix string
	// Batch limits the texts of one request; 0 is defaultBatch. If a server accepts fewer, the client halves the
	// request.
	Batch int
	// QueryTimeout, if above 0, limits the request for a query. The client then makes only one attempt: a user
	// waits, and search by words works without the vector.
	QueryTimeout time.Duration
	// Rest is the time after a fault in which queries fail at once, with the same error. A fault means that the server
	// was not reached, or did not answer a query in time. With 0 every query tries the server. Passages always try the
	// server. A failure on a passage does not delay queries.
	Rest time.Duration
	// ConnectTimeout limits the time to connect to the server; 0 means the timeout of the request.
	ConnectTimeout time.Duration
}

// These are the defaults of Options.
const (
	defaultBatch    = 64
	defaultTimeout  = 60 * time.Second
	defaultAttempts = 4
	// maxAnswer limits the answer to one request, in bytes.
	maxAnswer = 256 << 20
	// maxWait is the longest pause that the client makes if a server asks for one. For a longer pause, the request fails.
	maxWait = 30 * time.Second
)

// Embedder is a model on a server. It implements model.Embedder.
type Embedder struct {
	o         Options
	at, query *endpoint // for passages, and for queries
}

var _ model.Embedder = (*Embedder)(nil)

// New returns an embedder. Without Dims in the options, it asks the server. Errors wrap ErrConfig or ErrUnavailable.
func New(ctx context.Context, o Options) (*Embedder, error) {
	if o.Client == nil {
		o.Client = &http.Client{Transport: transport(o.ConnectTimeout)}
	}
	at, err := endpoint{Server: o.Server, kind: ErrUnavailable, most: maxAnswer,
		outage: &outage{length: o.Rest}}.open("", "/embeddings")
	switch {
	case err != nil:
		return nil, err
	case o.Model == "":
		return nil, fmt.Errorf("%w: no model named for %s", ErrConfig, o.URL)
	case o.Dims < 0 || o.Dims > 1<<16:
		return nil, fmt.Errorf("%w: %d dimensions: must be within 1..65536", ErrConfig, o.Dims)
	}
	if o.Batch <= 0 {
		o.Batch = defaultBatch
	}
	query := *at
	if o.QueryTimeout > 0 {
		query.Timeout, query.Attempts, query.failFast = o.QueryTimeout, 1, true
	}
	e := &Embedder{o, at, &query}
	if o.Dims == 0 {
		vectors, err := e.request(ctx, at, []string{"dimensions"})
		if err != nil {
			return nil, err
		}
		if vectors[0] == nil {
			return nil, at.fault("gave a vector of zeros for the word dimensions: does it serve a model of embeddings?")
		}
		e.o.Dims = len(vectors[0])
	}
	return e, nil
}

// Model implements model.Embedder. The name contains the prefixes, because they change the vectors.
func (e *Embedder) Model() string {
	name := e.o.Model
	if e.o.PassagePrefix != "" || e.o.QueryPrefix != "" {
		name += fmt.Sprintf(" passage=%q query=%q", e.o.PassagePrefix, e.o.QueryPrefix)
	}
	return name
}

// Dims implements model.Embedder.
func (e *Embedder) Dims() int { return e.o.Dims }

// Embed implements model.Embedder. If the server refuses a text or fails on it, Embed returns the vector of the text's
// start. If it refuses the start too, a passage gets a nil vector, and a query an error. Errors wrap ErrUnavailable.
func (e *Embedder) Embed(ctx context.Context, purpose model.Purpose, texts []string) ([][]float32, error) {
	prefix, at := e.o.PassagePrefix, e.at
	if purpose == model.Query {
		prefix, at = e.o.QueryPrefix, e.query
	}
	out := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := min(len(texts), e.o.Batch)
		batch := make([]string, n)
		for i, text := range texts[:n] {
			batch[i] = prefix + text
			if strings.TrimSpace(text) == "" {
				batch[i] = prefix + "-" // servers refuse empty texts
			}
		}
		vectors, err := e.batch(ctx, at, purpose, batch)
		if err != nil {
			return nil, err
		}
		out = append(out, vectors...)
		texts = texts[n:]
	}
	return out, nil
}

// shortest is a number of characters that every model can read. If a server refuses a text of this length, the length
// is not the reason.
const shortest = 200

// batch embeds texts. If a text may be the cause of a failure, batch sends less text at once. So one bad text does not
// prevent the vectors of the others. batch sends
//   - each half of the list; after a timeout, each text alone;
//   - the first half of a single text; after a timeout, its first characters (shortest).
//
// If the server refuses a text of at most shortest characters as too much, a passage gets a nil vector. A query gets
// the error.
//
// Before batch gives up a text, and after failures other than too much text, it embeds a plain word. If the word fails
// too, the server is the cause, and batch returns the first error.
func (e *Embedder) batch(ctx context.Context, at *endpoint, purpose model.Purpose,
	texts []string) ([][]float32, error) {
	vectors, err := e.request(ctx, at, texts)
	if err == nil || ctx.Err() != nil {
		return vectors, err
	}
	why, short := causeOf(err), len(texts) == 1 && utf8.RuneCountInString(texts[0]) <= shortest
	if why == otherCause || short && (why != tooMuch || purpose == model.Query) {
		return nil, err
	}
	if short || why != tooMuch {
		if _, away := e.request(ctx, e.query, []string{"word"}); away != nil {
			return nil, err
		}
		again := *at // the server works; do not repeat the long pauses
		again.Attempts = min(at.Attempts, 2)
		at = &again
	}
	if short {
		return make([][]float32, 1), nil
	}
	if len(texts) == 1 {
		n := utf8.RuneCountInString(texts[0]) / 2
		if why == late {
			n = shortest
		}
		return e.batch(ctx, at, purpose, []string{cutText(texts[0], n)})
	}
	size := (len(texts) + 1) / 2
	if why == late {
		size = 1
	}
	var out [][]float32
	for part := range slices.Chunk(texts, size) {
		vectors, err := e.batch(ctx, at, purpose, part)
		if err != nil {
			return nil, err
		}
		out = append(out, vectors...)
	}
	return out, nil
}

// request embeds one batch. It repeats the request while the server is busy.
func (e *Embedder) request(ctx context.Context, at *endpoint, texts []string) ([][]float32, error) {
	asked := map[string]any{"model": e.o.Model, "input": texts, "encoding_format": "float"}
	return call(ctx, at, asked, func(data []byte) ([][]float32, error) { return e.decode(data, len(texts)) })
}

// errBase64 means that a vector is not a list of numbers.
var errBase64 = errors.New("sends vectors as base64 text; set encoding_format to float")

// numbers is a vector in the form in which servers send it.
type numbers []component

func (v *numbers) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return errBase64
	}
	return json.Unmarshal(text, (*[]component)(v))
}

// component is a number of a vector. A C++ server writes NaN as null, which package json would read as 0.
type component float64

func (c *component) UnmarshalJSON(text []byte) error {
	x, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return fmt.Errorf("a vector holds %.40s, which is not a finite number", text)
	}
	*c = component(x)
	return nil
}

// decode parses the answer to a request for n texts, and returns their vectors. Every error names the server.
func (e *Embedder) decode(data []byte, n int) ([][]float32, error) {
	var answer struct {
		Data []struct {
			Index     *int    `json:"index"`
			Embedding numbers `json:"embedding"`
		} `json:"data"`
	}
	switch err := json.Unmarshal(data, &answer); {
	case errors.Is(err, errBase64):
		return nil, e.at.fault("%w", err)
	case err != nil:
		return nil, e.at.notJSON("embeddings", data, err)
	}
	if len(answer.Data) != n {
		return nil, e.at.fault("gave %d vectors for %d texts%s", len(answer.Data), n, e.at.errorMessage(data))
	}
	vectors, given := make([][]float32, n), make([]bool, n)
	for i, d := range answer.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n || given[at] {
			return nil, e.at.fault("numbered its vectors wrongly: %d of %d", at, n)
		}
		if len(d.Embedding) == 0 {
			return nil, e.at.fault("gave a vector without numbers for text %d: does it serve a model of embeddings?", at)
		}
		if want := e.o.Dims; want != 0 && len(d.Embedding) != want {
			return nil, e.at.fault("gave a vector of %d dimensions, not %d: is it another model, or embedder.dims wrong?",
				len(d.Embedding), e.o.Dims)
		}
		v, err := e.unit(d.Embedding, at)
		if err != nil {
			return nil, err
		}
		vectors[at], given[at] = v, true
	}
	return vectors, nil
}

// unit returns v at unit length, or nil when all numbers are zero. Models that add word vectors give zeros for unknown
// words. at is the number of the text, for the error.
func (e *Embedder) unit(v []component, at int) ([]float32, error) {
	var square float64
	for _, x := range v {
		square += float64(x * x)
	}
	if square == 0 {
		return nil, nil
	}
	if math.IsInf(square, 0) {
		return nil, e.at.fault("gave a vector for text %d that has no direction (length %v)", at, math.Sqrt(square))
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) / math.Sqrt(square))
	}
	return out, nil
}
