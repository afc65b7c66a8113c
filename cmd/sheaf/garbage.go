package main

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"time"

	"sheaf/ingest"
)

// serveGarbage is the garbage that a server may always make before it is collected, in
// percent of what it uses. What it uses is bounded: mostly what it remembers of documents
// and answers.
const serveGarbage = 300

// While garbage is collected nobody is answered for 8 ms, or, where there is much in use,
// answers take up to twice as long for as long as that takes. So a
// server that makes much is given room for that of seldomCollected, and collecting is in
// the way of less than one answer in a hundred. It is no more than a part of the machine's
// memory, and mostGarbage.
const (
	seldomCollected = 6 * time.Second
	garbageShare    = 16
	mostGarbage     = 1 << 30
)

// roomForGarbage is how much garbage may be made before it is collected, in percent of
// what is in use, by how much was made, and in what time, before it was last. It grows by no
// more than twice, so that a moment's work gives no room that then takes long to fill.
func roomForGarbage(used, made uint64, in time.Duration, most uint64) int {
	soon := float64(made) / max(in.Seconds(), 1e-3) * seldomCollected.Seconds()
	room := min(soon, 2*float64(made), float64(most))
	return max(serveGarbage, int(100*room/float64(max(used, 1<<20))))
}

// paceGarbage sets after each time that garbage was collected how much may be made until
// the next, until stop. Where memory is limited, by GOMEMLIMIT or while the index is made
// before it is served, it leaves that be.
func paceGarbage(most uint64) *pace {
	debug.SetGCPercent(serveGarbage)
	p := &pace{most: most, at: time.Now()}
	p.made, _ = readGarbage()
	p.arm()
	return p
}

// pace is what paceGarbage knows. One that is nil does nothing.
type pace struct {
	most uint64

	mu      sync.Mutex
	at      time.Time
	made    uint64 // since the process began
	indexes bool
	stopped bool
}

func (p *pace) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
}

// collected is garbage that tells when it is collected. It is too large to share its
// memory with what is not.
type collected struct{ _ [64]byte }

func (p *pace) arm() {
	runtime.SetFinalizer(new(collected), func(*collected) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.adjust(time.Now()) {
			p.arm()
		}
	})
}

// readGarbage is what was made since the process began, and what is in use.
func readGarbage() (made, used uint64) {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64(), samples[1].Value.Uint64()
}

// adjust sets how much may be made from now on, and reports whether it is to do so again.
// The caller holds the lock.
func (p *pace) adjust(now time.Time) bool {
	if p.stopped {
		return false
	}
	made, used := readGarbage()
	percent := serveGarbage
	if !p.indexes {
		percent = roomForGarbage(used, made-p.made, now.Sub(p.at), p.most)
	}
	p.made, p.at = made, now
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetGCPercent(percent)
	}
	return true
}

// indexing is told how far a run is: for what is made of many files nobody waits, so it
// has no more room than a quiet server's.
func (p *pace) indexing(run ingest.Progress) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := run.AllBytes > fewBytes; now != p.indexes {
		p.indexes = true
		p.adjust(time.Now()) // what was made until the end says nothing of what comes
		p.indexes = now
	}
}

// machineMemory is how much the process may use at most: what the machine has, or its
// control group may. 0 where it is not known.
func machineMemory() uint64 {
	most := uint64(0)
	if b, err := os.ReadFile("/proc/meminfo"); err == nil {
		most = totalMemory(b)
	}
	if b, err := os.ReadFile("/proc/self/cgroup"); err == nil && most > 0 {
		most = min(most, groupMemory(b, os.ReadFile))
	}
	return most
}

// totalMemory is what /proc/meminfo says that there is; 0 when it does not.
func totalMemory(meminfo []byte) uint64 {
	for line := range strings.Lines(string(meminfo)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			kB, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err == nil {
				return kB << 10
			}
		}
	}
	return 0
}

// groupMemory is the least that the control groups of a process may use, as
// /proc/self/cgroup names them, and those above; the largest number where nothing is
// limited.
func groupMemory(groups []byte, read func(string) ([]byte, error)) uint64 {
	least := uint64(math.MaxUint64)
	for s := bufio.NewScanner(bytes.NewReader(groups)); s.Scan(); {
		number, rest, _ := strings.Cut(s.Text(), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		top, file := "/sys/fs/cgroup", "memory.max"
		switch {
		case number == "0" && controllers == "":
		case controllers == "memory":
			top, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for group = path.Clean("/" + group); ; group = path.Dir(group) {
			if b, err := read(path.Join(top, group, file)); err == nil {
				if n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64); err == nil {
					least = min(least, n)
				}
			}
			if group == "/" {
				break
			}
		}
	}
	return least
}
