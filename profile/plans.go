package profile

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// plans are those that were made of a profile lately: most queries ask for the same
// limit and set nothing.
type plans struct {
	mu   sync.Mutex
	made map[string]*Plan
}

// maxPlans bounds how many plans are kept, some kilobytes each. longestSet is the most bytes
// that the key of a kept plan may have.
const (
	maxPlans   = 256
	longestSet = 1 << 10
)

// planKey tells the plans of a profile apart.
func planKey(limit int, set map[string]string) string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(limit))
	if len(set) > 0 {
		for _, name := range slices.Sorted(maps.Keys(set)) {
			b.WriteString(strconv.Quote(name))
			b.WriteString(strconv.Quote(set[name]))
		}
	}
	return b.String()
}

// get is the plan of a key, nil when none is kept.
func (p *plans) get(key string) *Plan {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.made[key]
}

func (p *plans) put(key string, plan *Plan) {
	if len(key) > longestSet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.made == nil || len(p.made) >= maxPlans {
		p.made = map[string]*Plan{}
	}
	p.made[key] = plan
}

// Equal reports whether two profiles are the same, read from the same file.
func (p *Profile) Equal(q *Profile) bool {
	a, b := *p, *q
	a.plans, b.plans = nil, nil
	return reflect.DeepEqual(&a, &b)
}
