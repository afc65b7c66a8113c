package serve_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"sheaf/serve"
	"sheaf/serve/access"
	"sheaf/serve/servetest"
)

// listed makes n documents with random access lists, tenants, sets, and links
// between them.
func listed(n int, random *rand.Rand) map[string]string {
	words := strings.Fields("budget salary offer merger lawsuit payroll bonus contract roadmap launch secret memo")
	files := map[string]string{}
	for i := range n {
		var b strings.Builder
		b.WriteString("---\n")
		if random.IntN(3) > 0 {
			who := []string{"public", "user:ann", "user:bob", "group:staff", "group:board"}
			fmt.Fprintf(&b, "access: [%s, %s]\n", who[random.IntN(5)], who[random.IntN(5)])
		}
		if random.IntN(3) == 0 {
			fmt.Fprintf(&b, "tenant: %s\n", []string{"acme", "umbrella"}[random.IntN(2)])
		}
		if random.IntN(2) == 0 {
			fmt.Fprintf(&b, "sets: [%s]\n", []string{"finance", "handbook", "board"}[random.IntN(3)])
		}
		fmt.Fprintf(&b, "tags: [%s]\n---\n# %s %s\n\n", words[random.IntN(len(words))], words[random.IntN(len(words))], words[random.IntN(len(words))])
		for range 3 {
			fmt.Fprintf(&b, "## %s\n\n%s %s, see [[d%03d]].\n\n", words[random.IntN(len(words))], words[random.IntN(len(words))], words[random.IntN(len(words))], random.IntN(n))
		}
		files[fmt.Sprintf("f%d/d%03d.md", i%5, i)] = b.String()
	}
	return files
}

// checks is how many checks an audit makes: SHEAF_AUDIT_CHECKS, or few.
func checks(t *testing.T) int {
	text := os.Getenv("SHEAF_AUDIT_CHECKS")
	if text == "" {
		if testing.Short() {
			return 300
		}
		return 1000
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("SHEAF_AUDIT_CHECKS: %v", err)
	}
	return n
}

func TestAuditFindsNoLeak(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	f := servetest.Open(t, listed(60, rand.New(rand.NewPCG(seed, 1))), nil)
	out, err := f.Audit(context.Background(), serve.AuditOptions{Checks: checks(t), Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range out.Leaks {
		t.Errorf("%+v", l)
	}
	if out.Hidden < out.Checks*10 {
		t.Errorf("%d checks with %d hidden documents: too few to tell", out.Checks, out.Hidden)
	}
	t.Logf("%d checks, %d documents, %d hidden ones in all", out.Checks, out.Documents, out.Hidden)
}

// An audit that cannot find a leak would be worth nothing.
func TestAuditFindsLeaks(t *testing.T) {
	f := servetest.Open(t, listed(40, rand.New(rand.NewPCG(7, 7))), nil)
	doors := map[string]bool{}
	for name, weaken := range map[string]func(*access.Grant){
		"no check at all":  func(g *access.Grant) { *g = access.Unrestricted() },
		"no tenants":       func(g *access.Grant) { g.Tenant = access.All },
		"no access lists":  func(g *access.Grant) { g.Access = append(g.Access, access.All) },
		"no document sets": func(g *access.Grant) { g.Sets = nil },
	} {
		out, err := serve.AuditLeaking(context.Background(), f.Collection, serve.AuditOptions{Checks: 300, Seed: 3}, weaken)
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Leaks) == 0 {
			t.Errorf("%s: nothing was found", name)
		}
		for _, l := range out.Leaks {
			doors[l.Door] = true
		}
	}
	for _, door := range []string{"search", "explain", "similar", "get", "document", "documents", "why not", "what if", "stage", "summary"} {
		if !doors[door] {
			t.Errorf("no leak was found through %s", door)
		}
	}
}

// A check whose answer lacks a part is told of.
func TestAuditTellsOfIncompleteChecks(t *testing.T) {
	incomplete := 0
	for failing := range int64(10) { // 0: none of the calls
		f, _ := gatedOf(t, listed(40, rand.New(rand.NewPCG(7, 7))), func(_ context.Context, call int64) error {
			if call == failing {
				return errors.New("the model is away")
			}
			return nil
		})
		out, err := f.Audit(context.Background(), serve.AuditOptions{Checks: 10, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		if failing == 0 && out.Incomplete != 0 {
			t.Errorf("the model answers: %d checks are incomplete", out.Incomplete)
		}
		incomplete += out.Incomplete
	}
	if incomplete == 0 {
		t.Error("the model is away: no check is incomplete")
	}
	// A model that never answers leaves the questions that words answer.
	f, _ := gatedOf(t, listed(40, rand.New(rand.NewPCG(7, 7))), func(_ context.Context, call int64) error { return errors.New("the model is away") })
	out, err := f.Audit(context.Background(), serve.AuditOptions{Checks: 100, Seed: 3})
	if err != nil || out.Checks != 100 || out.Incomplete == 0 || out.Incomplete == out.Checks || len(out.Leaks) > 0 {
		t.Errorf("%+v, %v", out, err)
	}
}
