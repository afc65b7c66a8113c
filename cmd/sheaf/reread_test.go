package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/index/vfs/manifest"
	"sheaf/index/vfs/sectionfile"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// misread runs "misread INDEX VERSION": the matching index then looks as though parser version VERSION had made it. 0
// stands for no recorded version.
func misread(ts *testscript.TestScript, args []string) {
	ts.Check(readAsBy(folder(ts, args[0]), args[1]))
}

// readAsBy changes all titles and files the documents under other names.
func readAsBy(index, version string) error {
	dir := location.CatalogDir(index)
	c, err := catalog.Open(vfs.Disk{}, dir, catalog.Options{})
	if err != nil {
		return err
	}
	defer c.Close()
	v := c.View()
	defer v.Close()
	settings := v.Settings()
	settings.Extra = maps.Clone(settings.Extra)
	delete(settings.Extra, "reading")
	if version != "0" {
		settings.Extra["reading"] = version
	}
	u := catalog.Update{Settings: &settings, Whole: true}
	for id := range v.Files() {
		rec, err := v.Record(id)
		if err != nil {
			return err
		}
		was := *rec
		was.Document.Title = "Otherwise " + was.Document.Path
		if was.HasText {
			if was.Text, err = v.Text(id); err != nil {
				return err
			}
		}
		u.Put = append(u.Put, was)
	}
	if err := c.Update(context.Background(), u); err != nil {
		return err
	}
	now := c.View()
	defer now.Close()
	segment := filepath.Join(dir, fmt.Sprintf("catalog-%012x", now.Generation()))
	r, err := sectionfile.Open(vfs.Disk{}, segment, "catalog", 2)
	if err != nil {
		return err
	}
	w, err := sectionfile.Create(vfs.Disk{}, segment+".new", "catalog", 2)
	if err != nil {
		return err
	}
	for _, name := range r.Names() {
		p, err := r.Paged(name)
		if err != nil {
			return err
		}
		b, err := p.All()
		if err != nil {
			return err
		}
		if b = append([]byte{}, b...); name == "names" {
			b[8]++ // the lowest hash of a name; the order stays valid
		}
		w.Section(name, b)
	}
	_, err = w.Close()
	return errors.Join(err, r.Close(), os.Rename(segment+".new", segment))
}

// TestRereadEmbedsNothing checks that a server rereads the documents of an older version without
// embedding them again. Given documents stay unchanged.
func TestRereadEmbedsNothing(t *testing.T) {
	var texts atomic.Int64
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request struct{ Input []string }
		if err == nil {
			err = json.Unmarshal(body, &request)
		}
		check.That(t, err == nil, "%v", err)
		texts.Add(int64(len(request.Input)))
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		embeddings(w, r)
	}))
	defer model.Close()
	t.Setenv("SHEAF_EMBEDDER_URL", model.URL+"/v1")
	t.Setenv("SHEAF_EMBEDDER_MODEL", "small")
	n := newNotes(t)
	for i := range 20 {
		n.write(t, fmt.Sprintf("n%d.md", i), fmt.Sprintf("# Note %d\n\nwords of %d\n", i, i))
	}
	c := startCrashing(t, n)
	given := map[string]string{
		"api:text.md": `{"text":"---\ntags: [own]\n---\n# T\n\ngiven ` +
			`words\n","title":"Text","access":["user:ann"],"properties":{"by":"Ann"}}`,
		"api:cut.md": `{"title":"Cut","chunks":[{"slug":"a","title":"A","text":"first ` +
			`given"},{"slug":"b","text":"second given"}]}`,
	}
	for id, body := range given {
		c.send(t, http.MethodPut, "/v1/documents/"+id, id, body)
	}
	shown := func(c *crashing) string {
		t.Helper()
		all := ""
		for _, id := range []string{"api:text.md", "api:cut.md"} {
			all += page(t, c.address+"/v1/documents/"+id)
		}
		return all
	}
	before := shown(c)
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
	must.Do(t, readAsBy(n.index, "0"))
	check.Contains(t, n.run(t, "check"), "an older version of sheaf read 23 of 23 documents", ": 0 faults")
	embedded := texts.Load()
	c = startCrashing(t, n)
	waitFor(t, c.address+"/v1/status", func(_ int, body string) bool { return !strings.Contains(body, "older version") })
	after := shown(c)
	check.That(t, after == before, "what was given was\n%s\nand is\n%s", before, after)
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
	if n := texts.Load() - embedded; n != 0 {
		t.Errorf("%d texts are embedded again", n)
	}
	got := n.run(t, "check")
	check.That(t, !strings.Contains(got, "version") && strings.Contains(got, ": 0 faults"), "then check says %s", got)
	got = n.run(t, "ls")
	check.That(t, !strings.Contains(got, "Otherwise") && strings.Count(got, "\n") >= 21, "there are %s", got)
	// A search that remakes a damaged index also keeps the settings of given documents.
	must.Do(t, os.Remove(filepath.Join(location.EngineDir(n.index), manifest.Name)))
	check.Contains(t, n.run(t, "search", "by:Ann"), "text.md", "made again")
	c = startCrashing(t, n)
	after = shown(c)
	check.That(t, after == before, "made anew, what was given was\n%s\nand is\n%s", before, after)
}

// TestKilledReread checks that killing a program that rereads documents damages and loses nothing.
// The next program goes on.
func TestKilledReread(t *testing.T) {
	must.Whole(t, "takes seconds")
	n := newNotes(t)
	for i := range 300 {
		n.write(t, fmt.Sprintf("n%d.md", i),
			fmt.Sprintf("# Note %d\n\nwords of [[n%d]]\n\n## More\n\n%s\n", i, i+1, strings.Repeat("more words ", i)))
	}
	n.run(t, "index")
	all := func() string { return n.run(t, "ls", "--json") }
	want := all()
	stopped := 0
	for round := range 12 {
		must.Do(t, readAsBy(n.index, "0"))
		cmd := exec.Command("sheaf", "search", "words", "--in", n.folder, "--index", n.index)
		must.Do(t, cmd.Start())
		time.Sleep(time.Duration(round*round) * 2 * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		got := n.run(t, "check")
		check.That(t, strings.Contains(got, ": 301 documents, 901 chunks: 0 faults"), "round %d: check says %s", round, got)
		if strings.Contains(got, "older version") {
			stopped++
		}
		n.run(t, "search", "words")
		got = all()
		check.That(t, got == want, "round %d: there are\n%s\nand were\n%s", round, got, want)
	}
	check.Lacks(t, n.run(t, "check"), "older version")
	t.Logf("%d of 12 were stopped before their end", stopped)
}
