// Package openai embeds texts and asks language models by any server that speaks
// OpenAI's /v1/embeddings and /v1/chat/completions: Ollama, llama.cpp, TEI, vLLM
// and others. Its main types are [Embedder] and [Chat].
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sheaf/inference"
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
	// Batch is the most texts of one request, 0 is DefaultBatch.
	Batch int
	// Timeout bounds one request, 0 is DefaultTimeout. Attempts is how often
	// one is tried when the server is busy, 0 is DefaultAttempts.
	Timeout  time.Duration
	Attempts int
	// Client makes the requests; nil is a client of its own.
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

// Embedder is a server with a model. It implements inference.Embedder.
type Embedder struct{ o Options }

var _ inference.Embedder = (*Embedder)(nil)

// New returns an embedder, and asks the server for the number of dimensions when
// the options leave it open. Errors wrap ErrConfig or ErrUnavailable.
func New(ctx context.Context, o Options) (*Embedder, error) {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%w: url %q: must be an address such as http://localhost:11434/v1", ErrConfig, redact(o.URL))
	case u.User != nil:
		return nil, fmt.Errorf("%w: url %q: must not hold a password; give a key instead", ErrConfig, redact(o.URL))
	case o.Model == "":
		return nil, fmt.Errorf("%w: no model named for %s", ErrConfig, o.URL)
	case o.Dims < 0 || o.Dims > 1<<16:
		return nil, fmt.Errorf("%w: %d dimensions: must be within 1..65536", ErrConfig, o.Dims)
	}
	if !strings.HasSuffix(u.Path, "/embeddings") {
		u.Path = strings.TrimSuffix(u.Path, "/") + "/embeddings"
	}
	o.URL = u.String()
	if o.Batch <= 0 {
		o.Batch = DefaultBatch
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Attempts <= 0 {
		o.Attempts = DefaultAttempts
	}
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	if o.sleep == nil {
		o.sleep = sleep
	}
	e := &Embedder{o}
	if o.Dims == 0 {
		vectors, err := e.request(ctx, []string{"dimensions"})
		if err != nil {
			return nil, err
		}
		e.o.Dims = len(vectors[0])
	}
	return e, nil
}

// redact hides what stands before an @ in an address.
func redact(address string) string {
	if at := strings.LastIndexByte(address, '@'); at >= 0 {
		return "…" + address[at:]
	}
	return address
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

// Model implements inference.Embedder. The name holds the prefixes, since they
// change the vectors.
func (e *Embedder) Model() string {
	name := e.o.Model
	if e.o.PassagePrefix != "" || e.o.QueryPrefix != "" {
		name += fmt.Sprintf(" passage=%q query=%q", e.o.PassagePrefix, e.o.QueryPrefix)
	}
	return name
}

// Dims implements inference.Embedder.
func (e *Embedder) Dims() int { return e.o.Dims }

// Embed implements inference.Embedder.
func (e *Embedder) Embed(ctx context.Context, purpose inference.Purpose, texts []string) ([][]float32, error) {
	prefix := e.o.PassagePrefix
	if purpose == inference.Query {
		prefix = e.o.QueryPrefix
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
		vectors, err := e.request(ctx, batch)
		if err != nil {
			return nil, err
		}
		out = append(out, vectors...)
		texts = texts[n:]
	}
	return out, nil
}

// request embeds one batch, again when the server is busy.
func (e *Embedder) request(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"model": e.o.Model, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, err
	}
	wait := 500 * time.Millisecond
	for attempt := 1; ; attempt++ {
		vectors, retry, err := e.try(ctx, body, len(texts))
		if err == nil || retry < 0 || attempt == e.o.Attempts {
			return vectors, err
		}
		pause := wait + rand.N(wait)
		if retry > 0 {
			pause = retry
		}
		if pause > maxWait {
			return nil, fmt.Errorf("%w; it asks to wait %v", err, pause)
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < pause {
			return nil, err
		}
		if sleepErr := e.o.sleep(ctx, pause); sleepErr != nil {
			return nil, errors.Join(err, sleepErr)
		}
		wait *= 2
	}
}

// try makes one request. retry is below 0 when another attempt cannot help, the
// time to wait when the server names one, and 0 otherwise.
func (e *Embedder) try(ctx context.Context, body []byte, n int) (vectors [][]float32, retry time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, e.o.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.o.URL, bytes.NewReader(body))
	if err != nil {
		return nil, -1, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	req.Header.Set("Content-Type", "application/json")
	if e.o.Key != "" {
		req.Header.Set("Authorization", "Bearer "+e.o.Key)
	}
	resp, err := e.o.Client.Do(req)
	if err != nil {
		return nil, 0, e.fault("cannot be reached: %v: is it running, and is the address right?", errors.Unwrap(err))
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, 0, e.fault("broke off its answer: %v", err)
	case len(data) > maxAnswer:
		return nil, -1, e.fault("answered more than %d bytes", maxAnswer)
	case resp.StatusCode != http.StatusOK:
		return nil, retryAfter(resp), e.refused(resp, data)
	}
	if vectors, err = e.decode(data, n); err != nil {
		return nil, -1, err
	}
	return vectors, 0, nil
}

func (e *Embedder) fault(format string, args ...any) error {
	return fmt.Errorf("%w %s %s", ErrUnavailable, e.o.URL, fmt.Sprintf(format, args...))
}

// refused is the error of an answer other than 200.
func (e *Embedder) refused(resp *http.Response, data []byte) error {
	return e.fault("%s", refusal(resp, data, e.o.Key, e.o.Model))
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

// decode reads the answer to a request of n texts. Every fault names the server.
func (e *Embedder) decode(data []byte, n int) ([][]float32, error) {
	var answer struct {
		Data []struct {
			Index     *int      `json:"index"`
			Embedding []float64 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, e.fault("answered no JSON of embeddings: %v", err)
	}
	if len(answer.Data) != n {
		return nil, e.fault("gave %d vectors for %d texts", len(answer.Data), n)
	}
	vectors := make([][]float32, n)
	for i, d := range answer.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n || vectors[at] != nil {
			return nil, e.fault("numbered its vectors wrongly: %d of %d", at, n)
		}
		if want := e.o.Dims; want != 0 && len(d.Embedding) != want || len(d.Embedding) == 0 {
			return nil, e.fault("gave a vector of %d dimensions, not %d: does it serve another model by now?", len(d.Embedding), e.o.Dims)
		}
		v, err := e.unit(d.Embedding, at)
		if err != nil {
			return nil, err
		}
		vectors[at] = v
	}
	return vectors, nil
}

// unit is v at unit length.
func (e *Embedder) unit(v []float64, at int) ([]float32, error) {
	var square float64
	for _, x := range v {
		square += x * x
	}
	if !(square > 0) || math.IsInf(square, 0) {
		return nil, e.fault("gave a vector for text %d that has no direction (length %v)", at, math.Sqrt(square))
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x / math.Sqrt(square))
	}
	return out, nil
}
