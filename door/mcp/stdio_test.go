package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/door/mcp"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
)

// line is a message of the server.
type line struct {
	ID     int             `json:"-"`
	RawID  json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// raw speaks with a server on standard input and output, with one message in each line.
type raw struct {
	t    *testing.T
	in   io.WriteCloser
	out  chan line
	last int
}

func startRaw(t *testing.T) *raw {
	t.Helper()
	server := serverOf(t, collectiontest.Open(t, notes, nil), access.Unrestricted())
	theirs, ours := io.Pipe()
	heard, said := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = mcp.Stdio(t.Context(), server, theirs, said)
		_ = said.Close()
	}()
	r := &raw{t: t, in: ours, out: make(chan line, 1)}
	go func() {
		defer close(r.out)
		for lines := bufio.NewScanner(heard); lines.Scan(); {
			var l line
			err := json.Unmarshal(lines.Bytes(), &l)
			check.That(t, err == nil, "the server wrote %q", lines.Bytes())
			_ = json.Unmarshal(l.RawID, &l.ID) // 0 for other identifiers
			r.out <- l
		}
	}()
	t.Cleanup(func() {
		_ = ours.Close()
		<-done
		for range r.out {
		}
	})
	return r
}

// ask sends a request with the JSON text params, or without params for "".
func (r *raw) ask(method, params string) line {
	r.t.Helper()
	r.last++
	if params != "" {
		params = `,"params":` + params
	}
	return r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q%s}`, r.last, method, params), r.last)
}

// send sends a line and waits for the answer, which must have the identifier id.
func (r *raw) send(text string, id int) line {
	r.t.Helper()
	shown := text[:min(len(text), 200)]
	if _, err := fmt.Fprintln(r.in, text); err != nil {
		r.t.Fatalf("%s: %v", shown, err)
	}
	l, ok := <-r.out
	if !ok || l.ID != id || (l.Error == nil) == (l.Result == nil) {
		r.t.Fatalf("%s: %+v, %v", shown, l, ok)
	}
	return l
}

// TestNewestProtocol checks that every result says that it is complete, as strict clients require.
// A result that a cache may store is private, since it depends on the caller.
func TestNewestProtocol(t *testing.T) {
	r := startRaw(t)
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}}`
	for _, c := range []struct {
		method, params string
		cacheable      bool
	}{
		{"tools/list", "", true}, {"resources/list", "", true}, {"resources/templates/list", "", true},
		{"resources/read", `"uri":"sheaf://notes/notes%3Agit.md",`, true},
		{"tools/call", `"name":"search","arguments":{"query":"undo commit"},`, false},
		{"tools/call", `"name":"search","arguments":{"query":"undo commit","limit":0},`, false},
		{"tools/call", `"name":"search","arguments":{"query":"undo commit","limit":null},`, false},
		{"tools/call", `"name":"search","arguments":{"query":"undo commit","limitt":1},`, false},
		{"tools/call", `"name":"get","arguments":{"id":"nosuch.md"},`, false},
	} {
		l := r.ask(c.method, "{"+c.params+meta+"}")
		var result struct{ ResultType, CacheScope string }
		check.That(t, l.Error == nil && json.Unmarshal(l.Result, &result) == nil && result.ResultType == "complete" &&
			(result.CacheScope == "private") == c.cacheable, "%s %s: %+v %.300s", c.method, c.params, l.Error, l.Result)
	}
}

