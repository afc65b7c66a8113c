package collection_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/index/catalog"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
)

// listed returns n documents with random access lists, tenants and sets, and links between them.
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
		fmt.Fprintf(&b, "owner: %s\n", words[random.IntN(len(words))])
		fmt.Fprintf(&b, "tags: [%s]\n---\n# %s %s\n\n", words[random.IntN(len(words))], words[random.IntN(len(words))],
			words[random.IntN(len(words))])
		for range 3 {
			fmt.Fprintf(&b, "## %s\n\n%s %s, see [[d%03d]].\n\n", words[random.IntN(len(words))], words[random.IntN(len(words))],
				words[random.IntN(len(words))], random.IntN(n))
		}
		files[fmt.Sprintf("f%d/d%03d.md", i%5, i)] = b.String()
	}
	return files
}

func TestAuditFindsNoLeak(t *testing.T) {
	must.Whole(t, "1,000 checks")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	f := collectiontest.Open(t, listed(60, rand.New(rand.NewPCG(seed, 1))), nil)
	out := must.Get(f.Audit(context.Background(), collection.AuditOptions{Checks: 1000, Seed: seed}))
	for _, l := range out.Leaks {
		t.Errorf("%+v", l)
	}
	check.That(t, out.Hidden >= out.Checks*10,
		"%d checks with %d hidden documents: too few to tell", out.Checks, out.Hidden)
	t.Logf("%d checks, %d documents, %d hidden ones in all", out.Checks, out.Documents, out.Hidden)
}

// TestAuditAcceptsVisibleWords checks that a suggested word of a visible text is no leak, although only a hidden tag
// has it.
func TestAuditAcceptsVisibleWords(t *testing.T) {
	must.Whole(t, "1,000 checks")
	files := map[string]string{
		"visible.md": "---\naccess: [public]\n---\n# Undo\n\nRun git stash list.\n",
		"hidden.md":  "---\naccess: [user:ann]\ntags: [list]\n---\n# Lost\n\nLost keys.\n",
	}
	f := collectiontest.Open(t, files, nil)
	out := must.Get(f.Audit(context.Background(), collection.AuditOptions{Checks: 1000, Seed: 1}))
	for _, l := range out.Leaks {
		t.Errorf("%+v", l)
	}
}

// TestAuditFindsLeaks checks that an audit finds leaks through every door if access checks are weakened.
func TestAuditFindsLeaks(t *testing.T) {
	must.Whole(t, "1,500 checks")
	f := collectiontest.Open(t, listed(40, rand.New(rand.NewPCG(7, 7))), nil)
	doors := map[string]bool{}
	for name, weaken := range map[string]func(*access.Grant){
		"no check at all":  func(g *access.Grant) { *g = access.Unrestricted() },
		"no tenants":       func(g *access.Grant) { g.Tenant = access.All },
		"no access lists":  func(g *access.Grant) { g.Access = append(g.Access, access.All) },
		"no document sets": func(g *access.Grant) { g.Sets = nil },
		"no filters":       func(g *access.Grant) { g.Baked = "" },
	} {
		out, err := collection.AuditLeaking(context.Background(), f.Collection, collection.AuditOptions{Checks: 300, Seed: 3},
			weaken)
		must.Do(t, err)
		check.That(t, len(out.Leaks) != 0, "%s: nothing was found", name)
		for _, l := range out.Leaks {
			doors[l.Door] = true
		}
	}
	for _, door := range []string{"search", "explain", "similar", "get", "document", "documents", "why not", "what if",
		"stage", "summary", "legs", "find", "beside", "unmet", "cursor", "status", "count"} {
		check.That(t, doors[door], "no leak was found through %s", door)
	}
}

// TestAuditFindsLeakingStore checks that the audit reports hidden documents that a store retrieves,
// even if no answer names them.
func TestAuditFindsLeakingStore(t *testing.T) {
	f := collectiontest.Open(t, listed(40, rand.New(rand.NewPCG(7, 7))),
		hookStore(func(_ context.Context, verb string, r *store.Request) error {
			if verb == "retrieve" {
				r.Filter = nil
			}
			return nil
		}))
	out, err := f.Audit(context.Background(), collection.AuditOptions{Checks: 100, Seed: 3})
	check.That(t, err == nil && slices.ContainsFunc(out.Leaks, func(l collection.Leak) bool { return l.Door == "legs" }),
		"%+v, %v", out, err)
}

