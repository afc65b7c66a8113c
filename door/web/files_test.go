package web_test

import (
	"context"
	"io/fs"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/door/web"
)

// TestDocumentWhileTooManyFilesAreOpen: who asks is told to repeat it, and not which file it was.
func TestDocumentWhileTooManyFilesAreOpen(t *testing.T) {
	h := web.Handler(web.Options{
		Collection: func(string) (*collection.Collection, error) {
			return nil, &fs.PathError{Op: "open", Path: "/secret/place", Err: syscall.EMFILE}
		},
		Grant: func(context.Context) (access.Grant, bool) { return access.Unrestricted(), true },
	})
	res := httptest.NewRecorder()
	h.ServeHTTP(res, httptest.NewRequest("GET", "/ui/document?id=a.md", nil))
	if res.Code != 503 || res.Header().Get("Retry-After") == "" || strings.Contains(res.Body.String(), "secret") {
		t.Errorf("%d %v %s", res.Code, res.Header(), res.Body)
	}
}
