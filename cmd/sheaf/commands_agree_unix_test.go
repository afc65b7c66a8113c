//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/internal/must"
)

// agreeing is a random folder, its index and what the commands must report about it.
type agreeing struct {
	t      *testing.T
	binary string
	root   string
	data   string
	// documents and skipped follow the rules, by path. For the reasons "ignored" and "skipped
	// folder", rules holds the rule.
	documents map[string]bool
	skipped   map[string]string
	rules     map[string]string
}

// TestCommandsAgree compares index, status, ls and chunks on a random folder. All report the same documents and the
// same skipped files with reasons, in a first run and without changes. Afterwards no file waits for indexing.
func TestCommandsAgree(t *testing.T) {
	binary := must.Get(exec.LookPath("sheaf"))
	rounds := uint64(8)
	if testing.Short() {
		rounds = 2
	}
	for seed := range rounds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			a := &agreeing{t: t, binary: binary, root: t.TempDir(), data: t.TempDir(), documents: map[string]bool{},
				skipped: map[string]string{}, rules: map[string]string{}}
			a.open()
			a.fill(rand.New(rand.NewPCG(seed, 9)))
			a.compare("first run")
			a.compare("nothing changed")
		})
	}
}

// open gives the user of the command access to the program and the folders.
func (a *agreeing) open() {
	if !canBeNobody() || os.Geteuid() != 0 {
		return
	}
	must.Do(a.t, os.Chmod(a.data, 0o777))
	must.Do(a.t, letIn(a.root, filepath.Dir(a.binary)))
}

// fill makes files of every kind in folders of every kind.
func (a *agreeing) fill(r *rand.Rand) {
	a.write(".gitignore", "*.tmp.md\nbuild/\n")
	a.write("deep/.sheafignore", "# comments count as lines\nprivate*\n")
	a.rules[".gitignore"], a.rules["deep/.sheafignore"] = "unsupported type", "unsupported type"
	folders := []string{"", "deep/", "deep/down/", ".hidden/", "Ünï/"}
	for i := range 40 {
		folder := folders[r.IntN(len(folders))]
		name := fmt.Sprintf("%s%d", folder, i)
		switch r.IntN(16) {
		case 0:
			a.leave(name+".md", "binary", strings.Repeat("\x00\x01\x02", 1+r.IntN(1000)))
		case 1:
			a.leave(name+".md", "empty", "")
		case 2:
			a.leave(name+".md", "empty", strings.Repeat(" \n", 1+r.IntN(5)))
		case 3:
			a.leave(name+".md", "too large", strings.Repeat("x", 5000))
		case 4:
			a.leave(name+".PNG", "unsupported type", "png")
		case 5:
			a.hide(name+".tmp.md", name+".tmp.md", "ignored .gitignore:1: *.tmp.md")
		case 6:
			a.hide(fmt.Sprintf("deep/private%d.md", i), fmt.Sprintf("deep/private%d.md", i),
				"ignored deep/.sheafignore:2: private*")
		case 7:
			a.hide(folder+"build/x/n.md", folder+"build/", "ignored .gitignore:2: build/")
		case 8:
			a.hide(folder+"node_modules/x/n.md", folder+"node_modules/", "skipped folder")
		case 9:
			repository := fmt.Sprintf("%s%d/", folder, i)
			a.hide(repository+".git/HEAD", repository+".git/", "skipped folder")
			a.write(repository+"n.tmp.md", "# Note\n\nwords\n")
			a.documents[repository+"n.tmp.md"] = true // a repository ends the effect of git rules from above
		case 10:
			a.hide(folder+".DS_Store", folder+".DS_Store", "unsupported type")
		case 11:
			to := []string{"nowhere", a.root, "."}[r.IntN(3)]
			a.special(name+"-link.md", "symbolic link", func(full string) error { return os.Symlink(to, full) })
		case 12:
			a.special(name+".md", "not a regular file", func(full string) error { return syscall.Mkfifo(full, 0o644) })
		case 13:
			a.unreadable(name + ".md")
		default:
			a.write(name+".md", fmt.Sprintf("# Note %d\n\nwords\n", i))
			a.documents[name+".md"] = true
		}
	}
}

// write makes a file. Every third file keeps its fresh modification time, which cannot show later
// changes.
func (a *agreeing) write(path, text string) {
	a.t.Helper()
	full := filepath.Join(a.root, filepath.FromSlash(path))
	must.Do(a.t, errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)))
	if len(path)%3 > 0 {
		past := time.Now().Add(-time.Hour)
		must.Do(a.t, os.Chtimes(full, past, past))
	}
}

func (a *agreeing) leave(path, reason, text string) {
	a.write(path, text)
	a.skipped[path] = reason
}

// hide makes a file that a rule skips, together with its folder.
func (a *agreeing) hide(path, said, why string) {
	a.write(path, "# Hidden\n\nwords\n")
	a.rules[said] = why
}

// special makes a file that is not regular.
func (a *agreeing) special(path, reason string, make func(full string) error) {
	full := filepath.Join(a.root, filepath.FromSlash(path))
	must.Do(a.t, errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), make(full)))
	a.skipped[path] = reason
}

