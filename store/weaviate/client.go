package weaviate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// newClient returns a client for the server of o.
func newClient(o Options) *storekit.Client {
	return o.NewClient("weaviate", refusal, func(req *http.Request) {
		if o.Key != "" {
			req.Header.Set("Authorization", "Bearer "+o.Key)
		}
	})
}

// refusal gives an unsuccessful answer a category of the root package. A server without any class
// refuses every query.
func refusal(status int, body []byte) error {
	if status == http.StatusUnprocessableEntity && bytes.Contains(body, []byte("no graphql provider present")) {
		return storekit.Refused(http.StatusNotFound, "the server has no class any more")
	}
	return storekit.Refusal(status, body)
}

// said is the answer to a GraphQL query.
type said[T any] struct {
	Data   T
	Errors []struct{ Message string }
}

// forbidden reports whether the server refused the query because a right is missing.
func (a *said[T]) forbidden() bool {
	return len(a.Errors) > 0 && strings.Contains(a.Errors[0].Message, "authorization, forbidden")
}

// of returns the data of an answer.
func (a *said[T]) of(s *Store) (T, error) {
	if a.forbidden() {
		return a.Data, s.fault(store.ErrForbidden, "the user lacks a right (let the key read and write the class %s, or "+
			"name another with store_key_env or store_key_file): %.300s", s.o.Class, a.Errors[0].Message)
	}
	if len(a.Errors) > 0 && strings.HasPrefix(a.Errors[0].Message, "Cannot query field \""+s.o.Class) &&
		strings.Contains(a.Errors[0].Message, "Obj\".") {
		return a.Data, s.fault(sheaf.ErrNotFound, "there is no such class: %.300s", a.Errors[0].Message)
	}
	if len(a.Errors) > 0 {
		return a.Data, s.fault(sheaf.ErrUnavailable, "the query is refused: %.300s", a.Errors[0].Message)
	}
	return a.Data, nil
}

// hits returns the hits of a class. An answer without the requested class is a fault, because a
// class without hits is an empty list.
func hits[T any](s *Store, get map[string][]T, class string) ([]T, error) {
	list, ok := get[class]
	if !ok {
		return nil, s.fault(sheaf.ErrUnavailable, "an answer without the class %s: it is not from such a server", class)
	}
	return list, nil
}

// ask sends a GraphQL query and returns its data.
func ask[T any](ctx context.Context, s *Store, query string) (T, error) {
	var answer said[T]
	if err := s.client.Call(ctx, "POST", "/v1/graphql", object{"query": query}, &answer); err != nil {
		return answer.Data, err
	}
	return answer.of(s)
}

// askAll sends GraphQL queries in one request, which the server handles together, and returns the
// data of each. Such a request needs the right to read every class, and Weaviate 1.35.2 then checks
// the rights of an anonymous user instead of the key's. If the server refuses for that reason,
// askAll sends one request for each query.
func askAll[T any](ctx context.Context, s *Store, queries []string) ([]T, error) {
	out := make([]T, len(queries))
	if len(queries) > 1 && !s.alone.Load() {
		body := make([]object, len(queries))
		for i, q := range queries {
			body[i] = object{"query": q}
		}
		var answers []said[T]
		err := s.client.Call(ctx, "POST", "/v1/graphql/batch", body, &answers)
		switch {
		case errors.Is(err, store.ErrForbidden):
			s.alone.Store(true)
		case err != nil:
			return nil, err
		case len(answers) != len(queries):
			return nil, s.fault(sheaf.ErrUnavailable, "the server answered %d of %d queries", len(answers), len(queries))
		case slices.ContainsFunc(answers, func(a said[T]) bool { return a.forbidden() }):
			s.alone.Store(true)
		default:
			for i := range answers {
				if out[i], err = answers[i].of(s); err != nil {
					return nil, err
				}
			}
			return out, nil
		}
	}
	err := store.Each(ctx, len(queries), func(ctx context.Context, i int) (err error) {
		out[i], err = ask[T](ctx, s, queries[i])
		return err
	})
	return out, err
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
