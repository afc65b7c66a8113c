package ingest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"sheaf"
)

// runsOf has a watch run on a clock of its own while play sends it events, and
// gives the times of its runs since the beginning; each takes cost.
func runsOf(t *testing.T, cost time.Duration, polls bool, play func(send func(op fsnotify.Op))) []time.Duration {
	t.Helper()
	var runs []time.Duration
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		began := time.Now()
		w := watch{events: make(chan fsnotify.Event), faults: make(chan error), follow: func(string) bool { return true }, polls: polls,
			run: func() error { runs = append(runs, time.Since(began)); time.Sleep(cost); return nil }}
		done := make(chan struct{})
		go func() { w.until(ctx); close(done) }()
		synctest.Wait()
		play(func(op fsnotify.Op) { w.events <- fsnotify.Event{Name: "a.md", Op: op} })
		stop()
		<-done
	})
	return runs
}

// A saved note is indexed settle after the last of its events, and patience after
// the first when events do not end: both leave most of a second to the run.
func TestWatchTimes(t *testing.T) {
	const cost = 100 * time.Millisecond
	if settle+cost > time.Second/4 || patience+2*cost > 3*time.Second/4 {
		t.Errorf("a saved note waits %v, at most %v", settle, patience)
	}
	for _, c := range []struct {
		name  string
		polls bool
		play  func(send func(op fsnotify.Op))
		want  []time.Duration
	}{
		{"a save", false, func(send func(op fsnotify.Op)) {
			time.Sleep(time.Second)
			for _, op := range []fsnotify.Op{fsnotify.Create, fsnotify.Write, fsnotify.Rename, fsnotify.Remove} {
				send(op)
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(time.Second)
		}, []time.Duration{0, time.Second + 30*time.Millisecond + settle}},
		{"a save during a run", false, func(send func(op fsnotify.Op)) {
			send(fsnotify.Write) // it is taken when the first run ends
			time.Sleep(time.Second)
		}, []time.Duration{0, cost + settle}},
		{"events without end", false, func(send func(op fsnotify.Op)) {
			time.Sleep(time.Second)
			for range 60 {
				send(fsnotify.Write)
				time.Sleep(10 * time.Millisecond)
			}
		}, []time.Duration{0, time.Second + patience}},
		{"a change of rights alone", false, func(send func(op fsnotify.Op)) {
			send(fsnotify.Chmod)
			time.Sleep(10 * time.Second)
		}, []time.Duration{0}},
		{"no events", false, func(func(op fsnotify.Op)) { time.Sleep(rescan + cost + time.Second) }, []time.Duration{0, cost + rescan}},
		{"no events, on a network drive", true, func(func(op fsnotify.Op)) { time.Sleep(3500 * time.Millisecond) },
			[]time.Duration{0, cost + 19*cost}},
	} {
		if runs := runsOf(t, cost, c.polls, c.play); !slices.Equal(runs, c.want) {
			t.Errorf("%s: runs at %v, want %v", c.name, runs, c.want)
		}
	}
	if runs := runsOf(t, time.Millisecond, true, func(func(op fsnotify.Op)) { time.Sleep(1100 * time.Millisecond) }); len(runs) != 3 {
		t.Errorf("a small folder on a network drive: runs at %v, want one every %v", runs, poll)
	}
}

// Events that were lost are made good soon.
func TestWatchFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		runs := 0
		w := watch{faults: make(chan error), run: func() error { runs++; return nil }}
		done := make(chan struct{})
		go func() { w.until(ctx); close(done) }()
		synctest.Wait()
		w.faults <- fsnotify.ErrEventOverflow
		time.Sleep(settle)
		synctest.Wait()
		if runs != 2 {
			t.Errorf("%d runs after events were lost, want 2", runs)
		}
		stop()
		<-done
	})
}

// While another process writes the index, looks follow each other until one may
// write: what it found is not left until the next change.
func TestWatchWaitsForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		runs := 0
		w := watch{run: func() error {
			if runs++; runs < 5 {
				return fmt.Errorf("%w: locked", sheaf.ErrUnavailable)
			}
			return nil
		}}
		done := make(chan struct{})
		go func() { w.until(ctx); close(done) }()
		time.Sleep(4*poll + rescan/2)
		synctest.Wait()
		if runs != 5 {
			t.Errorf("%d runs, want 4 that found it locked and 1", runs)
		}
		stop()
		<-done
	})
}

// Where links are followed, what they lead to is watched: folders with those below
// them, links in them too, and the folder of a file; where they are not, nothing is.
func TestWatchLinks(t *testing.T) {
	out, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(out, "notes")
	for _, dir := range []string{filepath.Join(root, "own"), filepath.Join(out, "folder", "deep"), filepath.Join(out, "second"), filepath.Join(out, "files")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(out, "files", "a.md"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		filepath.Join(root, "folder"):         filepath.Join(out, "folder"),
		filepath.Join(out, "folder", "next"):  filepath.Join(out, "second"),
		filepath.Join(out, "second", "again"): root, // a circle
		filepath.Join(root, "a.md"):           filepath.Join(out, "files", "a.md"),
		filepath.Join(root, "nowhere"):        filepath.Join(out, "nowhere"),
		filepath.Join(root, ".git"):           filepath.Join(out, "files"),
	} {
		if err := os.Symlink(target, link); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	for links, want := range map[bool][]string{
		false: {root, filepath.Join(root, "own")},
		true:  {root, filepath.Join(root, "own"), filepath.Join(out, "folder"), filepath.Join(out, "folder", "deep"), filepath.Join(out, "second"), filepath.Join(out, "files")},
	} {
		w, err := fsnotify.NewWatcher()
		if err != nil {
			t.Skipf("the system does not tell of changes: %v", err)
		}
		if err := watchFolders(w, root, links, map[string]bool{}); err != nil {
			t.Error(err)
		}
		got := w.WatchList()
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("links %v: watched are %q, want %q", links, got, want)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}
