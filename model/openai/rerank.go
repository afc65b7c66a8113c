package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"sheaf/model"
)

// Shape is the form of the requests and answers of a reranking server.
type Shape string

// These are the shapes of requests and answers.
const (
	// ShapeCohere sends {"model", "query", "documents"} and receives {"results": [{"index", "relevance_score"}]}:
	// Cohere, Jina, vLLM, llama.cpp, Infinity. The address ends in /rerank.
	ShapeCohere Shape = "cohere"
	// ShapeTEI sends {"query", "texts"} and receives [{"index", "score"}]: Hugging Face's Text Embeddings Inference.
	// The address ends in /rerank.
	ShapeTEI Shape = "tei"
)

const (
	// rerankChars limits the characters of a text in a request. If a server refuses a text, the client shortens it.
	rerankChars     = 8000
	maxRerankAnswer = 16 << 20
)

// Reranker is a reranking server. It implements model.Reranker.
type Reranker struct {
	endpoint *endpoint
	shape    Shape
	// batch is the largest number of texts in one request. If a server accepts fewer, the client halves the request.
	// That is safe, because scores of one model are comparable across requests.
	batch int
}

var _ model.Reranker = (*Reranker)(nil)

// NewReranker returns a client without calling the server. Servers of ShapeTEI have one model and need no name. shape
// is ShapeCohere when it is "". Errors wrap ErrConfig.
func NewReranker(s Server, shape Shape) (*Reranker, error) {
	if shape == "" {
		shape = ShapeCohere
	}
	at, err := endpoint{Server: s, kind: errRerank, most: maxRerankAnswer}.open("rerank ", "/rerank")
	switch {
	case err != nil:
		return nil, err
	case shape != ShapeCohere && shape != ShapeTEI:
		return nil, fmt.Errorf("%w: shape %q: must be %s or %s", ErrConfig, shape, ShapeCohere, ShapeTEI)
	case shape == ShapeCohere && s.Model == "":
		return nil, fmt.Errorf("%w: no reranking model named for %s", ErrConfig, s.URL)
	}
	return &Reranker{at, shape, defaultBatch}, nil
}

// Model implements model.Reranker.
func (r *Reranker) Model() string { return r.endpoint.Model }

// Rerank implements model.Reranker. An error names the server.
func (r *Reranker) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	scores := make([]float64, 0, len(texts))
	chars := rerankChars
	for len(texts) > 0 {
		n := min(len(texts), r.batch)
		part, err := r.scores(ctx, query, texts[:n], &chars)
		if err != nil {
			return nil, err
		}
		scores, texts = append(scores, part...), texts[n:]
	}
	return scores, nil
}

// scores returns the scores of texts, each cut to *chars characters. If the server refuses the request as too large,
// scores sends each half of the texts. If the server refuses a single text, scores halves *chars, also for all later
// calls. For a text of at most shortest characters, it returns the error.
func (r *Reranker) scores(ctx context.Context, query string, texts []string, chars *int) ([]float64, error) {
	batch := make([]string, len(texts))
	for i, text := range texts {
		batch[i] = cutText(text, *chars)
	}
	scores, err := r.request(ctx, query, batch)
	if causeOf(err) != tooMuch {
		return scores, err
	}
	if n := len(texts) / 2; n > 0 {
		first, err := r.scores(ctx, query, texts[:n], chars)
		if err != nil {
			return nil, err
		}
		rest, err := r.scores(ctx, query, texts[n:], chars)
		return append(first, rest...), err
	}
	if n := utf8.RuneCountInString(batch[0]); n > shortest {
		*chars = n / 2
		return r.scores(ctx, query, texts, chars)
	}
	return nil, err
}

// cutText returns at most chars characters of text as valid UTF-8, but at least one: servers refuse empty texts.
func cutText(text string, chars int) string {
	text = strings.ToValidUTF8(text, "?")
	n := 0
	for i := range text {
		if n == chars {
			return text[:i]
		}
		n++
	}
	if strings.TrimSpace(text) == "" {
		return "-"
	}
	return text
}

func (r *Reranker) request(ctx context.Context, query string, texts []string) ([]float64, error) {
	asked := map[string]any{"query": query, "texts": texts, "truncate": true}
	if r.shape == ShapeCohere {
		asked = map[string]any{"model": r.endpoint.Model, "query": query, "documents": texts, "top_n": len(texts),
			"return_documents": false}
	}
	return call(ctx, r.endpoint, asked, func(data []byte) ([]float64, error) { return r.decode(data, len(texts)) })
}

// scoredText is a server's score for the text number Index. ShapeTEI sets Score, and ShapeCohere sets Relevance.
type scoredText struct {
	Index     *int     `json:"index"`
	Score     *float64 `json:"score"`
	Relevance *float64 `json:"relevance_score"`
}

// decode parses the answer to a request for n texts, and returns their scores. Every error names the server.
func (r *Reranker) decode(data []byte, n int) ([]float64, error) {
	var list []scoredText
	if r.shape == ShapeTEI {
		if err := json.Unmarshal(data, &list); err != nil {
			return nil, r.endpoint.notJSON("scores", data, err)
		}
	} else {
		var answer struct {
			Results []scoredText `json:"results"`
		}
		if err := json.Unmarshal(data, &answer); err != nil {
			return nil, r.endpoint.notJSON("results", data, err)
		}
		list = answer.Results
	}
	if len(list) != n {
		return nil, r.endpoint.fault("scored %d of %d texts%s", len(list), n, r.endpoint.errorMessage(data))
	}
	scores, seen := make([]float64, n), make([]bool, n)
	for _, s := range list {
		value := s.Relevance
		if value == nil {
			value = s.Score
		}
		switch {
		case s.Index == nil || *s.Index < 0 || *s.Index >= n || seen[*s.Index]:
			return nil, r.endpoint.fault("numbered its scores wrongly")
		case value == nil || math.IsNaN(*value) || math.IsInf(*value, 0):
			return nil, r.endpoint.fault("gave no score for text %d", *s.Index)
		}
		scores[*s.Index], seen[*s.Index] = *value, true
	}
	return scores, nil
}
