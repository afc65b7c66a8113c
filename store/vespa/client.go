package vespa

import (
	"encoding/json"
	"fmt"
	"net/http"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// feedAttempts limits the attempts to send a document if the server is unreachable or too slow (504). If the server is
// too busy (429, 503), the client repeats the request until the time limit.
const feedAttempts = 12

func newClient(o Options) *storekit.Client {
	return o.NewClient("vespa", refuse, func(req *http.Request) {
		if o.Token != "" {
			req.Header.Set("Authorization", "Bearer "+o.Token)
		}
	})
}

// newFeeder returns a client for writing documents. The client may repeat its requests, because they only put, remove
// or change named documents.
func newFeeder(o Options) *storekit.Client {
	out := newClient(o)
	out.Attempts = feedAttempts
	return out
}

// refusal is an unsuccessful answer.
type refusal struct {
	status int
	reason string
	error
	// document means that the answer is about a document. So it tells a missing document from an unknown path; both have
	// status 404.
	document bool
}

func (r *refusal) Unwrap() error { return r.error }

// refuse returns the error for an unsuccessful answer.
func refuse(status int, body []byte) error {
	var said struct {
		Message string  // from the document API and the configuration server
		PathID  *string `json:"pathId"`
		ID      *string
		Root    struct{ Errors []searchError }
	}
	r := &refusal{status: status, reason: fmt.Sprintf("%.300q", body)}
	if json.Unmarshal(body, &said) == nil {
		r.document = said.PathID != nil || said.ID != nil
		switch {
		case len(said.Root.Errors) > 0:
			r.reason = fmt.Sprintf("%.500s", said.Root.Errors[0])
		case said.Message != "":
			r.reason = fmt.Sprintf("%.500s", said.Message)
		case r.document:
			r.reason = "there is no such document"
		}
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		category := store.ErrKeptOut
		if status == http.StatusForbidden {
			category = store.ErrForbidden
		}
		r.error = fmt.Errorf("%w: status %d (check the certificate and its key, store_cert_file and store_cert_key_file, "+
			"or the token, where store_key_env or store_key_file says): %s", category, status, r.reason)
	case http.StatusInsufficientStorage:
		r.error = fmt.Errorf("%w: status %d (a content node is short of memory or disk and takes no documents: give it "+
			"more, or delete some): %s", sheaf.ErrUnavailable, status, r.reason)
	default:
		r.error = storekit.Refused(status, r.reason)
	}
	return r
}
