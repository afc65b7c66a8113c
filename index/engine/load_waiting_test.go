package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"sheaf"
	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/text/analysis"
)

// untilWaits returns when a goroutine in the function has the given state of the runtime, or when ended returns true.
func untilWaits(function, state string, ended func() bool) {
	stacks := make([]byte, 1<<20)
	for !ended() {
		for _, one := range strings.Split(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
			head, calls, _ := strings.Cut(one, "\n")
			if strings.Contains(head, "["+state) && strings.Contains(calls, function) {
				return
			}
		}
		runtime.Gosched()
	}
}

// pausedLoad is a load with two workers. One goroutine writes the data of both and waits until goOn
// is closed.
type pausedLoad struct {
	*Load
	idle   *worker // no goroutine uses it; it holds the chunk "x"
	goOn   chan struct{}
	adding errgroup.Group
}

func pauseLoad(t *testing.T) *pausedLoad {
	a := must.Get(analysis.New(analysis.Options{}))
	before := runtime.GOMAXPROCS(2)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	p := &pausedLoad{goOn: make(chan struct{})}
	writing := make(chan struct{})
	var loading atomic.Bool
	disk := &vfs.Faulty{FS: vfs.Disk{}, Fail: func(vfs.Op, string) error {
		if loading.CompareAndSwap(true, false) {
			close(writing)
			<-p.goOn
		}
		return nil
	}}
	_, p.Load = testLoad(t, Options{FS: disk, Dir: t.TempDir(), Analyzer: a, Fields: testFields, Memory: 4 << 20,
		MergeRate: NoMerges})
	p.idle = must.Get(p.take(t.Context()))
	used := must.Get(p.take(t.Context()))
	p.putBack(p.idle)
	must.Do(t, p.add(t.Context(), "x"))
	must.Get(p.take(t.Context()))
	p.putBack(used)
	loading.Store(true)
	p.adding.Go(func() error {
		for i := 0; loading.Load(); i++ {
			if err := p.add(t.Context(), fmt.Sprint("a", i)); err != nil {
				return err
			}
		}
		return nil
	})
	<-writing
	return p
}

func (p *pausedLoad) add(ctx context.Context, id string) error {
	return p.Add(ctx, nil, []Chunk{{ID: id, Doc: id,
		Fields:  []FieldText{{"body", strings.Repeat("some words of a text ", 100)}},
		Columns: []Column{{"of", []sheaf.Value{sheaf.TextValue(id)}}}}})
}

// TestLoadWhileWriting checks that Add waits while another goroutine writes the chunks of all
// workers. It waits no longer than its context, and changes nothing that is being written.
func TestLoadWhileWriting(t *testing.T) {
	p := pauseLoad(t)
	p.putBack(p.idle)
	ctx, cancel := context.WithCancel(t.Context())
	var ended atomic.Bool
	waited := make(chan error, 1)
	go func() {
		waited <- p.add(ctx, "b")
		ended.Store(true)
	}()
	untilWaits("engine.(*Load).turn", "select", ended.Load)
	if ended.Load() {
		t.Fatalf("nobody waited: %v", <-waited)
	}
	check.That(t, len(p.idle.columns) != 0, "the columns of a worker that is written are cleared")
	cancel()
	check.Is(t, <-waited, context.Canceled, "a goroutine that waited")
	close(p.goOn)
	must.Do(t, errors.Join(p.adding.Wait(), p.add(t.Context(), "c"), p.Commit(t.Context())))
}

// TestCloseWhileWriting checks that Close frees no memory while another goroutine writes it.
func TestCloseWhileWriting(t *testing.T) {
	p := pauseLoad(t)
	p.putBack(p.idle)
	var ended atomic.Bool
	closed := make(chan error, 1)
	go func() {
		closed <- p.Close()
		ended.Store(true)
	}()
	untilWaits("engine.(*Load).Close", "sync.Mutex.Lock", ended.Load)
	check.That(t, !p.idle.builder.Empty(), "the chunks of a worker that is written are gone")
	close(p.goOn)
	must.Do(t, errors.Join(p.adding.Wait(), <-closed))
	check.Is(t, p.add(t.Context(), "late"), ErrClosed, "a chunk after Close")
}

// TestCloseWhileAddWaits closes a load while an Add waits for chunks that others added. It checks
// that the Add takes no memory then, since no call would free it.
func TestCloseWhileAddWaits(t *testing.T) {
	p := pauseLoad(t)
	close(p.goOn)
	must.Do(t, p.adding.Wait())
	must.Get(p.take(t.Context()))
	for _, w := range p.all[1:] {
		p.putBack(w)
	}
	var ended atomic.Bool
	var together errgroup.Group
	p.all[0].mu.Lock()
	together.Go(func() error {
		defer ended.Store(true)
		return p.Close()
	})
	untilWaits("engine.(*Load).Close", "sync.Mutex.Lock", ended.Load)
	added := make(chan error, 1)
	go func() { added <- p.add(t.Context(), "x") }()
	untilWaits("engine.(*Load).forget", "sync.Mutex.Lock", ended.Load)
	p.all[0].mu.Unlock()
	must.Do(t, together.Wait())
	check.Is(t, <-added, ErrClosed, "a chunk of a load that was closed meanwhile")
	for i, w := range p.all {
		check.That(t, w.builder.Empty(), "worker %d holds chunks", i)
	}
}
