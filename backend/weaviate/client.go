package weaviate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"sheaf"
	"sheaf/backend"
	"sheaf/backend/httpstore"
)

// newClient sends requests to the server of o.
func newClient(o Options) *httpstore.Client {
	return &httpstore.Client{Store: "weaviate", URL: o.URL, HTTP: o.Client, Refusal: refusal, Authorize: func(req *http.Request) {
		if o.Key != "" {
			req.Header.Set("Authorization", "Bearer "+o.Key)
		}
	}}
}

// said is the answer to a GraphQL query; Data, when it is a pointer, is decoded in the
// same pass.
type said struct {
	Data   any
	Errors []struct{ Message string }
}

// ask sends a GraphQL query and decodes its data.
func (s *Store) ask(ctx context.Context, query string, out any) error {
	answer := said{Data: out}
	if err := s.client.Call(ctx, "POST", "/v1/graphql", object{"query": query}, &answer); err != nil {
		return err
	}
	return s.refused(answer.Errors)
}

// hits are what an answer has of a class. A class that was asked for and is not in
// it is a fault: one without hits is there, and empty.
func hits[T any](s *Store, get map[string][]T, class string) ([]T, error) {
	list, ok := get[class]
	if !ok {
		return nil, s.fault(sheaf.ErrUnavailable, "an answer without the class %s: it is not what such a server says", class)
	}
	return list, nil
}

func (s *Store) refused(errors []struct{ Message string }) error {
	if len(errors) == 0 {
		return nil
	}
	return s.fault(sheaf.ErrUnavailable, "the query is refused: %.300s", errors[0].Message)
}

// askAll sends GraphQL queries in one request, which the server works on together,
// and decodes the data of each into what out returns for it. That request takes the
// right to read every class: who has it for ours alone sends one request each.
func (s *Store) askAll(ctx context.Context, queries []string, out func(i int) any) error {
	if len(queries) > 1 && !s.alone.Load() {
		body := make([]object, len(queries))
		for i, q := range queries {
			body[i] = object{"query": q}
		}
		var answers []struct {
			Data   json.RawMessage
			Errors []struct{ Message string }
		}
		err := s.client.Call(ctx, "POST", "/v1/graphql/batch", body, &answers)
		switch {
		case errors.Is(err, errForbidden):
			s.alone.Store(true)
		case err != nil:
			return err
		case len(answers) != len(queries):
			return s.fault(sheaf.ErrUnavailable, "the server answered %d of %d queries", len(answers), len(queries))
		default:
			for i := range answers {
				if err := s.refused(answers[i].Errors); err != nil {
					return err
				}
				if err := json.Unmarshal(answers[i].Data, out(i)); err != nil {
					return s.fault(sheaf.ErrUnavailable, "the answer is not what such a server says: %v", err)
				}
			}
			return nil
		}
	}
	return backend.Each(ctx, len(queries), func(ctx context.Context, i int) error { return s.ask(ctx, queries[i], out(i)) })
}

// errForbidden is that the server does not let us do what it knows.
var errForbidden = errors.New("forbidden")

// refusal is httpstore.Refusal that tells what is forbidden.
func refusal(status int, body []byte) error {
	err := httpstore.Refusal(status, body)
	if status == http.StatusForbidden {
		return fmt.Errorf("%w: %w", errForbidden, err)
	}
	return err
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
