package ingest

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// runsOf returns the times of a watch's runs since its start, on a fake clock, while play sends events. Each run
// takes cost.
func runsOf(t *testing.T, cost time.Duration, polls bool, play func(send func())) []time.Duration {
	t.Helper()
	var runs []time.Duration
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		began := time.Now()
		w := watch{events: make(chan struct{}), polls: polls,
			run: func() error { runs = append(runs, time.Since(began)); time.Sleep(cost); return nil }}
		done := make(chan struct{})
		go func() { w.runUntil(ctx); close(done) }()
		synctest.Wait()
		play(func() { w.events <- struct{}{} })
		stop()
		<-done
	})
	return runs
}

// TestWatchTimes checks that a saved file is indexed quietTime after its last event, or patience after the first.
// Both leave most of a second for the run.
func TestWatchTimes(t *testing.T) {
	const cost = 100 * time.Millisecond
	check.That(t, quietTime+cost <= time.Second/4 && patience+2*cost <= 3*time.Second/4,
		"a saved note waits %v, at most %v", quietTime, patience)
	for _, c := range []struct {
		name  string
		polls bool
		play  func(send func())
		want  []time.Duration
	}{
		{"a save", false, func(send func()) {
			time.Sleep(time.Second)
			for range 4 { // create, write, rename, remove
				send()
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(time.Second)
		}, []time.Duration{0, time.Second + 30*time.Millisecond + quietTime}},
		{"a save during a run", false, func(send func()) {
			send() // the watch receives it when the first run ends
			time.Sleep(time.Second)
		}, []time.Duration{0, cost + quietTime}},
		{"events without end", false, func(send func()) {
			time.Sleep(time.Second)
			for range 60 {
				send()
				time.Sleep(10 * time.Millisecond)
			}
		}, []time.Duration{0, time.Second + patience}},
		{"no events", false, func(func()) { time.Sleep(rescan + cost + time.Second) }, []time.Duration{0, cost + rescan}},
		{"no events, on a network drive", true, func(func()) { time.Sleep(3500 * time.Millisecond) },
			[]time.Duration{0, cost + 19*cost}},
	} {
		check.List(t, runsOf(t, cost, c.polls, c.play), c.want, "%s: times of runs", c.name)
	}
	check.Equal(t, len(runsOf(t, time.Millisecond, true, func(func()) { time.Sleep(1100 * time.Millisecond) })), 3,
		"runs over a small folder on a network drive, one every %v", poll)
}

// TestWatchRepeatsFailedRun checks that Watch soon repeats a failed run, for example after a full disk. It does not
// wait for the next change.
func TestWatchRepeatsFailedRun(t *testing.T) {
	for _, fault := range []error{sheaf.ErrUnavailable, fs.ErrNotExist, syscall.ENOSPC, syscall.EMFILE, fs.ErrPermission} {
		t.Run(fault.Error(), func(t *testing.T) { watchWaits(t, fault) })
	}
}

func watchWaits(t *testing.T, fault error) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		runs := 0
		w := watch{run: func() error {
			if runs++; runs < 5 {
				return fmt.Errorf("it stands in the way: %w", fault)
			}
			return nil
		}}
		done := make(chan struct{})
		go func() { w.runUntil(ctx); close(done) }()
		time.Sleep(4*poll + rescan/2)
		synctest.Wait()
		check.Equal(t, runs, 5, "runs")
		stop()
		<-done
	})
}

// TestLastingFaultIsReportedOnce checks that a lasting fault is reported once, though each run finds it at another
// file.
func TestLastingFaultIsReportedOnce(t *testing.T) {
	at := func(name string, err error) error {
		return fmt.Errorf("update %s: %w", filepath.Dir(name), &fs.PathError{Op: "write", Path: name, Err: err})
	}
	from := func(port int) error {
		return fmt.Errorf("%w: %w", sheaf.ErrUnavailable,
			&net.OpError{Op: "read", Net: "tcp", Source: &net.TCPAddr{IP: net.IPv6loopback, Port: port},
				Err: os.NewSyscallError("read", syscall.ECONNRESET)})
	}
	for _, c := range []struct {
		name      string
		one, next error
		same      bool
	}{
		{"none", nil, nil, true},
		{"the same", sheaf.ErrUnavailable, sheaf.ErrUnavailable, true},
		{"another file", at("engine/1.seg", syscall.ENOSPC), at("engine/2.seg", syscall.ENOSPC), true},
		{"another folder", at("engine/1.seg", syscall.ENOSPC), at("catalog/MANIFEST.tmp", syscall.ENOSPC), true},
		{"another name", &os.LinkError{Op: "rename", Old: "1.tmp", New: "1.seg", Err: syscall.EIO},
			&os.LinkError{Op: "rename", Old: "2.tmp", New: "2.seg", Err: syscall.EIO}, true},
		{"another connection", from(40001), from(40002), true},
		{"no number of the system", &fs.PathError{Op: "read", Path: "1.seg", Err: fs.ErrClosed},
			&fs.PathError{Op: "read", Path: "2.seg", Err: fs.ErrClosed}, true},
		{"another fault", at("engine/1.seg", syscall.ENOSPC), at("engine/1.seg", syscall.EIO), false},
		{"over", at("engine/1.seg", syscall.ENOSPC), nil, false},
	} {
		check.Equal(t, faultOf(c.one) == faultOf(c.next), c.same, "%s: %v after %v is the same", c.name, c.next, c.one)
	}
}

