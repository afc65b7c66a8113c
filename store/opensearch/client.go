package opensearch

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/internal/pattern"
	"sheaf/store/storekit"
)

func newClient(o Options) *storekit.Client {
	return o.NewClient(o.Dialect.String(), refusal, func(req *http.Request) {
		switch {
		case o.APIKey != "":
			req.Header.Set("Authorization", "ApiKey "+o.APIKey)
		case o.Bearer != "":
			req.Header.Set("Authorization", "Bearer "+o.Bearer)
		case o.User != "":
			req.SetBasicAuth(o.User, o.Password)
		}
	})
}

// serverError is the error message in an answer of the server, about a request or a document.
type serverError struct {
	Type   string
	Reason string
	Cause  []struct{ Type, Reason string } `json:"root_cause"`
}

// String returns the message of the root cause. If the server gives no root cause, it returns the message of the error.
func (e serverError) String() string {
	if len(e.Cause) > 0 && e.Cause[0].Reason != "" {
		e.Type, e.Reason = e.Cause[0].Type, e.Cause[0].Reason
	}
	return e.Type + ": " + strings.TrimSuffix(e.Reason, ";") // errors about blocks end with a semicolon
}

// pressed matches the error of a server that refuses a write because its memory is full. It captures the bytes of the
// write, and the limit for all writes together.
var pressed = pattern.Lazy(`(?:coordinating|primary|replica)_operation_bytes=(\d+), max_\w+=(\d+)`)

// tooLarge reports whether a request alone exceeds the server's memory limit. Waiting then does not help.
func (e serverError) tooLarge() bool {
	found := pressed().FindStringSubmatch(e.String())
	if found == nil {
		return false
	}
	takes, _ := strconv.ParseInt(found[1], 10, 64)
	most, _ := strconv.ParseInt(found[2], 10, 64)
	return takes > most
}

// asTooLarge returns the error for a request, or for an action in a request, that is too large.
func (e serverError) asTooLarge(status int) error {
	return fmt.Errorf("%w: status %d (give the server more memory, or leave the document out): %.500s",
		storekit.ErrTooLarge, status, e)
}

var errMissing = fmt.Errorf("there is no such index: %w", sheaf.ErrNotFound)

// knownError is an error of the server that this package explains. It has a category, advice, and identifying texts.
type knownError struct {
	category error
	advice   string
	texts    []string // one of these texts is in the error
}

func problem(category error, advice string, says ...string) knownError {
	return knownError{category, advice, says}
}

// problems lists the known errors of the server. The test of doc/errors.md searches for calls of the function problem.
var problems = []knownError{
	problem(sheaf.ErrInvalid, "for OpenSearch begin the address with opensearch://",
		"No handler for type [dense_vector]"),
	problem(sheaf.ErrUnsupported, "install the plug-in opensearch-knn, or for Elasticsearch begin the address with "+
		"elasticsearch://", "No handler for type [knn_vector]", "unknown setting [index.knn"),
	problem(sheaf.ErrUnsupported, "the module lang-painless is missing: install it, or ask for fewer hits; exact vector "+
		"search needs it in an index with hnsw, and for more than 10000 hits without hnsw",
		"script_lang not supported [painless]"),
	problem(sheaf.ErrUnsupported, "install the module analysis-common",
		"tokenizer type [char_group]", "filter type [pattern_capture]"),
	problem(sheaf.ErrUnsupported, "a filter has more parts than the server takes: name the values of one column "+
		"together, or raise indices.query.bool.max_clause_count",
		"maxClauseCount", "too_many_clauses", "too_many_nested_clauses"),
	problem(sheaf.ErrUnsupported, "the server's license does not cover that: start its trial, or one of its "+
		"subscriptions", "license is non-compliant"),
	problem(sheaf.ErrUnavailable, "open the index with POST /INDEX/_open", "index_closed_exception"),
	problem(sheaf.ErrUnavailable, "the server blocks this operation, for example because its disk is full: make space "+
		"and lift the block", "cluster_block_exception"),
}

// refusal converts an unsuccessful answer to an error with a category of package sheaf.
func refusal(status int, body []byte) error {
	var said struct{ Error serverError }
	if json.Unmarshal(body, &said) != nil || said.Error.Type == "" {
		return storekit.Refusal(status, body) // the answer of a proxy
	}
	return said.Error.category(status)
}

// category converts the server's error to an error with a category of package sheaf.
func (e serverError) category(status int) error {
	text := e.Type + ": " + e.String()
	for _, k := range problems {
		if slices.ContainsFunc(k.texts, func(part string) bool { return strings.Contains(text, part) }) {
			return fmt.Errorf("%w: status %d (%s): %.500s", k.category, status, k.advice, e)
		}
	}
	switch {
	case status == http.StatusNotFound && e.Type == "index_not_found_exception":
		return errMissing
	case e.tooLarge():
		return e.asTooLarge(status)
	}
	return storekit.Refused(status, fmt.Sprintf("%.500s", e))
}
