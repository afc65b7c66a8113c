package api

import (
	"os"
	"runtime"
	"testing"
	"time"
)

// A request that has come goes before one that came later, though nobody had a processor to
// see it before the turn was given back. (A thread that waits for the network may be
// about to say what it saw: then it is too late.)
func TestUnseenGoesFirst(t *testing.T) {
	if !pollsPipes {
		t.Skip("Go's scheduler does not look at pipes here")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const rounds = 200
	inOrder := 0
	for range rounds {
		g, works, waits, comes := inOneTurn(t)
		now := time.Now()
		waits.came, comes.came = now, now.Add(-time.Millisecond)
		if err := works.Take(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		first := make(chan *place, 2)
		ask := func(p *place) {
			if err := p.Take(t.Context(), 0); err != nil {
				t.Error(err)
			}
			first <- p
			p.leave()
		}
		network, client, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		go ask(waits)
		go func() {
			_, _ = network.Read(make([]byte, 1))
			ask(comes)
		}()
		for _, _, waiting := g.load(); waiting != 1; _, _, waiting = g.load() {
			runtime.Gosched()
		}
		if _, err := client.Write([]byte{0}); err != nil {
			t.Fatal(err)
		}
		works.leave() // with no time to see what came
		if <-first == comes {
			inOrder++
		}
		<-first
		g.close()
		_, _ = network.Close(), client.Close()
	}
	if inOrder < rounds/2 {
		t.Errorf("in order %d times of %d", inOrder, rounds)
	}
}

// With a processor to spare turns are handed on at once.
func TestSpareProcessor(t *testing.T) {
	g, works, waits, _ := inOneTurn(t)
	if err := works.Take(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	took := make(chan error, 1)
	go func() { took <- waits.Take(t.Context(), 0) }()
	for _, _, waiting := g.load(); waiting != 1; _, _, waiting = g.load() {
		runtime.Gosched()
	}
	g.mu.Lock()
	g.spare = func() bool { return true }
	works.end()
	if !waits.works || g.due != 0 {
		t.Errorf("it works: %v, %d turns on their way", waits.works, g.due)
	}
	g.mu.Unlock()
	if err := <-took; err != nil {
		t.Fatal(err)
	}
}

// A bell that is heard late again and again is not rung for a while, one that is heard
// in time now and then is.
func TestBellThatIsHeardLate(t *testing.T) {
	b := newBell()
	if b == nil {
		t.Skip("Go's scheduler does not look at pipes here")
	}
	defer b.close()
	hear := func(late bool) {
		t.Helper()
		for range 2 {
			if !b.ring() {
				t.Fatal("it does not ring")
			}
		}
		if !b.wait() {
			t.Fatal("it is not heard")
		}
		if b.rang = time.Now(); late {
			b.rang = b.rang.Add(-bellLate)
		}
		b.heard()
	}
	for range 2 {
		for range bellOften - 1 {
			hear(true)
		}
		hear(false)
	}
	for range bellOften {
		hear(true)
	}
	if b.ring() {
		t.Error("it rings though it is heard late")
	}
	b.deaf = time.Now()
	hear(false)
}

// Who waits when the bell is taken away has the turn, and so do those who come later.
func TestWithoutBell(t *testing.T) {
	g, works, waits, comes := inOneTurn(t)
	if err := works.Take(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	took := make(chan error, 1)
	wait := func(p *place) {
		go func() { took <- p.Take(t.Context(), 0) }()
		for _, _, waiting := g.load(); waiting != 1; _, _, waiting = g.load() {
			runtime.Gosched()
		}
	}
	wait(waits)
	g.mu.Lock()
	works.end() // the bell rings, and cannot be heard
	bell := g.bell
	g.mu.Unlock()
	g.close()
	if err := <-took; err != nil {
		t.Fatal(err)
	}
	if bell.wait() {
		t.Error("a bell that was taken away is heard")
	}
	wait(comes)
	waits.leave()
	if err := <-took; err != nil {
		t.Fatal(err)
	}
}
