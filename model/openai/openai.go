// Package openai embeds texts and asks language models by any server that speaks
// OpenAI's /v1/embeddings and /v1/chat/completions: Ollama, llama.cpp, TEI, vLLM
// and others. Its main types are [Embedder] and [Chat].
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

// ErrUnavailable says that the server did not give vectors: it cannot be
// reached, refused, or answered nonsense. The message names the server and what
// to do.
var ErrUnavailable = errors.New("embedding server")

// ErrConfig says that the options are wrong.
var ErrConfig = errors.New("invalid embedder")

// Options describe the server.
type Options struct {
	// URL is the address of the API, such as http://localhost:11434/v1;
	// "/embeddings" is added when it does not end so.
	URL string
	// Model is the name that the server knows the model by.
	Model string
	// Dims is the number of dimensions; 0 asks the server once.
	Dims int
	// Key is sent as a bearer token when it is not empty. It appears in no
	// error.
	Key string
	// QueryPrefix and PassagePrefix are put before texts, as some models
	// want.
	QueryPrefix, PassagePrefix string
	// Batch is the most texts of one request, 0 is DefaultBatch; a server that
	// takes fewer is asked by halves.
	Batch int
	// Timeout bounds one request, 0 is DefaultTimeout. Attempts is how often
	// one is tried when the server is busy, 0 is DefaultAttempts.
	Timeout  time.Duration
	Attempts int
	// QueryTimeout, when it is above 0, bounds the request for a query, which
	// is then tried once: a person waits for it, who has words without it.
	QueryTimeout time.Duration
	// Rest is for how long queries fail at once with the same error, after the server could not be
	// reached or did not answer a query in time; 0 asks again every time. Passages are always
	// tried, and one that the server fails on makes no query wait.
	Rest time.Duration
	// ConnectTimeout bounds how long the client takes to connect, 0 is as long
	// as a request.
	ConnectTimeout time.Duration
	// Client makes the requests, following no redirect; nil is a client of its
	// own.
	Client *http.Client
	// sleep waits between attempts; tests replace it.
	sleep func(context.Context, time.Duration) error
}

// Defaults of Options.
const (
	DefaultBatch    = 64
	DefaultTimeout  = 60 * time.Second
	DefaultAttempts = 4
	// maxAnswer bounds the answer to one request.
	maxAnswer = 256 << 20
	// maxWait bounds how long a server may ask to wait.
	maxWait = 30 * time.Second
)

// Embedder is a server with a model. It implements model.Embedder.
type Embedder struct {
	o         Options
	at, query *endpoint // for passages, and for queries
}

var _ model.Embedder = (*Embedder)(nil)

// New returns an embedder, and asks the server for the number of dimensions when
// the options leave it open. Errors wrap ErrConfig or ErrUnavailable.
func New(ctx context.Context, o Options) (*Embedder, error) {
	at, err := endpoint{kind: ErrUnavailable, url: o.URL, model: o.Model, key: o.Key, timeout: o.Timeout,
		attempts: o.Attempts, most: maxAnswer,
		connect: o.ConnectTimeout, client: o.Client, sleep: o.sleep, rest: &rest{length: o.Rest, now: time.Now}}.open("",
		"/embeddings")
	switch {
	case err != nil:
		return nil, err
	case o.Model == "":
		return nil, fmt.Errorf("%w: no model named for %s", ErrConfig, o.URL)
	case o.Dims < 0 || o.Dims > 1<<16:
		return nil, fmt.Errorf("%w: %d dimensions: must be within 1..65536", ErrConfig, o.Dims)
	}
	if o.Batch <= 0 {
		o.Batch = DefaultBatch
	}
	query := *at
	if o.QueryTimeout > 0 {
		query.timeout, query.attempts, query.resting = o.QueryTimeout, 1, true
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

// Model implements model.Embedder. The name holds the prefixes, since they
// change the vectors.
func (e *Embedder) Model() string {
	name := e.o.Model
	if e.o.PassagePrefix != "" || e.o.QueryPrefix != "" {
		name += fmt.Sprintf(" passage=%q query=%q", e.o.PassagePrefix, e.o.QueryPrefix)
	}
	return name
}

// Dims implements model.Embedder.
func (e *Embedder) Dims() int { return e.o.Dims }

// Embed implements model.Embedder. A text that the server refuses or fails on, as on one that is
// too long, gets the vector of its beginning. Errors wrap ErrUnavailable.
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
		vectors, err := e.batch(ctx, at, batch)
		if err != nil {
			return nil, err
		}
		out = append(out, vectors...)
		texts = texts[n:]
	}
	return out, nil
}

