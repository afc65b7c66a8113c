package mcp

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store/storetest"
)

// wire is a connection of a test: Read returns the messages of in, and Write sends to out.
type wire struct {
	sdk.Connection
	in  chan jsonrpc.Message
	out chan *jsonrpc.Response
}

func (w *wire) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-w.in:
		if !ok {
			return nil, io.EOF
		}
		return m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (w *wire) Write(_ context.Context, m jsonrpc.Message) error {
	w.out <- m.(*jsonrpc.Response)
	return nil
}

// TestSessionEnds checks that a session ends when all calls are answered or their time is over. A late
// call gets an error, and its later answer is dropped.
func TestSessionEnds(t *testing.T) {
	for name, c := range map[string]struct {
		answer time.Duration // after the end; 0 is never
		stop   bool          // the server is stopped, the input goes on
		late   bool          // and stopped after the input ended
		ends   time.Duration
		fails  bool
	}{
		"answered":             {answer: time.Second, ends: time.Second},
		"never":                {ends: lastAnswers, fails: true},
		"stopped, answered":    {answer: time.Second, stop: true, ends: time.Second},
		"stopped, never":       {stop: true, ends: stopGrace, fails: true},
		"ended, then stopped":  {late: true, ends: time.Second + stopGrace, fails: true},
		"ended, stopped, done": {late: true, answer: 2 * time.Second, ends: 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stop, cancel := context.WithCancel(context.Background())
				defer cancel()
				w := &wire{in: make(chan jsonrpc.Message, 3), out: make(chan *jsonrpc.Response, 3)}
				s := newSession(w, stop)
				var ids []jsonrpc.ID
				for _, text := range []string{"a", "b"} {
					id := must.Get(jsonrpc.MakeID(text))
					ids = append(ids, id)
					w.in <- &jsonrpc.Request{ID: id, Method: "tools/call"}
				}
				w.in <- &jsonrpc.Request{Method: "notifications/initialized"} // a notification, which has no answer
				for range 3 {
					must.Get(s.Read(t.Context()))
				}
				must.Do(t, s.Write(t.Context(), &jsonrpc.Response{ID: ids[0]}))
				<-w.out
				began := time.Now()
				switch {
				case c.stop:
					cancel()
				default:
					close(w.in)
				}
				if c.late {
					time.AfterFunc(time.Second, cancel)
				}
				if c.answer > 0 {
					time.AfterFunc(c.answer, func() { _ = s.Write(context.Background(), &jsonrpc.Response{ID: ids[1]}) })
				}
				_, err := s.Read(t.Context())
				check.That(t, err == io.EOF, "the end is %v", err)
				check.Equal(t, time.Since(began), c.ends, "time until the end")
				must.That(t, len(w.out) == 1, "%d answers, want 1", len(w.out))
				r := <-w.out
				check.That(t, r.ID == ids[1] && (r.Error != nil) == c.fails, "answered with %+v", r)
				err = s.Write(t.Context(), &jsonrpc.Response{ID: ids[1]})
				check.That(t, err != nil && len(w.out) == 0, "a second answer went out: %v", err)
			})
		})
	}
}

// TestClientThatReadsNothing checks that a client which ended its input and reads nothing does not keep the server
// running.
func TestClientThatReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, ask := io.Pipe()
		_, out := io.Pipe() // without a reader
		ended := make(chan error, 1)
		go func() { ended <- Stdio(t.Context(), sdk.NewServer(&sdk.Implementation{}, nil), in, out) }()
		must.Get(io.WriteString(ask, `{"jsonrpc": "2.0", "id": 1, "method": "ping"}`+"\n"))
		_ = ask.Close()
		select {
		case err := <-ended:
			must.Do(t, err)
		case <-time.After(lastAnswers + 2*stopGrace):
			t.Error("it runs on")
		}
		_ = out.Close() // lets the writer end
	})
}

