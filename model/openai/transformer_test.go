package openai

import (
	"context"
	"math"
	"os"
	"strings"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model"
)

// transformer returns the address of the model that scripts/servers/transformer.sh starts.
func transformer(t *testing.T) string {
	t.Helper()
	address := os.Getenv("SHEAF_TEST_TRANSFORMER")
	if address == "" {
		t.Skip("no transformer: SHEAF_TEST_TRANSFORMER is not set; see scripts/servers/transformer.sh")
	}
	return address
}

// TestTransformerEmbeds checks vectors against the cosines of the ONNX model under onnxruntime.
func TestTransformerEmbeds(t *testing.T) {
	e := must.Get(New(t.Context(), Options{Server: Server{URL: transformer(t), Model: "all-MiniLM-L6-v2"}, Batch: 2}))
	must.Equal(t, e.Dims(), 384, "dimensions")
	v := must.Get(e.Embed(t.Context(), model.Passage,
		[]string{"a cat sits on the mat", "", "a kitten rests on the rug", "stock prices fell",
			strings.Repeat("very long ", 5000)}))
	must.Equal(t, len(v), 5, "vectors")
	for i, want := range map[int]float64{0: 1, 2: 0.6596577, 3: 0.0713822} {
		dot := 0.0
		for j := range v[0] {
			dot += float64(v[0][j]) * float64(v[i][j])
		}
		check.That(t, math.Abs(dot-want) <= 1e-5, "the cosine with text %d is %v, want %v", i, dot, want)
	}
}

func TestTransformerReranks(t *testing.T) {
	address := transformer(t)
	texts := []string{"Stock prices fell on Monday.", "A kitten is a young cat.", "", "Dogs bark."}
	for shape, server := range map[Shape]Server{
		ShapeCohere: {URL: address, Model: "all-MiniLM-L6-v2"}, ShapeTEI: {URL: strings.TrimSuffix(address, "/v1")},
	} {
		r := must.Get(NewReranker(server, shape))
		scores := must.Get(r.Rerank(context.Background(), "what is a small cat called", texts))
		must.Equal(t, len(scores), len(texts), "%s", shape)
		for i, s := range scores {
			check.That(t, i == 1 || s < scores[1], "%s: %q has %v, the kitten %v", shape, texts[i], s, scores[1])
		}
	}
}
