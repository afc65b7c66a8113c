package mcp

import (
	"context"
	"encoding/json"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sheaf/internal/must"
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
				if _, err := s.Read(t.Context()); err != io.EOF {
					t.Errorf("the end is %v", err)
				}
				if took := time.Since(began); took != c.ends {
					t.Errorf("after %v, want %v", took, c.ends)
				}
				if len(w.out) != 1 {
					t.Fatalf("%d answers, want 1", len(w.out))
				}
				if r := <-w.out; r.ID != ids[1] || (r.Error != nil) != c.fails {
					t.Errorf("answered with %+v", r)
				}
				if err := s.Write(t.Context(), &jsonrpc.Response{ID: ids[1]}); err == nil || len(w.out) != 0 {
					t.Errorf("a second answer went out: %v", err)
				}
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
			if err != nil {
				t.Error(err)
			}
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
		if len(w.out) != sent {
			t.Errorf("%d answers to %v, want %d", len(w.out), id, sent)
		}
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
	if _, err := s.Read(t.Context()); err != io.EOF {
		t.Errorf("the end is %v", err)
	}
}
