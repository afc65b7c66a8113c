package http_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"sheaf/collection"
	"sheaf/collection/access"
	httpdoor "sheaf/door/http"
)

// A program serves a folder of notes beside routes of its own. The program knows its callers: SignOn says for every
// request what the caller may see and do. A program that wants keys instead sets Options.Keys.
func Example() {
	dir, err := os.MkdirTemp("", "sheaf")
	fatal(err)
	defer os.RemoveAll(dir)
	notes := filepath.Join(dir, "notes")
	fatal(os.MkdirAll(notes, 0o755))
	for name, text := range map[string]string{
		"opening.md": "---\naccess: public\n---\nOpening hours are from nine to five.\n",
		"alarm.md":   "---\naccess: group:staff\n---\nSwitch off the alarm when opening.\n",
	} {
		fatal(os.WriteFile(filepath.Join(notes, name), []byte(text), 0o644))
	}
	coll, err := collection.Open(notes, collection.WithIndex(filepath.Join(dir, "index")))
	fatal(err)
	defer coll.Close()
	_, err = coll.Refresh(context.Background())
	fatal(err)

	search := []access.Scope{access.ScopeSearch}
	handler, err := httpdoor.New(httpdoor.Options{
		Collections: []*collection.Collection{coll},
		SignOn: func(r *http.Request) (access.Grant, error) {
			if r.Header.Get("Caller") == "staff" { // the sign-on of the program
				return access.Grant{Name: "staff", Scopes: search, Access: []string{"group:staff"}}, nil
			}
			return access.Grant{Name: "visitor", Scopes: search}, nil
		},
	})
	fatal(err)
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "the page of the program") })
	mux.Handle("/v1/", handler)
	server := httptest.NewServer(mux)
	defer server.Close()

	for _, caller := range []string{"visitor", "staff"} {
		req, err := http.NewRequest("GET", server.URL+"/v1/search?query=opening", nil)
		fatal(err)
		req.Header.Set("Caller", caller)
		res, err := http.DefaultClient.Do(req)
		fatal(err)
		var answer collection.Answer
		fatal(json.NewDecoder(res.Body).Decode(&answer))
		fatal(res.Body.Close())
		fmt.Print(caller, ":")
		for _, r := range answer.Results {
			fmt.Print(" ", r.Path)
		}
		fmt.Println()
	}
	// Output:
	// visitor: opening.md
	// staff: opening.md alarm.md
}

func fatal(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