// TestCancelled checks that a canceled call gets no answer, because its client would not know the
// call. The end does not wait for the call, and its identifier can be reused.
func TestCancelled(t *testing.T) {
	w := &wire{in: make(chan jsonrpc.Message, 4), out: make(chan *jsonrpc.Response, 3)}
	s := newSession(w, context.Background())
	read := func(m *jsonrpc.Request) {
		t.Helper()
		w.in <- m
		must.Get(s.Read(t.Context()))
	}
	answer := func(id jsonrpc.ID, sent int) {
		t.Helper()
		must.Do(t, s.Write(t.Context(), &jsonrpc.Response{ID: id}))
		check.That(t, len(w.out) == sent, "%d answers to %v, want %d", len(w.out), id, sent)
		for range len(w.out) {
			<-w.out
		}
	}
	for _, id := range []any{"a", float64(7)} {
		call := must.Get(jsonrpc.MakeID(id))
		text := must.Get(json.Marshal(map[string]any{"requestId": id, "reason": "enough"}))
		cancelled := &jsonrpc.Request{Method: "notifications/cancelled", Params: text}
		read(&jsonrpc.Request{ID: call, Method: "tools/call"})
		read(cancelled)
		read(&jsonrpc.Request{ID: call, Method: "tools/call"})
		answer(call, 0)
		answer(call, 1)
		read(cancelled) // too late
		read(&jsonrpc.Request{ID: call, Method: "tools/call"})
		read(cancelled)
	}
	for _, text := range []string{"", "[]", `{"requestId": {}}`, `{"requestId": "other"}`} {
		read(&jsonrpc.Request{Method: "notifications/cancelled", Params: json.RawMessage(text)})
	}
	close(w.in)
	_, err := s.Read(t.Context())
	check.That(t, err == io.EOF, "the end is %v", err)
}

// TestQuotingMarksIsLinear checks that quoting a text of marks takes linear time. It measures processor
// time, and one of ten tries must pass, because the machine may be busy.
func TestQuotingMarksIsLinear(t *testing.T) {
	const few, times, tries = 20_000, 16, 10
	took := func(marks int) time.Duration {
		text, least := strings.Repeat("<", marks), time.Duration(math.MaxInt64)
		for range 5 {
			var w textWriter
			began := storetest.CPU()
			w.quote("marks.md", text)
			least = min(least, storetest.CPU()-began)
			got := w.String()
			must.That(t, strings.HasSuffix(got, "\n"+text+"< end of text\n"), "%d marks: %d bytes", marks, len(got))
		}
		return least
	}
	for try := 1; ; try++ {
		small, large := took(few), took(times*few)
		if large <= 6*times*small {
			return
		}
		must.That(t, try != tries, "%d marks take %v, %d times as many %v", few, small, times, large)
	}
}

// TestTokens checks that the estimate is at least 85% of the real tokens for texts unlike prose.
// The real number is the larger count of the tokenizers o200k_base and cl100k_base.
func TestTokens(t *testing.T) {
	for tokens, text := range map[float64]string{
		43: "The first search of a folder makes its index, in your data folder and not among your notes; every later one " +
			"looks for changed files first. What changed is read again, and everything else stays as it is.",
		92: "| sheaf | 40 / 138 | 29 / 131 | 45.5 | 0.348 | 63 | 123 / 404 | 88 / 338 | 42.0 |\n" +
			"| lucene | 107 / 268 | 120 / 867 | 16.7 | 0.246 | 414 | 171 / 477 | 194 / 928 | 22.3 |\n",
		58: "func (o *output) Write(line []byte) (int, error) {\n\to.mu.Lock()\n\tdefer o.mu.Unlock()\n" +
			"\tif len(line) == 0 || o.w == nil {\n\t\treturn 0, io.ErrClosedPipe\n\t}\n\treturn o.w.Write(line)\n}\n",
		63: "branches:\n  - {name: words, retrieve: text, fields: {title: 2, body: 1}, limit: 4x, weight: 1 - meaning}\n" +
			"fuse: {method: rrf, k: 60}\nthen:\n  - per_document: 2\n",
		26: "<div class=\"note\"><a href=\"#top\">Back</a> &amp; <b>forth</b></div>\n",
		46: "東京は日本の首都です。新しい技術の導入により、検索エンジンの性能が大幅に向上しました。",
		38: "Москва — столица России. Поисковая система находит документы по смыслу и по словам.",
	} {
		got := Tokens(text)
		check.That(t, got >= 0.85*tokens, "%v tokens, of %v: %s", got, tokens, text)
	}
}
