package examples

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"sheaf/collection"
	"sheaf/collection/access"
	httpdoor "sheaf/door/http"
)

// Serve inside another program, which knows its own callers: it says for every
// request what its caller may see and do. Here everybody who is not on the staff
// sees what is public. A program that wants keys instead gives api.Options.Keys.
func Example_program() {
	coll, done := openNotes(map[string]string{
		"opening.md": "---\naccess: public\n---\nOpening hours are from nine to five.\n",
		"alarm.md":   "---\naccess: group:staff\n---\nSwitch off the alarm when opening.\n",
	}, nil)
	defer done()
	search := []access.Scope{access.ScopeSearch}
	handler, err := httpdoor.New(httpdoor.Options{
		Collections: []*collection.Collection{coll},
		SignOn: func(r *http.Request) (access.Grant, error) {
			// The program's own sign-on; a header stands for it here.
			if r.Header.Get("Caller") == "of the staff" {
				return access.Grant{Name: "staff", Scopes: search, Access: []string{"group:staff"}}, nil
			}
			return access.Grant{Name: "visitor", Scopes: search}, nil
		},
	})
	check(err)
	defer handler.Close()

	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "the program's own page") })
	mux.Handle("/v1/", handler)
	server := httptest.NewServer(mux)
	defer server.Close()

	for _, caller := range []string{"", "of the staff"} {
		req, err := http.NewRequest("GET", server.URL+"/v1/search?query=opening", nil)
		check(err)
		req.Header.Set("Caller", caller)
		res, err := http.DefaultClient.Do(req)
		check(err)
		var answer collection.Answer
		check(json.NewDecoder(res.Body).Decode(&answer))
		check(res.Body.Close())
		fmt.Printf("%q sees:", caller)
		for _, r := range answer.Results {
			fmt.Print(" ", r.Path)
		}
		fmt.Println()
	}
	// Output:
	// "" sees: opening.md
	// "of the staff" sees: opening.md alarm.md
}