// TestRawRequests checks that the server answers requests without params and malformed requests,
// and keeps running.
func TestRawRequests(t *testing.T) {
	r := startRaw(t)
	r.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}`)
	fmt.Fprintln(r.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for _, method := range []string{"ping", "tools/list", "resources/list", "resources/templates/list"} {
		for _, params := range []string{"", "{}"} {
			l := r.ask(method, params)
			check.That(t, l.Error == nil, "%s %q: %+v", method, params, l.Error)
		}
	}
	methods := []string{"ping", "tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read",
		"resources/subscribe",
		"subscriptions/listen", "prompts/list", "prompts/get", "completion/complete", "logging/setLevel", "server/discover",
		"nosuch/method"}
	for _, method := range methods {
		for _, params := range []string{"", "null", "[]", `"x"`, "5", `{"cursor":5}`, `{"cursor":"x"}`,
			`{"cursor":"sheaf://notes/%zz"}`, `{"name":null}`,
			`{"name":"search"}`, `{"name":"search","arguments":null}`, `{"name":"search","arguments":[]}`,
			`{"name":"search","arguments":{"query":"a","limit":null}}`,
			`{"uri":null}`, `{"uri":"sheaf://"}`, `{"ref":{}}`, `{"_meta":{"progressToken":{}}}`} {
			r.ask(method, params)
		}
	}
	for _, text := range []string{"not JSON", `{"jsonrpc":"2.0","id":2,"method":"ping","params":`,
		`{"jsonrpc":"2.0","id":2,"method":"ping"} trailing`, "[1,2]", "[]", "{}", "5", "null",
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `[{"jsonrpc":"2.0","id":2,"method":"ping"}]`, "\xff\xfe",
		`{"jsonrpc":"2.0","id":2,"method":"ping","params":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}",
		strings.Repeat("a", 17<<20)} {
		l := r.send(text, 0)
		check.That(t, l.Error != nil, "%.100s: %s", text, l.Result)
	}
	fmt.Fprintln(r.in)
	l := r.ask("tools/call", `{"name":"search","arguments":{"query":"undo commit"}}`)
	check.That(t, l.Error == nil, "after all that: %+v", l.Error)
}

