package main

import (
	"errors"
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"sheaf/ingest"
)

// Much garbage in a short time gets room for longer than the little that a quiet server
// makes, within bounds, and not at once.
func TestRoomForGarbage(t *testing.T) {
	const mb = 1 << 20
	for name, c := range map[string]struct {
		used, made uint64
		in         time.Duration
		most       uint64
		want       int
	}{
		"quiet":                    {80 * mb, 240 * mb, time.Hour, 1000 * mb, serveGarbage},
		"much":                     {80 * mb, 400 * mb, 4 * time.Second, 1000 * mb, 750},
		"at most twice as much":    {80 * mb, 240 * mb, time.Second, 10000 * mb, 600},
		"as much as there is room": {80 * mb, 800 * mb, time.Second, 400 * mb, 500},
		"no room":                  {80 * mb, 800 * mb, time.Second, 0, serveGarbage},
		"large":                    {1000 * mb, 3000 * mb, time.Second, 1000 * mb, serveGarbage},
		"at the start":             {0, 3 * mb, 0, 1000 * mb, 600},
	} {
		if got := roomForGarbage(c.used, c.made, c.in, c.most); got != c.want {
			t.Errorf("%s: %d %%, want %d", name, got, c.want)
		}
	}
}

// What is made decides after each time that garbage was collected, until the end, and not
// where memory is limited or many files are indexed.
func TestPaceGarbage(t *testing.T) {
	before := debug.SetGCPercent(-1)
	defer debug.SetGCPercent(before)
	percent := func() int {
		now := debug.SetGCPercent(-1)
		debug.SetGCPercent(now)
		return now
	}
	until := func(what string, holds func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: %d %%", what, percent())
			}
		}
	}
	make100 := func() {
		for range 100 {
			sink = make([]byte, 1<<20)
		}
		sink = nil
		runtime.GC()
	}
	p := paceGarbage(1 << 40)
	if percent() != serveGarbage {
		t.Errorf("%d %% at first", percent())
	}
	until("when much is made", func() bool { make100(); return percent() > serveGarbage })
	p.mu.Lock() // between what is set each time
	limit := debug.SetMemoryLimit(1 << 40)
	defer debug.SetMemoryLimit(limit)
	debug.SetGCPercent(50)
	p.mu.Unlock()
	for range 10 {
		make100()
	}
	if percent() != 50 {
		t.Errorf("where memory is limited: %d %%", percent())
	}
	debug.SetMemoryLimit(limit)
	until("when it is no longer", func() bool { make100(); return percent() > 50 })
	p.indexing(ingest.Progress{AllBytes: 10 * fewBytes})
	for range 3 {
		if percent() != serveGarbage {
			t.Errorf("while many files are indexed: %d %%", percent())
		}
		make100()
	}
	p.indexing(ingest.Progress{})
	until("when they are", func() bool { make100(); return percent() > serveGarbage })
	p.indexing(ingest.Progress{AllBytes: fewBytes})
	until("while few are", func() bool { make100(); return percent() > serveGarbage })
	p.stop()
	for range 3 { // one may have begun
		make100()
	}
	debug.SetGCPercent(50)
	for range 3 {
		make100()
	}
	if percent() != 50 {
		t.Errorf("after the end: %d %%", percent())
	}
}

var sink []byte

// The machine's memory is what it has, or the least that a control group leaves.
func TestMachineMemory(t *testing.T) {
	if got := totalMemory([]byte("MemFree: 3 kB\nMemTotal:       24576 kB\n")); got != 24<<20 {
		t.Errorf("of the machine: %d", got)
	}
	if got := totalMemory([]byte("MemTotal: much\n")); got != 0 {
		t.Errorf("of a machine that does not say: %d", got)
	}
	files := map[string]string{
		"/sys/fs/cgroup/memory.max":                           "max\n",
		"/sys/fs/cgroup/system.slice/memory.max":              "4096\n",
		"/sys/fs/cgroup/system.slice/a.service/memory.max":    "8192\n",
		"/sys/fs/cgroup/memory/memory.limit_in_bytes":         "9223372036854771712\n",
		"/sys/fs/cgroup/memory/docker/memory.limit_in_bytes":  "5000\n",
		"/sys/fs/cgroup/cpu/docker/memory.limit_in_bytes":     "1\n",
		"/sys/fs/cgroup/memory/docker/sub/somethingelse.here": "1\n",
	}
	read := func(name string) ([]byte, error) {
		if b, ok := files[name]; ok {
			return []byte(b), nil
		}
		return nil, errors.New("none")
	}
	for groups, want := range map[string]uint64{
		"0::/system.slice/a.service\n":                        4096,
		"0::/\n":                                              math.MaxUint64,
		"0::/../../elsewhere\n":                               math.MaxUint64,
		"11:memory:/docker/sub\n3:cpu:/docker\n":              5000,
		"11:memory:/docker\n0::/system.slice/a.service/b/c\n": 4096,
		"nothing of the kind":                                 math.MaxUint64,
	} {
		if got := groupMemory([]byte(groups), read); got != want {
			t.Errorf("%q: %d, want %d", groups, got, want)
		}
	}
	if runtime.GOOS == "linux" && machineMemory() == 0 {
		t.Error("this machine has no memory")
	}
}