// TestAuditWithoutVector checks that the audit is incomplete when the model of a Go program returns no vector.
func TestAuditWithoutVector(t *testing.T) {
	f := collectiontest.Open(t, listed(20, rand.New(rand.NewPCG(7, 7))), func(o *collection.Options) {
		o.Embed = func(context.Context, []string) ([][]float32, error) { return nil, nil }
	})
	out, err := f.Audit(context.Background(), collection.AuditOptions{Checks: 50, Seed: 3})
	check.That(t, err == nil && out.Incomplete != 0 && strings.Contains(out.Fault, "the model gave 0 vectors"),
		"%+v, %v", out, err)
}

// TestAuditFindsNumbers checks that numbers about hidden documents are leaks: counts, facets, suggested values, and
// the rarity of words.
func TestAuditFindsNumbers(t *testing.T) {
	must.Whole(t, "6,000 checks")
	for _, c := range []struct {
		leaks string   // the verb that ignores filters; "statistics" for counting words in all documents
		doors []string // that must show the leak
	}{{"nothing", nil}, {"count", []string{"search"}}, {"facets", []string{"search", "unmet"}},
		{"statistics", []string{"explain"}}} {
		f := collectiontest.Open(t, listed(40, rand.New(rand.NewPCG(7, 7))),
			hookStore(func(_ context.Context, verb string, r *store.Request) error {
				if verb == c.leaks {
					r.Filter = nil
				}
				if c.leaks == "statistics" && r.Text != nil {
					text := *r.Text
					text.Among, r.Text = nil, &text
				}
				return nil
			}))
		out := must.Get(f.Audit(context.Background(), collection.AuditOptions{Checks: 1500, Seed: 3}))
		told := map[string]bool{}
		for _, l := range out.Leaks {
			told[l.Door] = true
		}
		for _, door := range c.doors {
			check.That(t, told[door], "%s: no leak was found through %s: %v", c.leaks, door, told)
		}
		check.That(t, len(c.doors) != 0 || len(told) == 0, "nothing leaks: %+v", out.Leaks)
	}
}

// TestAuditOfSections checks that counting sections of scanned files is no leak, even if the index
// has fewer chunks.
func TestAuditOfSections(t *testing.T) {
	must.Whole(t, "1,000 checks")
	files := map[string]string{}
	for i := range 12 {
		list := "public"
		if i > 0 {
			list = "[user:ann]"
		}
		files[fmt.Sprintf("at/long%d.md", i)] = "---\naccess: " + list + "\ntags: long\n---\n" +
			strings.Repeat(fmt.Sprintf("The harbor of walrus%d lies there.\n\n", i), 1000)
	}
	f := scanning(t, files)
	out := must.Get(f.Audit(context.Background(), collection.AuditOptions{Checks: 1000, Seed: 3}))
	for _, l := range out.Leaks {
		t.Errorf("%s, %q: %s %s", l.Door, l.Query, l.Doc, l.What)
	}
}

// TestAuditReportsIncompleteChecks checks that the audit reports checks with incomplete answers.
func TestAuditReportsIncompleteChecks(t *testing.T) {
	must.Whole(t, "each call that fails has an index of its own")
	incomplete := 0
	for failing := range int64(10) { // 0: none of the calls
		f, _ := gatedOf(t, listed(40, rand.New(rand.NewPCG(7, 7))), func(_ context.Context, call int64) error {
			if call == failing {
				return errors.New("the model is away")
			}
			return nil
		})
		out := must.Get(f.Audit(context.Background(), collection.AuditOptions{Checks: 10, Seed: 3}))
		check.That(t, failing != 0 || out.Incomplete == 0, "the model answers: %d checks are incomplete", out.Incomplete)
		incomplete += out.Incomplete
	}
	check.That(t, incomplete != 0, "the model is away: no check is incomplete")
	// A model that never answers makes every search by meaning incomplete, through any door.
	f, _ := gatedOf(t, listed(40, rand.New(rand.NewPCG(7, 7))), func(_ context.Context, call int64) error {
		return errors.New("the model is away")
	})
	out, err := f.Audit(context.Background(), collection.AuditOptions{Checks: 100, Seed: 3})
	check.That(t, err == nil && out.Checks == 100 && len(out.Leaks) == 0 &&
		strings.Contains(out.Fault, "the model is away"), "%+v, %v", out, err)
	out, err = f.Audit(context.Background(), collection.AuditOptions{Seed: 3})
	check.That(t, err == nil && out != nil && out.Checks == 0, "no checks: %+v, %v", out, err)
}