// TestMessageList checks that the server refuses a list of messages in every version of the protocol, and
// keeps running.
func TestMessageList(t *testing.T) {
	const ping, notice = `{"jsonrpc":"2.0","id":7,"method":"ping"}`,
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`
	lists := []string{"[]", "[5]", "[" + ping + "]", "[" + ping + "," + ping + "]", "[" + ping + "," + notice + "]", "[" +
		notice + "," + notice + "]", " [" + notice + "] "}
	for _, version := range []string{`"protocolVersion":""`, `"protocolVersion":"2020-01-01"`,
		`"protocolVersion":"2025-03-26"`, `"ProtocolVersion":"2025-03-26"`, `"protocolVersion":"2025-06-18"`} {
		r := startRaw(t)
		refuse := func() {
			t.Helper()
			for _, text := range lists {
				l := r.send(text, 0)
				check.That(t, l.Error != nil && l.Error.Code == -32600 &&
					strings.Contains(l.Error.Message, "one message at a time"), "%s, %s: %+v", version, text, l)
			}
		}
		refuse()
		r.ask("initialize", "{"+version+`,"capabilities":{},"clientInfo":{"name":"raw","version":"1"}}`)
		fmt.Fprintln(r.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		refuse()
		r.ask("initialize", `{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}`)
		refuse()
		l := r.ask("ping", "")
		check.That(t, l.Error == nil, "%s: after all that: %+v", version, l.Error)
	}
}

// TestInputEnds checks that the server answers all earlier requests when its input ends, and then
// ends without an error. A stopped server first answers the running call.
func TestInputEnds(t *testing.T) {
	const begin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	ask := func(id int) string {
		return fmt.Sprintf(
			`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"search","arguments":{"query":"undo commit"}}}`+
				"\n", id)
	}
	for _, stopped := range []bool{false, true} {
		b := &slow{}
		f := collectiontest.Open(t, notes, func(o *collection.Options) {
			b.Backend, o.Backend = o.Backend, b
		})
		synctest.Test(t, func(t *testing.T) {
			b.asked, b.free = make(chan struct{}, 10), make(chan struct{})
			server := serverOf(t, f, access.Unrestricted())
			ctx, stop := context.WithCancel(t.Context())
			in, say := io.Pipe()
			var out bytes.Buffer
			done := make(chan error, 1)
			go func() { done <- mcp.Stdio(ctx, server, in, &out) }()
			must.Get(io.WriteString(say, begin+ask(2)+ask(3)+ask(4)))
			<-b.asked
			if stopped {
				stop()
			} else {
				_ = say.Close()
			}
			synctest.Wait() // the server notices the end before the store answers
			close(b.free)
			err := <-done
			check.That(t, stopped == errors.Is(err, context.Canceled) && (stopped || err == nil), "stopped %t: %v", stopped, err)
			stop()
			_ = say.Close()
			got := map[int]bool{}
			for text := range strings.Lines(out.String()) {
				var l line
				err := json.Unmarshal([]byte(text), &l)
				check.That(t, err == nil && l.Error == nil && (string(l.RawID) == "1" || strings.Contains(string(l.Result),
					"move the")), "stopped %t: %s (%v)", stopped, text, err)
				_ = json.Unmarshal(l.RawID, &l.ID)
				got[l.ID] = true
			}
			check.That(t, (len(got) == 4 || stopped) && got[1] && got[2], "stopped %t: answers to %v", stopped, got)
		})
	}
}

// slow is a store whose searches wait until free is closed.
type slow struct {
	store.Backend
	asked, free chan struct{}
}

func (b *slow) Retrieve(ctx context.Context, r store.Request) (sheaf.Ranking, error) {
	select {
	case b.asked <- struct{}{}:
	default:
	}
	select {
	case <-b.free:
	case <-ctx.Done():
		return sheaf.Ranking{}, ctx.Err()
	}
	return b.Backend.Retrieve(ctx, r)
}

// refused are texts that are not messages, with the code and the identifier of the answer.
var refused = []struct {
	text string
	code int
	id   string
}{
	{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, -32600, "1.5"},
	{`{"jsonrpc":"2.0","id":1e300,"method":"ping"}`, -32600, "1e300"},
	{`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, -32600, "9007199254740993"},
	{`{"jsonrpc":"2.0","id":-9223372036854775809,"method":"ping"}`, -32600, "-9223372036854775809"},
	{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, -32600, "null"},
	{`{"jsonrpc":"2.0","id":true,"method":"ping"}`, -32600, "null"},
	{`{"jsonrpc":"2.0","id":"a"}`, -32600, `"a"`},
	{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search","arguments":{"query":"a","query":"b"}}}`,
		-32600, "3"},
	{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search",` +
		`"arguments":{"query":"a","set":{"pool":50,"pool":60}}}}`, -32600, "3"},
	{`{"jsonrpc":"2.0","id":3,"method":"ping","method":"tools/list"}`, -32600, "3"},
	{`{"jsonrpc":"1.0","id":2,"method":"ping"}`, -32600, "2"},
	{`{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, -32700, "null"},
	{`{"jsonrpc":"2.0","id":1,"method":"ping"} trailing`, -32700, "null"},
	{"5", -32600, "null"},
	{"null", -32600, "null"},
	{"[1", -32600, "null"},
}

type refusal struct {
	ID    json.RawMessage `json:"id"`
	Error struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// postRefused sends a message that the server must refuse, and returns the status and the refusal.
func postRefused(t *testing.T, web *httptest.Server, message string, header ...string) (status int, got refusal) {
	t.Helper()
	res, text, err := post(t.Context(), web, message, header...)
	if err == nil {
		err = json.Unmarshal([]byte(text), &got)
	}
	must.That(t, err == nil, "%.300s: %v %.300s", message, err, text)
	return res.StatusCode, got
}

// version names a version of the protocol in which the SDK answers with plain text.
var version = []string{"MCP-Protocol-Version", "2025-06-18"}

// TestInvalidMessage checks the answer to a text that is not a message, on stdio and over HTTP. It has the
// identifier of the text.
func TestInvalidMessage(t *testing.T) {
	web := overHTTP(t, mcp.Options{}, access.Unrestricted(), nil)
	r := startRaw(t)
	r.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}`)
	for _, c := range refused {
		_, _ = fmt.Fprintln(r.in, c.text)
		if l := <-r.out; l.Error == nil || l.Error.Code != c.code || string(l.RawID) != c.id {
			t.Errorf("%s: %s %+v", c.text, l.RawID, l.Error)
		}
		status, got := postRefused(t, web, c.text)
		check.That(t, status == 400 && got.Error.Code == c.code && string(got.ID) == c.id, "%s: %d %+v", c.text, status, got)
	}
	for _, id := range []string{"0", "-1", "1e2", "9007199254740991", `""`, `"1.5"`} {
		res, text, err := post(t.Context(), web, `{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`)
		check.That(t, err == nil && res.StatusCode == 200, "%s: %v %s", id, err, text)
	}
}

