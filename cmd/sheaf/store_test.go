package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"sheaf"
	"sheaf/cmd/sheaf/internal/config"
	"sheaf/collection"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/store/memory"
	"sheaf/store/storetest"
)

// streaming is a store that returns its chunks one at a time.
type streaming struct {
	store.Backend
	chunks []store.Chunk
}

func (s streaming) Stream(_ context.Context, cursor string, yield func([]store.Chunk, string) error) error {
	for i := range s.chunks {
		at := strconv.Itoa(i)
		if at <= cursor {
			continue
		}
		if err := yield(s.chunks[i:i+1], at); err != nil {
			return err
		}
	}
	return nil
}

// refusing is a store with a chunk that it cannot return unchanged.
type refusing struct{ streaming }

func (refusing) Stream(context.Context, string, func([]store.Chunk, string) error) error {
	return fmt.Errorf("%w: a value is not kept as a whole", sheaf.ErrUnsupported)
}

// silent is a store whose server does not report its content.
type silent struct{ store.Backend }

func (silent) Stats(context.Context) (store.Stats, error) {
	return store.Stats{}, fmt.Errorf("%w: too busy", sheaf.ErrUnavailable)
}

// knowingNothing returns a session of a store with an empty catalog.
func knowingNothing(t *testing.T, st store.Backend) *session {
	t.Helper()
	known := must.Get(catalog.Open(vfs.Disk{}, t.TempDir(), catalog.Options{}))
	t.Cleanup(func() { _ = known.Close() })
	view := known.View()
	t.Cleanup(view.Close)
	s := quietSession(location.Location{})
	s.View, s.Backend = view, st
	return s
}

// TestSilentServerIsNotDamage checks that a server that does not answer a check is not reported as damage.
// Damage would cause a complete rewrite.
func TestSilentServerIsNotDamage(t *testing.T) {
	s := knowingNothing(t, silent{})
	faults, err := s.Faults(t.Context())
	check.That(t, len(faults) == 0 && errors.Is(err, sheaf.ErrUnavailable), "%v, %v", faults, err)
}

// TestCopyRestartsAfterDeletion checks that a copy whose earlier part was deleted starts again instead of
// continuing forever.
func TestCopyRestartsAfterDeletion(t *testing.T) {
	from := streaming{chunks: slices.Concat(storetest.One("t:a", "stone").Chunks, storetest.One("t:b", "moss").Chunks)}
	source := knowingNothing(t, from)
	a := source.app
	to := memory.New(storetest.Analyzer(t, "en"))
	defer to.Close()
	file := filepath.Join(t.TempDir(), copyStateName)
	err := a.transfer(t.Context(), source, from, to, file,
		copyState{From: "x", Cursor: "1", Chunks: 2})
	must.That(t, errors.Is(err, sheaf.ErrCorrupt), "a copy of which nothing is there: %v", err)
	var state copyState
	if data, err := os.ReadFile(file); err != nil || json.Unmarshal(data, &state) != nil {
		t.Fatal(err)
	}
	err = a.transfer(t.Context(), source, from, to, file, state)
	check.That(t, err == nil && state.From == "x", "again: %v, from %q", err, state.From)
	var advised *collection.HintError
	err = a.transfer(t.Context(), source, refusing{from}, to, file, state)
	check.That(t, errors.Is(err, sheaf.ErrUnsupported) && errors.As(err, &advised) &&
		strings.HasPrefix(advised.Hint, "leave --from out"), "what cannot be given back: %v, %+v", err, advised)
}

// embedder runs "embedder NAME": it starts a server with OpenAI's /v1/embeddings, and stores its address in NAME. The
// server ends with the script. A vector counts words by hash. "automobile" counts as "car", so a test can distinguish
// meaning from words. A request for the model "broken" fails. The server refuses requests below NAME/busy as busy,
// with the number of refusals.
func embedder(ts *testscript.TestScript, args []string) {
	var refused atomic.Int64
	routes := http.NewServeMux()
	routes.HandleFunc("/", embeddings)
	routes.HandleFunc("/v1/busy/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, fmt.Sprintf("refused %d times", refused.Add(1)), http.StatusServiceUnavailable)
	})
	server := httptest.NewServer(routes)
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL+"/v1")
}

func embeddings(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil || request.Model == "broken" ||
		r.URL.Path != "/v1/embeddings" {
		http.Error(w, `{"error":{"message":"no such model"}}`, http.StatusNotFound)
		return
	}
	type entry struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var response struct {
		Data []entry `json:"data"`
	}
	for i, text := range request.Input {
		vector := make([]float32, 64)
		for word := range strings.FieldsSeq(strings.ToLower(text)) {
			word = strings.Trim(word, ".,:;!?")
			if word == "automobile" {
				word = "car"
			}
			h := fnv.New32a()
			_, _ = h.Write([]byte(word))
			vector[h.Sum32()%64]++
		}
		vector[0] += 0.01
		response.Data = append(response.Data, entry{i, vector})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(response)
}

// TestMergeRate checks that the engine gets the setting, and that 0 pauses merges.
func TestMergeRate(t *testing.T) {
	for set, want := range map[int64]int64{0: embedded.NoMerges, 64 << 20: 64 << 20} {
		c := &config.Config{Values: config.Values{Engine: config.Engine{MergeRate: set}}}
		check.Equal(t, engineOptions(c).MergeRate, want, "merge rate of the engine for the setting %d", set)
	}
}
