package static

import (
	"context"
	"runtime"
	"slices"

	"sheaf/model"
)

// Embedder is a model for other packages. It is safe for concurrent use.
type Embedder struct {
	name   string
	model  *Model
	others *Unigram // may be nil
	// free has encoders for the next texts. Used encoders remember words, so they are faster than new ones, as
	// builtin.BenchmarkEmbed shows.
	free chan *encoder
}

var (
	_ model.WindowEmbedder = (*Embedder)(nil)
	_ model.WeightEmbedder = (*Embedder)(nil)
	_ model.Tokenizer      = (*Embedder)(nil)
	_ model.LanguageReader = (*Embedder)(nil)
)

// NewEmbedder returns an embedder of this name. It reads English with m and other languages with the model others,
// which may be nil: see [newEncoder].
func NewEmbedder(name string, m *Model, others *Unigram) (*Embedder, error) {
	e := &Embedder{name: name, model: m, others: others, free: make(chan *encoder, runtime.GOMAXPROCS(0))}
	first, err := newEncoder(m, others)
	if err != nil {
		return nil, err
	}
	e.release(first)
	return e, nil
}

// encoder returns a free encoder. If none is free, it returns a new one.
func (e *Embedder) encoder() *encoder {
	select {
	case encoder := <-e.free:
		return encoder
	default:
		encoder, _ := newEncoder(e.model, e.others) // NewEmbedder succeeded, so this call succeeds, too
		return encoder
	}
}

// release keeps an encoder for the next text, unless enough are free.
func (e *Embedder) release(used *encoder) {
	select {
	case e.free <- used:
	default:
	}
}

// Verify reads both tables and returns an error when one is damaged.
func (e *Embedder) Verify() error {
	if err := e.model.Verify(); err != nil || e.others == nil {
		return err
	}
	return e.others.Verify()
}

// Model implements model.Embedder.
func (e *Embedder) Model() string { return e.name }

// Dims implements model.Embedder.
func (e *Embedder) Dims() int { return e.model.Dims() }

// Embed implements model.Embedder. It embeds queries and passages the same way. A text without a known piece gets a
// nil vector, and so does an unknown query: see [encoder.Knows].
func (e *Embedder) Embed(ctx context.Context, purpose model.Purpose, texts []string) ([][]float32, error) {
	encoder := e.encoder()
	defer e.release(encoder)
	out := make([][]float32, len(texts))
	dims := e.model.Dims()
	all := make([]float32, len(texts)*dims)
	for i, text := range texts {
		if i%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if purpose == model.Query && !encoder.Knows(text) {
			continue
		}
		if v := all[i*dims : (i+1)*dims : (i+1)*dims]; encoder.Embed(v, text) {
			out[i] = v
		}
	}
	return out, nil
}

// AppendWindows implements model.WindowEmbedder. It adds up blocks of words. A block has as many words as the greatest
// common divisor of size and stride. AppendWindows reads each block once for all windows that have it.
func (e *Embedder) AppendWindows(
	ctx context.Context, dst []float32, heading, body string, starts []int, size, stride int,
) ([]float32, error) {
	if ctx.Err() != nil {
		return dst, ctx.Err()
	}
	encoder := e.encoder()
	defer e.release(encoder)
	block := size // the largest number that divides both
	for rest := stride; rest > 0; {
		block, rest = rest, block%rest
	}
	dims := e.model.Dims()
	encoder.begin(heading)
	for first, next := 0, 0; ; first += stride {
		for ; next < min(first+size, len(starts)); next += block {
			end := len(body)
			if next+block < len(starts) {
				end = starts[next+block]
			}
			encoder.grow(body[starts[next]:end])
		}
		end := len(dst)
		if dst = slices.Grow(dst, dims)[:end+dims]; !encoder.vector(dst[end:]) {
			dst = dst[:end]
		}
		if first+size >= len(starts) {
			return dst, nil
		}
		for range stride / block {
			encoder.drop()
		}
	}
}

// EmbedWeighted implements model.WeightEmbedder. It returns nil for an unknown query, and when no word has weight.
func (e *Embedder) EmbedWeighted(text string, weight func(word string) float64) []float32 {
	encoder := e.encoder()
	defer e.release(encoder)
	if v := make([]float32, e.model.Dims()); encoder.Knows(text) && encoder.EmbedWeighted(v, text, weight) {
		return v
	}
	return nil
}

// IsEnglish implements model.LanguageReader.
func (e *Embedder) IsEnglish(text string) (english, known bool) {
	if e.others == nil {
		return false, false
	}
	encoder := e.encoder()
	defer e.release(encoder)
	encoder.begin(text)
	return encoder.language()
}

// Pieces implements model.Tokenizer. It uses the pieces of the English table for texts in any language.
func (e *Embedder) Pieces(text string, yield func(start, end int) bool) {
	encoder := e.encoder()
	defer e.release(encoder)
	encoder.tokenizer.Pieces(text, yield)
}

// Tokens returns the name of the English table. It names the tokens that Pieces yields, which are pieces of this table.
func (e *Embedder) Tokens() string { return e.model.Name() }