// TestClientOfJSON checks that a client needs not accept a stream of events, which no answer is.
func TestClientOfJSON(t *testing.T) {
	web := overHTTP(t, mcp.Options{}, access.Unrestricted(), nil)
	for _, accept := range []string{"application/json", "application/json, */*;q=0.5", "*/*"} {
		res, text, err := post(t.Context(), web, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Accept", accept)
		check.That(t, err == nil && res.StatusCode == 200 && res.Header.Get("Content-Type") == "application/json",
			"%s: %v %s", accept, err, text)
	}
}

// TestErrorCodes checks that errors have the codes of JSON-RPC. Over HTTP, unknown methods and missing
// parameters get them too, because clients take plain text for a broken connection.
func TestErrorCodes(t *testing.T) {
	web := overHTTP(t, mcp.Options{}, access.Unrestricted(), nil)
	r := startRaw(t)
	l := r.ask("tools/list", "{}")
	check.That(t, l.Error != nil && l.Error.Code == -32600, "before the session has begun: %+v", l.Error)
	r.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}`)
	for _, c := range []struct {
		method, params string
		code           int
	}{
		{"nosuch/method", "{}", -32601},
		{"resources/list", `{"cursor":"x"}`, -32602},
		{"resources/list", `{"cursor":"sheaf://nosuch/a.md"}`, -32602},
		{"resources/read", `{"uri":"sheaf://nosuch/a.md"}`, -32602},
	} {
		l := r.ask(c.method, c.params)
		check.That(t, l.Error != nil && l.Error.Code == c.code, "%s %s: %+v", c.method, c.params, l)
		message := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, c.method, c.params)
		status, got := postRefused(t, web, message, version...)
		check.That(t, status == 200 && got.Error.Code == c.code && string(got.ID) == "7", "%s %s over HTTP: %d %+v", c.method,
			c.params, status, got)
	}
	call := `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`
	status, got := postRefused(t, web, call, version...)
	check.That(t, status == 200 && got.Error.Code == -32600 && string(got.ID) == "7", "a call without parameters: %d %+v",
		status, got)
	notice := `{"jsonrpc":"2.0","method":"tools/call"}`
	res, text, err := post(t.Context(), web, notice, version...)
	check.That(t, err == nil && res.StatusCode == 400, "one that cannot be answered: %v %s", err, text)
}

// TestManyValues checks that a message with too many values is refused, because parsing and
// checking it would be slow. A long text is allowed.
func TestManyValues(t *testing.T) {
	web := overHTTP(t, mcp.Options{}, access.Unrestricted(), nil)
	r := startRaw(t)
	r.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}`)
	call := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"multi_get","arguments":{"ids":[` +
		strings.Repeat("[],", 300_000) + `[]]}}}`
	began := time.Now()
	status, got := postRefused(t, web, call)
	check.That(t, status == 400 && got.Error.Code == -32600 && string(got.ID) == "null" &&
		strings.Contains(got.Error.Message, "too many values: must hold at most"), "%d %+v", status, got)
	_, _ = fmt.Fprintln(r.in, call)
	l := <-r.out
	check.That(t, l.Error != nil && l.Error.Code == -32600 &&
		strings.Contains(l.Error.Message, "too many values: must hold at most"), "on standard input: %+v", l)
	t.Log(time.Since(began))
	if l := r.ask("tools/call", `{"name":"context","arguments":{"text":"`+
		strings.Repeat("undo, a [commit], {here}: ", 30_000)+`"}}`); l.Error != nil ||
		strings.Contains(string(l.Result), `"isError":true`) {
		t.Errorf("a long text: %+v %.300s", l.Error, l.Result)
	}
}

// crowded is a body that fails because the server reads too many bodies.
type crowded struct{}

func (crowded) Read([]byte) (int, error) {
	return 0, fmt.Errorf("%w: too many bodies are being read", sheaf.ErrUnavailable)
}

// TestRetryAfterMemoryRefusal checks that a client whose body was refused for lack of memory may retry.
func TestRetryAfterMemoryRefusal(t *testing.T) {
	f := collectiontest.Open(t, notes, nil)
	h := mcp.Handler(mcp.Options{Collections: []*collection.Collection{f.Collection}}, access.Unrestricted())
	res := httptest.NewRecorder()
	h.ServeHTTP(res, httptest.NewRequest("POST", "/mcp", crowded{}))
	check.That(t, res.Code == 503 && res.Header().Get("Retry-After") != "" &&
		strings.Contains(res.Body.String(), "too many bodies"), "%d %v %s", res.Code, res.Header(), res.Body)
}
