package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/door/mcp"
)

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
	{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search","arguments":{"query":"a","set":{"pool":50,"pool":60}}}}`, -32600, "3"},
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
	if err != nil {
		t.Fatalf("%.300s: %v %.300s", message, err, text)
	}
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
		if status, got := postRefused(t, web, c.text); status != 400 || got.Error.Code != c.code || string(got.ID) != c.id {
			t.Errorf("%s: %d %+v", c.text, status, got)
		}
	}
	for _, id := range []string{"0", "-1", "1e2", "9007199254740991", `""`, `"1.5"`} {
		if res, text, err := post(t.Context(), web, `{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`); err != nil ||
			res.StatusCode != 200 {
			t.Errorf("%s: %v %s", id, err, text)
		}
	}
}

// TestErrorCodes checks that errors have the codes of JSON-RPC. Over HTTP, unknown methods and missing
// parameters get them too, because clients take plain text for a broken connection.
func TestErrorCodes(t *testing.T) {
	web := overHTTP(t, mcp.Options{}, access.Unrestricted(), nil)
	r := startRaw(t)
	if l := r.ask("tools/list", "{}"); l.Error == nil || l.Error.Code != -32600 {
		t.Errorf("before the session has begun: %+v", l.Error)
	}
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
		if l := r.ask(c.method, c.params); l.Error == nil || l.Error.Code != c.code {
			t.Errorf("%s %s: %+v", c.method, c.params, l)
		}
		message := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, c.method, c.params)
		if status, got := postRefused(t, web, message, version...); status != 200 || got.Error.Code != c.code ||
			string(got.ID) != "7" {
			t.Errorf("%s %s over HTTP: %d %+v", c.method, c.params, status, got)
		}
	}
	call := `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`
	if status, got := postRefused(t, web, call, version...); status != 200 || got.Error.Code != -32600 ||
		string(got.ID) != "7" {
		t.Errorf("a call without parameters: %d %+v", status, got)
	}
	notice := `{"jsonrpc":"2.0","method":"tools/call"}`
	if res, text, err := post(t.Context(), web, notice, version...); err != nil || res.StatusCode != 400 {
		t.Errorf("one that cannot be answered: %v %s", err, text)
	}
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
	if status, got := postRefused(t, web, call); status != 400 || got.Error.Code != -32600 || string(got.ID) != "null" ||
		!strings.Contains(got.Error.Message, "too many values: must hold at most") {
		t.Errorf("%d %+v", status, got)
	}
	_, _ = fmt.Fprintln(r.in, call)
	if l := <-r.out; l.Error == nil || l.Error.Code != -32600 ||
		!strings.Contains(l.Error.Message, "too many values: must hold at most") {
		t.Errorf("on standard input: %+v", l)
	}
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
	if res.Code != 503 || res.Header().Get("Retry-After") == "" ||
		!strings.Contains(res.Body.String(), "too many bodies") {
		t.Errorf("%d %v %s", res.Code, res.Header(), res.Body)
	}
}
