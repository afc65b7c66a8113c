package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"sheaf"
	"sheaf/collection"
	"sheaf/internal/jsonname"
)

var (
	errJSON   = errors.New("not valid JSON, or nested too deeply")
	errMethod = errors.New("method not found")
	errValues = fmt.Errorf("too many values: must hold at most %d", maxValues)
	errList   = errors.New("a list of messages: send one message at a time, a line or a request each (lists were " +
		"removed from the protocol with version 2025-06-18)")
)

// maxValues limits the values and names in a message. The SDK has no limit: to read a megabyte of brackets, it takes
// seconds and a hundred megabytes of memory.
const maxValues = 10_000

// checkMessage returns an error if a text is not a message. The SDK does not check enough. In the SDK, a notification
// in a list ends the session. The SDK rounds large IDs, accepts duplicate names, and does not answer a message without
// a method. Lists of messages, which only protocol version 2025-03-26 has, are errors too.
func checkMessage(text []byte) error {
	switch {
	case bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("[")):
		return errList
	case collection.MaxValues(text) > maxValues:
		return errValues
	case !json.Valid(text):
		return errJSON
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return errors.New("a message must be a JSON object")
	}
	if _, err := jsonrpc.DecodeMessage(text); err != nil {
		return err
	}
	if name, ok := jsonname.Twice(text, jsonname.Exact); ok {
		return fmt.Errorf("%.100q: the name appears twice", name)
	}
	id, identified := members["id"]
	switch {
	case identified && !identifies(id):
		return errors.New("id: must be a text, or a whole number below 2^53")
	case members["method"] == nil && members["result"] == nil && members["error"] == nil:
		return errors.New("method: it is missing")
	}
	return nil
}

// identifies reports whether the SDK would send the ID of a message back exactly as the client sent it.
func identifies(id json.RawMessage) bool {
	var v any
	if json.Unmarshal(id, &v) != nil {
		return false
	}
	switch v := v.(type) {
	case string:
		return true
	case float64:
		return v == math.Trunc(v) && math.Abs(v) < wholeNumbers
	}
	return false
}

// refusal returns the answer to a text that is not a valid message. If the text has an ID, the answer has it too.
func refusal(text []byte, why error) []byte {
	var code int64 = jsonrpc.CodeInvalidRequest
	switch {
	case errors.Is(why, errJSON):
		code = jsonrpc.CodeParseError
	case errors.Is(why, errMethod):
		code = jsonrpc.CodeMethodNotFound
	}
	id := json.RawMessage("null")
	var members map[string]json.RawMessage
	if !errors.Is(why, errValues) && json.Unmarshal(text, &members) == nil && len(members["id"]) > 0 &&
		bytes.IndexByte([]byte(`"-0123456789`), members["id"][0]) >= 0 {
		id = members["id"]
	}
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id,
		"error": map[string]any{"code": code, "message": why.Error()}})
	if err != nil {
		panic("an answer is no JSON: " + err.Error())
	}
	return append(answer, '\n')
}

// readMessage reads the message of an HTTP request. It restores the body, so that the SDK can read it again. If the
// text is not a message, it answers with an error and returns false.
func readMessage(w http.ResponseWriter, r *http.Request) (text []byte, ok bool) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBytes))
	if err == nil && len(bytes.TrimSpace(text)) > 0 {
		err = checkMessage(text)
	}
	var large *http.MaxBytesError
	switch {
	case errors.Is(err, sheaf.ErrUnavailable):
		w.Header().Set("Retry-After", "1")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return nil, false
	case errors.As(err, &large):
		http.Error(w, fmt.Sprintf("the message has more than %d bytes", large.Limit), http.StatusRequestEntityTooLarge)
		return nil, false
	case err != nil:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(refusal(text, err)) // the client is gone
		return nil, false
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	return text, true
}

// unknownMethod changes the SDK's answers about unknown methods and missing parameters into JSON-RPC errors. Over HTTP,
// the SDK sends these answers as plain text, except in the newest protocol version. A client that gets plain text
// believes that the connection is broken.
type unknownMethod struct {
	http.ResponseWriter
	sent []byte // the message of the client
	held bool   // the status 400 is not written yet
}

func (u *unknownMethod) Unwrap() http.ResponseWriter { return u.ResponseWriter }

func (u *unknownMethod) WriteHeader(status int) {
	if u.held = status == http.StatusBadRequest; !u.held {
		u.ResponseWriter.WriteHeader(status)
	}
}

func (u *unknownMethod) Write(text []byte) (int, error) {
	if !u.held {
		return u.ResponseWriter.Write(text)
	}
	u.held = false
	why := errMethod
	switch said := strings.TrimSpace(string(text)); {
	case strings.HasPrefix(said, "invalid request:") && isCall(u.sent):
		why = errors.New(said)
	case !strings.HasPrefix(said, "JSON RPC not handled"):
		u.ResponseWriter.WriteHeader(http.StatusBadRequest)
		return u.ResponseWriter.Write(text)
	}
	u.Header().Set("Content-Type", "application/json")
	u.Header().Del("Content-Length")
	_, err := u.ResponseWriter.Write(refusal(u.sent, why))
	return len(text), err
}

// isCall reports whether a message has an ID, so that the client expects an answer.
func isCall(message []byte) bool {
	var m struct{ ID json.RawMessage }
	return json.Unmarshal(message, &m) == nil && m.ID != nil
}

// end writes the status of the answer, if the SDK wrote a status but no text.
func (u *unknownMethod) end() {
	if u.held {
		u.ResponseWriter.WriteHeader(http.StatusBadRequest)
	}
}