// TestAuditWithoutAnswers checks an audit in which no search is answered. It returns an error with the
// reason, or the leaks that it found.
func TestAuditWithoutAnswers(t *testing.T) {
	away := false
	f := collectiontest.Open(t, listed(40, rand.New(rand.NewPCG(7, 7))),
		hookStore(func(_ context.Context, verb string, _ *store.Request) error {
			if away && verb == "retrieve" {
				return fmt.Errorf("%w: the store is away", sheaf.ErrUnavailable)
			}
			return nil
		}))
	away = true
	o := collection.AuditOptions{Checks: 100, Seed: 3}
	if out, err := f.Audit(context.Background(), o); !errors.Is(err, sheaf.ErrUnavailable) ||
		!strings.Contains(err.Error(), "the store is away") {
		t.Errorf("%+v, %v", out, err)
	}
	out, err := collection.AuditLeaking(context.Background(), f.Collection, o, func(g *access.Grant) {
		*g = access.Unrestricted()
	})
	check.That(t, err == nil && len(out.Leaks) != 0 && out.Incomplete != 0 &&
		strings.Contains(out.Fault, "the store is away"), "leaks of a store that is away: %+v, %v", out, err)
}

// TestAuditDuringWrites checks that documents that change during an audit are no leaks. The audit
// judges each check by the state at that time.
func TestAuditDuringWrites(t *testing.T) {
	f := collectiontest.Open(t, listed(10, rand.New(rand.NewPCG(7, 7))), nil)
	who, checks := []string{"public", "user:ann", "user:bob", "group:staff"}, 1500
	if testing.Short() {
		checks = 300
	}
	ctx, stop := context.WithCancel(context.Background())
	written := make(chan error, 1)
	go func() {
		grant := access.Unrestricted()
		var err error
		for i := 0; ctx.Err() == nil && err == nil; i++ {
			var puts []collection.Change
			for n := range 10 {
				ch := collection.Change{ID: sheaf.DocumentID(catalog.FreeTree, fmt.Sprintf("d%03d.md", n))}
				if i%3 != 2 || n%2 == 0 {
					ch.Put = &collection.DocumentInput{Text: fmt.Sprintf("# Budget salary %d\n\nOf the merger.\n", i),
						Access: []string{who[(i+n)%4]}}
				}
				puts = append(puts, ch)
			}
			if _, err = f.Collection.Write(ctx, grant, puts); ctx.Err() != nil || errors.Is(err, sheaf.ErrNotFound) {
				err = nil
			}
		}
		written <- err
	}()
	out, err := f.Audit(context.Background(), collection.AuditOptions{Checks: checks, Seed: 5})
	stop()
	check.That(t, err == nil && len(out.Leaks) == 0, "%+v, %v", out, err)
	must.Do(t, <-written)
}

// TestAuditOfEmptiedIndex checks that an audit returns an error if its last document is removed meanwhile.
func TestAuditOfEmptiedIndex(t *testing.T) {
	f := collectiontest.Open(t, nil, nil)
	put := collection.Change{ID: sheaf.DocumentID(catalog.FreeTree, "a.md"),
		Put: &collection.DocumentInput{Text: "# Budget\n"}}
	must.Get(f.Collection.Write(context.Background(), access.Unrestricted(), []collection.Change{put}))
	remove := sync.OnceFunc(func() {
		if _, err := f.Collection.Write(context.Background(), access.Unrestricted(),
			[]collection.Change{{ID: put.ID}}); err != nil {
			t.Error(err)
		}
	})
	out, err := collection.AuditLeaking(context.Background(), f.Collection, collection.AuditOptions{Checks: 100, Seed: 5},
		func(*access.Grant) { remove() })
	check.Is(t, err, sheaf.ErrNotFound, "%+v", out)
}