// shortest is the number of characters from which a text is short enough for any
// model: a server that refuses it has another reason.
const shortest = 200

// batch embeds texts. When the server refuses them together, or fails on them though it embeds a
// plain word, batch asks for halves, and for the beginning of a single text. One text thus keeps
// no others from their vectors. When they take too long, batch asks for each alone at once, since
// every further try takes that long.
func (e *Embedder) batch(ctx context.Context, at *endpoint, texts []string) ([][]float32, error) {
	vectors, err := e.request(ctx, at, texts)
	if err == nil || ctx.Err() != nil || len(texts) == 1 && utf8.RuneCountInString(texts[0]) <= shortest {
		return vectors, err
	}
	_, late := errors.AsType[*lateError](err)
	if _, failed := errors.AsType[*failedError](err); late || failed {
		if _, away := e.request(ctx, e.query, []string{"word"}); away != nil {
			return nil, err
		}
		again := *at // the server is well: the first pauses were long enough
		again.attempts = min(at.attempts, 2)
		at = &again
	} else if _, ok := errors.AsType[*tooMuchError](err); !ok {
		return nil, err
	}
	if len(texts) == 1 {
		n := utf8.RuneCountInString(texts[0]) / 2
		if late {
			n = shortest
		}
		return e.batch(ctx, at, []string{cutText(texts[0], n)})
	}
	size := (len(texts) + 1) / 2
	if late {
		size = 1
	}
	var out [][]float32
	for part := range slices.Chunk(texts, size) {
		vectors, err := e.batch(ctx, at, part)
		if err != nil {
			return nil, err
		}
		out = append(out, vectors...)
	}
	return out, nil
}

// request embeds one batch, again when the server is busy.
func (e *Embedder) request(ctx context.Context, at *endpoint, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"model": e.o.Model, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, err
	}
	var vectors [][]float32
	err = at.post(ctx, body, func(data []byte) error {
		var err error
		vectors, err = e.decode(data, len(texts))
		return err
	})
	if err != nil {
		return nil, err
	}
	return vectors, nil
}

// errBase64 means that a vector is no list of numbers.
var errBase64 = errors.New("sends vectors as base64 text; set encoding_format to float")

// numbers is a vector as servers send it.
type numbers []component

// UnmarshalJSON implements json.Unmarshaler.
func (v *numbers) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return errBase64
	}
	return json.Unmarshal(text, (*[]component)(v))
}

// component is a number of a vector. Package json reads null as 0, and null is how
// servers in C++ write NaN.
type component float64

// UnmarshalJSON implements json.Unmarshaler.
func (c *component) UnmarshalJSON(text []byte) error {
	x, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return fmt.Errorf("a vector holds %.40s, which is no finite number", text)
	}
	*c = component(x)
	return nil
}

// decode reads the answer to a request of n texts. Every fault names the server.
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
		return nil, e.at.fault("answered no JSON of embeddings: %v", err)
	}
	if len(answer.Data) != n {
		return nil, e.at.fault("gave %d vectors for %d texts%s", len(answer.Data), n, e.at.says(data))
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
			return nil, e.at.fault("gave a vector of %d dimensions, not %d: does it serve another model by now?",
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

// unit is v at unit length; nil when it is zeros, as models that add up vectors of words
// give for words that they do not know.
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
