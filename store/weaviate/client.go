package weaviate

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

func newClient(o Options) *storekit.Client {
	return o.NewClient("weaviate", refusal, func(req *http.Request) {
		if o.Key != "" {
			req.Header.Set("Authorization", "Bearer "+o.Key)
		}
	})
}

// refusal converts an unsuccessful answer to an error with a category of package sheaf. A server without any class
// refuses every query; this is sheaf.ErrNotFound.
func refusal(status int, body []byte) error {
	if status == http.StatusUnprocessableEntity && bytes.Contains(body, []byte("no graphql provider present")) {
		return storekit.Refused(http.StatusNotFound, "the server has no class any more")
	}
	return storekit.Refusal(status, body)
}

// graphAnswer is the answer to a GraphQL query.
type graphAnswer[T any] struct {
	Data   T
	Errors []struct{ Message string }
}

// dataOf returns the data in the answer, or the error in it.
func (a *graphAnswer[T]) dataOf(s *Store) (T, error) {
	if len(a.Errors) > 0 && strings.Contains(a.Errors[0].Message, "authorization, forbidden") {
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

// hits returns the hits of a class from an answer. An answer without the class is an error: for no hits, the class is
// an empty list.
func hits[T any](s *Store, get map[string][]T, class string) ([]T, error) {
	list, ok := get[class]
	if !ok {
		return nil, s.fault(sheaf.ErrUnavailable, "an answer without the class %s: it is not from such a server", class)
	}
	return list, nil
}

// ask sends a GraphQL query and returns its data.
func ask[T any](ctx context.Context, s *Store, query string) (T, error) {
	var answer graphAnswer[T]
	if err := s.client.Call(ctx, "POST", "/v1/graphql", object{"query": query}, &answer); err != nil {
		return answer.Data, err
	}
	return answer.dataOf(s)
}

// quote returns text as a GraphQL string. GraphQL has the same escapes as JSON.
func quote(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string is always JSON
	}
	return string(out)
}

func quoteAll(list []string) string {
	quoted := make([]string, len(list))
	for i, text := range list {
		quoted[i] = quote(text)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}
