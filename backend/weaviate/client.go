package weaviate

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"sheaf"
	"sheaf/backend/httpstore"
)

// newClient sends requests to the server of o.
func newClient(o Options) *httpstore.Client {
	return &httpstore.Client{Store: "weaviate", URL: o.URL, HTTP: o.Client, Authorize: func(req *http.Request) {
		if o.Key != "" {
			req.Header.Set("Authorization", "Bearer "+o.Key)
		}
	}}
}

// ask sends a GraphQL query and decodes its data.
func (s *Store) ask(ctx context.Context, query string, out any) error {
	var said struct {
		Data   json.RawMessage
		Errors []struct{ Message string }
	}
	if err := s.client.Call(ctx, "POST", "/v1/graphql", object{"query": query}, &said); err != nil {
		return err
	}
	if len(said.Errors) > 0 {
		return s.fault(sheaf.ErrUnavailable, "the query is refused: %.300s", said.Errors[0].Message)
	}
	if err := json.Unmarshal(said.Data, out); err != nil {
		return s.fault(sheaf.ErrUnavailable, "the answer is not what such a server says: %v", err)
	}
	return nil
}

// quote writes a GraphQL string; its escapes are those of JSON.
func quote(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string is always JSON
	}
	return string(out)
}

func quoteAll(list []string) string {
	var out bytes.Buffer
	out.WriteByte('[')
	for i, text := range list {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(quote(text))
	}
	out.WriteByte(']')
	return out.String()
}
