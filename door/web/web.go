// Package web serves the page for people. The page needs only the server. It searches while a person types. It shows
// documents with their heading tree, every stage of a ranking (the lab), and the state of the index. Its files are in
// the folder static. Its data come from the HTTP interface, except that Handler makes the HTML of documents.
package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
)

//go:embed static
var static embed.FS

// kinds are the content types of the page's files. The types of the operating system are not used, because they differ
// between machines and are slow to look up.
var kinds = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8", ".svg": "image/svg+xml"}

// policy allows the page to load only its own files, and to send requests only to its own server.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// DocumentPath is the path at which Handler serves documents as HTML.
const DocumentPath = "/ui/document"

// Handler serves the files of the page at / and /ui/... to everyone. It serves documents at DocumentPath to callers
// with the scope search. The function collection returns the collection with a name; for "", it returns the first one.
// The function admit waits until a request may run; Handler calls leave when the request ends. To mount the page on an
// API a of door/http:
//
//	page := func(grant access.Grant, admit http.Admit) http.Handler { return web.Handler(a.Collection, grant, admit) }
//	a.Mount("/", "", page)
//	a.Mount("/ui/", "", page)
//	a.Mount(web.DocumentPath, access.ScopeSearch, page)
//
// The page uses only relative addresses. So a program can serve the API below a path, such as "/notes/":
// http.StripPrefix("/notes", a).
func Handler(collection func(name string) (*collection.Collection, error), grant access.Grant,
	admit func(context.Context) (leave func(), err error)) http.Handler {
	d := documents{collection, grant, admit}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed, "the address has GET, HEAD")
		case r.URL.Path == DocumentPath:
			d.serve(w, r)
		default:
			serveFile(w, r)
		}
	})
}

// documents answers one caller's requests for documents. The fields are the arguments of [Handler].
type documents struct {
	collection func(name string) (*collection.Collection, error)
	grant      access.Grant
	admit      func(context.Context) (leave func(), err error)
}

// serveFile answers with a file of the page. It serves index.html only at /, because the file has relative addresses.
func serveFile(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/ui/")
	if r.URL.Path == "/" {
		name = "index.html"
	}
	content, err := static.ReadFile("static/" + name)
	if err != nil || r.URL.Path == "/ui/index.html" {
		refuse(w, http.StatusNotFound, "there is nothing at this address")
		return
	}
	sum := sha256.Sum256(content)
	h := w.Header()
	h.Set("Content-Type", kinds[path.Ext(name)])
	h.Set("ETag", fmt.Sprintf(`W/"%x"`, sum[:8])) // weak: it is the same with and without compression
	h.Set("Cache-Control", "no-cache")            // browsers revalidate: a new program has new files
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// page is a document, with its text as HTML.
type page struct {
	*collection.Document
	HTML string `json:"html"`
	// Text is the text of the document, if it is not Markdown or is too intricate to render.
	Text      string `json:"text,omitempty"`
	Intricate bool   `json:"intricate,omitempty"`
	// Chunk is the ID of the document or passage that the caller asked for. Line is its first line in the file.
	Chunk sheaf.ID `json:"chunk"`
	Line  int      `json:"line"`
	// Words has the words of the text that match the query, each split into parts. See collection.Reader.Words.
	Words [][]string `json:"words,omitempty"`
}

// serve answers with the document that the parameter id names, and the words in it that match the parameter query.
func (d *documents) serve(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	p, err := d.page(r)
	err = collection.Told(err, &d.grant)
	status := http.StatusInternalServerError
	switch {
	case err == nil:
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_ = json.NewEncoder(w).Encode(p)
		return
	case errors.Is(err, errNoGrant):
		status = http.StatusUnauthorized
	case errors.Is(err, sheaf.ErrNotFound):
		collection.Settle(r.Context(), d.grant, began)
		status = http.StatusNotFound
	case errors.Is(err, sheaf.ErrInvalid):
		status = http.StatusBadRequest
	case errors.Is(err, sheaf.ErrUnavailable):
		w.Header().Set("Retry-After", "1")
		status = http.StatusServiceUnavailable
	default:
		err = errors.New("the document cannot be read")
	}
	refuse(w, status, err.Error())
}

// refuse answers with a problem in the form that the API uses.
func refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "about:blank", "title": http.StatusText(status), "status": status,
		"detail": detail})
}

var errNoGrant = errors.New("a key is needed")

func (d *documents) page(r *http.Request) (*page, error) {
	if !d.grant.May(access.ScopeSearch) {
		return nil, errNoGrant
	}
	asked := r.URL.Query()
	c, err := d.collection(asked.Get("collection"))
	if err != nil {
		return nil, err
	}
	leave, err := d.admit(r.Context())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", sheaf.ErrUnavailable, err)
	}
	defer leave()
	reader, err := c.For(d.grant)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	target, err := reader.Find(asked.Get("id"))
	if err != nil {
		return nil, err
	}
	doc, err := reader.Document(r.Context(), target.Doc.ID)
	if err != nil {
		return nil, err
	}
	part, err := reader.Get(r.Context(), target.Doc.ID, collection.GetOptions{})
	if err != nil {
		return nil, err
	}
	p := &page{Document: doc, Chunk: target.Chunk.ID, Line: part.Line}
	text := doc.Title + "\n" + part.Text
	if target.Chunk.ID != target.Doc.ID {
		section, err := reader.Get(r.Context(), target.Chunk.ID, collection.GetOptions{})
		if err != nil {
			return nil, err
		}
		p.Line = section.Line
		text = section.Text + "\n" + text // Words also covers the text of the section
	}
	if query := asked.Get("query"); query != "" {
		p.Words = reader.Words(r.Context(), query, text)
	}
	return p, p.render(part, &target.Doc)
}