func (a *agreeing) unreadable(path string) {
	a.write(path, "# Secret\n\nwords\n")
	if os.Geteuid() == 0 && !canBeNobody() {
		a.documents[path] = true // root may read everything
		return
	}
	must.Do(a.t, os.Chmod(filepath.Join(a.root, filepath.FromSlash(path)), 0))
	a.skipped[path] = "cannot be read"
}

// run runs the command and decodes its output. The exit status must be in ok.
func (a *agreeing) run(to any, ok []int, args ...string) (stdout, stderr string) {
	a.t.Helper()
	cmd := unprivilegedCommand(a.binary, a.data, args...)
	cmd.Env = append(cmd.Env, "SHEAF_MAX_FILE_SIZE=4KB")
	stdout, stderr = finished(a.t, cmd, ok...)
	if to != nil {
		if err := json.Unmarshal([]byte(stdout), to); err != nil {
			a.t.Fatalf("%v: %v in %s", args, err, stdout)
		}
	}
	return stdout, stderr
}

// unprivilegedCommand returns a command that runs in the folder home and keeps its data there. As root, the test runs
// the command as the user nobody if possible, because root may read every file.
func unprivilegedCommand(binary, home string, args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	if canBeNobody() {
		asNobody(cmd)
	}
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home+"/data", "XDG_CONFIG_HOME="+home+"/config",
		"XDG_STATE_HOME="+home+"/state", "GORACE=atexit_sleep_ms=0")
	return cmd
}

// finished runs a program to its end and returns its output. The exit status must be in ok.
func finished(t *testing.T, cmd *exec.Cmd, ok ...int) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the exit status is checked below
	if s := cmd.ProcessState; s == nil || !slices.Contains(ok, s.ExitCode()) {
		t.Fatalf("%v ended with %v:\n%s%s", cmd.Args, s, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

func (a *agreeing) compare(when string) {
	a.t.Helper()
	var index indexJSON
	var status statusJSON
	var list struct{ Documents []documentJSON }
	a.run(&index, []int{0}, "index", "--json", a.root)
	a.run(&status, []int{0}, "status", "--json", "--in", a.root)
	a.run(&list, []int{0}, "ls", "--json", "--in", a.root)
	chunks, left := a.run(nil, []int{0, 6}, "chunks", "--json", a.root)

	bytes, listed, cut := int64(0), map[string]bool{}, map[string]bool{}
	for _, d := range list.Documents {
		listed[d.Path] = true
		bytes += d.Bytes
	}
	for line := range strings.Lines(chunks) {
		var c struct{ Doc sheaf.ID }
		must.Do(a.t, json.Unmarshal([]byte(line), &c))
		cut[c.Doc.Path()] = true
	}
	a.same(when+": ls", listed, a.documents)
	a.same(when+": chunks", cut, a.documents)
	if status.Documents != len(a.documents) || index.Added+index.Same != len(a.documents) || status.SourceBytes != bytes {
		a.t.Errorf("%s: %d documents of %d bytes in ls, status says %d of %d, index %d added and %d unchanged", when,
			len(listed), bytes, status.Documents, status.SourceBytes, index.Added, index.Same)
	}
	if p := status.Pending; p.New+p.Changed+p.Removed > 0 {
		a.t.Errorf("%s: waiting: %s", when, p)
	}
	a.same(when+": index leaves out", reasonsOf(index.Skipped), a.skipped)
	a.same(when+": status leaves out", reasonsOf(status.Skipped), a.skipped)
	if n := strings.Count(left, "note: left out: "); n != min(len(a.skipped), statusLines) {
		a.t.Errorf("%s: chunks leaves out %d files of %d:\n%s", when, n, len(a.skipped), left)
	}
	rules := map[string]string{}
	for _, k := range status.Ignored {
		rules[k.Path] = k.Reason
		if k.Reason == "ignored" {
			rules[k.Path] += " " + k.Detail
		}
	}
	a.same(when+": status, by rules", rules, a.rules)
	if status.IgnoredTotal != len(a.rules) {
		a.t.Errorf("%s: %d by rules, want %d", when, status.IgnoredTotal, len(a.rules))
	}
	out, _ := a.run(nil, []int{0}, "status", "--all", "--in", a.root)
	for path, reason := range a.skipped {
		if !strings.Contains(out, "  "+path+": "+reason) {
			a.t.Errorf("%s: status --all does not list %s: %s", when, path, reason)
		}
	}
	for path := range a.rules {
		if !strings.Contains(out, "  "+path+": ") {
			a.t.Errorf("%s: status --all does not list %s", when, path)
		}
	}
}

func reasonsOf(skipped []collection.Skip) map[string]string {
	reasons := map[string]string{}
	for _, k := range skipped {
		reasons[k.Path] = k.Reason
	}
	return reasons
}

// same compares maps as JSON, because JSON sorts by key.
func (a *agreeing) same(what string, got, want any) {
	a.t.Helper()
	g, errG := json.MarshalIndent(got, "", " ")
	w, errW := json.MarshalIndent(want, "", " ")
	if errG != nil || errW != nil || !bytes.Equal(g, w) {
		a.t.Errorf("%s:\n%s\nwant:\n%s", what, g, w)
	}
}
