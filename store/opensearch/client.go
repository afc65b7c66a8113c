package opensearch

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/store/storekit"
)

// newClient returns a client for the server of o.
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

// serverError is the server's message about a request or a document.
type serverError struct {
	Type   string
	Reason string
	Cause  []struct{ Type, Reason string } `json:"root_cause"`
}

// String prefers the root cause, which names the fault.
func (e serverError) String() string {
	if len(e.Cause) > 0 && e.Cause[0].Reason != "" {
		e.Type, e.Reason = e.Cause[0].Type, e.Cause[0].Reason
	}
	return e.Type + ": " + strings.TrimSuffix(e.Reason, ";") // errors about blocks end with a semicolon
}

// pressed matches the server's refusal of a write for lack of memory: the bytes of the write, and
// the limit for all writes.
var pressed = regexp.MustCompile(`(?:coordinating|primary|replica)_operation_bytes=(\d+), max_\w+=(\d+)`)

// tooLarge reports whether a request exceeds the server's memory limit even when the server is idle.
// Then waiting does not help.
func (e serverError) tooLarge() bool {
	found := pressed.FindStringSubmatch(e.String())
	if found == nil {
		return false
	}
	takes, _ := strconv.ParseInt(found[1], 10, 64)
	most, _ := strconv.ParseInt(found[2], 10, 64)
	return takes > most
}

// asTooLarge returns the error of a request that is too large, or of an action in it.
func (e serverError) asTooLarge(status int) error {
	return fmt.Errorf("%w: status %d (give the server more memory, or leave the document out): %.500s",
		storekit.ErrTooLarge, status, e)
}

var errMissing = fmt.Errorf("there is no such index: %w", sheaf.ErrNotFound)

// refusal gives an unsuccessful answer a category of the root package.
func refusal(status int, body []byte) error {
	var said struct{ Error serverError }
	if json.Unmarshal(body, &said) != nil || said.Error.Type == "" {
		return storekit.Refusal(status, body) // the answer of a proxy
	}
	if status == http.StatusNotFound && said.Error.Type == "index_not_found_exception" {
		return errMissing
	}
	switch text := said.Error.String(); {
	case strings.Contains(text, "No handler for type [dense_vector]"):
		return fmt.Errorf("%w: status %d (is that OpenSearch? then the address begins with opensearch://): %.500s",
			sheaf.ErrInvalid, status, text)
	case strings.Contains(text, "No handler for type [knn_vector]"), strings.Contains(text, "unknown setting [index.knn"):
		return fmt.Errorf("%w: status %d (the plug-in opensearch-knn is missing, or that is Elasticsearch: then the "+
			"address begins with elasticsearch://): %.500s", sheaf.ErrUnsupported, status, text)
	case strings.Contains(text, "script_lang not supported [painless]"):
		return fmt.Errorf("%w: status %d (the module lang-painless is missing, which exact vector search in an index "+
			"with hnsw needs, or for more than %d hits without hnsw: install it, or ask for fewer hits): %.500s",
			sheaf.ErrUnsupported, status, maxNear, text)
	case strings.Contains(text, "tokenizer type [char_group]"), strings.Contains(text, "filter type [pattern_capture]"):
		return fmt.Errorf("%w: status %d (the module analysis-common is missing: install it): %.500s", sheaf.ErrUnsupported,
			status, text)
	case strings.Contains(text, "unknown retriever ["):
		return fmt.Errorf(
			"%w: status %d (the module rank-rrf is missing: install it, or let sheaf join the branches): %.500s",
			sheaf.ErrUnsupported, status, text)
	case strings.Contains(text, "maxClauseCount"), strings.Contains(text, "too_many_clauses"),
		strings.Contains(text, "too_many_nested_clauses"):
		return fmt.Errorf("%w: status %d (a filter has more parts than the server takes: name the values of one column "+
			"together, or raise indices.query.bool.max_clause_count): %.500s", sheaf.ErrUnsupported, status, text)
	case strings.Contains(text, "license is non-compliant"):
		return fmt.Errorf("%w: status %d (the server's license does not cover that: start its trial, or one of its "+
			"subscriptions, or let sheaf join the branches): %.500s", sheaf.ErrUnsupported, status, text)
	case said.Error.Type == "index_closed_exception":
		return fmt.Errorf("%w: status %d (open the index with POST /INDEX/_open): %.500s", sheaf.ErrUnavailable, status, text)
	}
	if said.Error.Type == "cluster_block_exception" {
		return fmt.Errorf("%w: status %d (the server blocks this, as it does when its disk is full: make space and lift "+
			"the block): %.500s", sheaf.ErrUnavailable, status, said.Error.String())
	}
	if said.Error.tooLarge() {
		return said.Error.asTooLarge(status)
	}
	return storekit.Refused(status, fmt.Sprintf("%.500s", said.Error.String()))
}