// TestWatchLinks checks that all folders of a walk are watched, also if the root is a link. If
// links are followed, so are their folders, subfolders and files, but none that a rule excludes.
// Otherwise nothing behind a link is.
func TestWatchLinks(t *testing.T) {
	out := must.Get(filepath.EvalSymlinks(t.TempDir()))
	notes := filepath.Join(out, "notes")
	for _, dir := range []string{filepath.Join(notes, "own"), filepath.Join(out, "folder", "deep"),
		filepath.Join(out, "second"), filepath.Join(out, "files"), filepath.Join(out, "left", "out")} {
		must.Do(t, os.MkdirAll(dir, 0o755))
	}
	for name, text := range map[string]string{filepath.Join(out, "files", "a.md"): "a",
		filepath.Join(notes, ".sheafignore"): "left\n"} {
		must.Do(t, os.WriteFile(name, []byte(text), 0o600))
	}
	root := filepath.Join(out, "root")
	for link, target := range map[string]string{
		root:                                  notes,
		filepath.Join(notes, "folder"):        filepath.Join(out, "folder"),
		filepath.Join(out, "folder", "next"):  filepath.Join(out, "second"),
		filepath.Join(out, "second", "again"): notes, // a cycle
		filepath.Join(notes, "a.md"):          filepath.Join(out, "files", "a.md"),
		filepath.Join(notes, "nowhere"):       filepath.Join(out, "nowhere"),
		filepath.Join(notes, ".git"):          filepath.Join(out, "files"),
		filepath.Join(notes, "left"):          filepath.Join(out, "left"),
	} {
		if err := os.Symlink(target, link); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	for links, want := range map[bool][]string{
		false: {notes, filepath.Join(notes, "own")},
		true: {notes, filepath.Join(notes, "own"), filepath.Join(out, "folder"), filepath.Join(out, "folder", "deep"),
			filepath.Join(out, "second"), filepath.Join(out, "files")},
	} {
		w, err := fsnotify.NewWatcher()
		if err != nil {
			t.Skipf("the system does not tell of changes: %v", err)
		}
		f := watchFindings{watch: w.Add, whole: map[string]bool{}, files: map[string]bool{}, silent: map[string]bool{}}
		_, err = NewWalk(t.Context(), root, WalkOptions{FollowLinks: links, watch: f.add})
		if err != nil || f.end(true) != "" {
			t.Errorf("%v, unseen %q", err, f.end(true))
		}
		got := w.WatchList()
		slices.Sort(got)
		slices.Sort(want)
		check.List(t, got, want, "links %v: watched folders", links)
		for path, matters := range map[string]bool{
			filepath.Join(notes, "new.md"):           true,
			filepath.Join(out, "files", "a.md"):      links,
			filepath.Join(out, "files", "busy.log"):  false, // next to the file of a link
			filepath.Join(out, "second", "other.md"): links,
		} {
			check.Equal(t, f.matters(path), matters, "links %v: an event of %s matters", links, path)
		}
		must.Do(t, w.Close())
	}
}

// TestWatchOuterIgnores checks that Watch watches the ignore files above a folder, existing or not,
// and no other file beside them.
func TestWatchOuterIgnores(t *testing.T) {
	top := must.Get(filepath.EvalSymlinks(t.TempDir()))
	info, root := filepath.Join(top, ".git", "info"), filepath.Join(top, "doc", "notes")
	for _, dir := range []string{info, root} {
		must.Do(t, os.MkdirAll(dir, 0o755))
	}
	var got []string
	f := watchFindings{watch: func(dir string) error { got = append(got, dir); return nil }, whole: map[string]bool{},
		files: map[string]bool{}, silent: map[string]bool{}}
	must.Get(NewWalk(t.Context(), root, WalkOptions{watch: f.add}))
	slices.Sort(got)
	got = slices.Compact(got)
	want := []string{top, info, filepath.Dir(root), root}
	check.That(t, slices.Equal(got, want), "watched are %q, want %q", got, want)
	for path, matters := range map[string]bool{
		filepath.Join(info, "exclude"):                 true,
		filepath.Join(top, ".gitignore"):               true,
		filepath.Join(top, "doc", ".sheafignore"):      true,
		filepath.Join(top, "doc", ".gitignore"):        true,
		filepath.Join(top, "README.md"):                false,
		filepath.Join(top, "doc", "other.md"):          false,
		filepath.Join(filepath.Dir(top), ".gitignore"): false,
		filepath.Join(info, "exclude.lock"):            false,
		filepath.Join(top, "doc", "notes", "new.md"):   true,
	} {
		check.Equal(t, f.matters(path), matters, "an event of %s matters", path)
	}
}

// TestWatchAgainEndsRepeatedRuns checks that a folder which can be watched again no longer causes repeated runs.
func TestWatchAgainEndsRepeatedRuns(t *testing.T) {
	root := t.TempDir()
	var fault error
	f := watchFindings{watch: func(string) error { return fault }, whole: map[string]bool{}, files: map[string]bool{},
		silent: map[string]bool{}}
	for i, want := range []error{nil, fs.ErrPermission, syscall.ENOSPC, nil} {
		fault = want
		before := f.unseen
		f.begin()
		check.That(t, f.end(false) == before, "walk %d: what comes before it, and walks nothing, changes what is known", i+1)
		f.begin()
		_, err := NewWalk(t.Context(), root, WalkOptions{watch: f.add})
		if err != nil || (f.end(true) != "") != (want != nil) {
			t.Errorf("walk %d: %v, unseen %q, want it for %v", i+1, err, f.end(true), want)
		}
		check.Equal(t, strings.Contains(f.unseen, "max_user_watches"), want == syscall.ENOSPC,
			"walk %d: advice in %q for %v", i+1, f.unseen, want)
	}
}

// TestWatchForbidden checks that a folder without permission causes no repeated runs if its parent
// reports changes of rights.
func TestWatchForbidden(t *testing.T) {
	top := t.TempDir()
	for below, want := range map[string]bool{"root/sub": false, "root": true, "linked": true} {
		forbidden := filepath.Join(top, below)
		f := watchFindings{watch: func(folder string) error {
			if folder == forbidden {
				return fs.ErrPermission
			}
			return nil
		}, whole: map[string]bool{}, files: map[string]bool{}, silent: map[string]bool{}}
		f.begin()
		for _, folder := range []string{"root", "root/sub", "linked"} { // in the order of a walk
			f.add(filepath.Join(top, folder), true)
		}
		check.Equal(t, f.end(true) != "", want, "%s may not be looked into", below)
	}
}

// TestFolderDisappearsDuringWalk checks that a folder which disappears during a walk counts as missing. Its files
// were not removed.
func TestFolderDisappearsDuringWalk(t *testing.T) {
	top := t.TempDir()
	root := filepath.Join(top, "root")
	must.Do(t, os.MkdirAll(filepath.Join(root, "sub"), 0o755))
	_, err := NewWalk(t.Context(), root, WalkOptions{watch: func(path string, isDir bool) {
		if isDir && filepath.Base(path) == "sub" {
			if err := os.Rename(root, root+" away"); err != nil {
				t.Error(err)
			}
		}
	}})
	check.Is(t, err, fs.ErrNotExist, "walk")
}

// TestWatchSwappedFolders checks that after two folders swap their names, Watch still finds changes
// in their subfolders at once.
func TestWatchSwappedFolders(t *testing.T) {
	root := t.TempDir()
	at := func(names ...string) string { return filepath.Join(append([]string{root}, names...)...) }
	// save writes a text of a new length each time; the length identifies the file.
	length, lengths := int64(0), map[string]int64{}
	save := func(folder string) {
		text := fmt.Appendf(nil, "# A\n\nalpha %0*d\n", length, 0)
		length++
		lengths[folder] = int64(len(text))
		must.Do(t, os.WriteFile(at(folder, "sub", "a.md"), text, 0o600))
	}
	for _, folder := range []string{"old", "new"} {
		must.Do(t, os.MkdirAll(at(folder, "sub"), 0o755))
		save(folder)
	}
	o := emptyIndex(t, root)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- Watch(ctx, o, func(_ *Report, err error) {
			check.That(t, err == nil, "%v", err)
		})
	}()
	indexed := func() bool {
		view := o.Catalog.View()
		defer view.Close()
		for folder, length := range lengths {
			if state, ok, err := view.File(sheaf.DocumentID("t", folder+"/sub/a.md")); err != nil || !ok ||
				state.Size != length {
				return false
			}
		}
		return true
	}
	wait := func(what string) {
		t.Helper()
		for late := time.Now().Add(rescan / 3); !indexed(); time.Sleep(10 * time.Millisecond) {
			must.That(t, !time.Now().After(late), "%s: not all is indexed", what)
		}
	}
	wait("the first run")
	for _, names := range [][2]string{{"old", "between"}, {"new", "old"}, {"between", "new"}} {
		must.Do(t, os.Rename(at(names[0]), at(names[1])))
	}
	lengths["old"], lengths["new"] = lengths["new"], lengths["old"]
	wait("renamed")
	for _, folder := range []string{"old", "new", "old", "new"} {
		save(folder)
		wait("saved in " + folder)
	}
	stop()
	must.Do(t, <-ended)
}
