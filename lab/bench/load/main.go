// Command load queries a running sheaf serve like many clients, and prints the times of answers. It gives the numbers
// behind "sheaf serve holds 32 clients".
//
//	sheaf serve --in FOLDER &
//	go run -C lab/bench ./load --clients 32 --time 60s
//
// The queries are pairs of words from titles of the server's documents, or the lines of the file --queries. With --zipf
// S, queries repeat like people's queries: the probability of the k-th query is proportional to 1/k^S. So the numbers
// include the effect of the server's cache. A second of warm-up does not count. The status is 1 if a request fails, or
// if the 99th percentile is above --p99.
//
// With --rate R, the load is open: R queries a second arrive, whether or not earlier ones have their answers. The time
// of a query then begins when it arrives, so it includes the wait for a free client.
//
// --pid is the number of the server's process on this machine. With it, the command also prints the server's processor
// time per answer.
//
// With --sheaf, the command measures all promises about a server, with its own servers and index. It measures how soon
// a warm server is ready, and how soon a search finds a saved note. It measures answers beside 1,000 idle connections.
// It also sends slow and enormous requests, and counts the acknowledged documents that survive when it kills a server.
//
//	go run -C lab/bench ./load --sheaf PROGRAM --in FOLDER
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type options struct {
	address, key, profile string
	clients, idle, pid    int
	zipf, rate            float64
	length, p99, pause    time.Duration
	program, folder       string
	queries               string
}

func main() {
	var o options
	flag.StringVar(&o.address, "address", "http://127.0.0.1:7333", "the server")
	flag.StringVar(&o.key, "key", "", "the key that it wants")
	flag.StringVar(&o.profile, "profile", "", "the ranking profile; the server's own when it is empty")
	flag.IntVar(&o.clients, "clients", 32, "clients that ask, each the next query when it has an answer")
	flag.IntVar(&o.idle, "idle", 0, "connections that ask nothing beside them")
	flag.IntVar(&o.pid, "pid", 0, "the server's process on this machine, to also print its processor time")
	flag.StringVar(&o.queries, "queries", "", "a file with a query a line, such as those that people asked; two words "+
		"each of the titles of documents when it is empty")
	flag.Float64Var(&o.zipf, "zipf", 0, "draw queries with repetition, by Zipf's law with this exponent, above 1; 0 "+
		"asks none twice while there are others")
	flag.Float64Var(&o.rate, "rate", 0, "queries a second that arrive at equal intervals; 0 has each client ask when it "+
		"has an answer")
	flag.DurationVar(&o.length, "time", time.Minute, "how long they ask")
	flag.DurationVar(&o.pause, "pause", 0, "how long a client waits between an answer and its next query; they begin "+
		"one after another in that time")
	flag.DurationVar(&o.p99, "p99", 0, "the most that the 99th percentile may be; 0 for any")
	flag.StringVar(&o.program, "sheaf", "", "measure servers that this program makes")
	flag.StringVar(&o.folder, "in", "", "the folder that they serve")
	flag.Parse()
	work := run
	if o.program != "" {
		work = promises
	}
	if err := work(o); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	if o.zipf != 0 && !(o.zipf > 1) {
		return fmt.Errorf("--zipf is %v: must be above 1, or 0", o.zipf)
	}
	if o.rate < 0 {
		return fmt.Errorf("--rate is %v: must be at least 0", o.rate)
	}
	if o.clients < 1 {
		return fmt.Errorf("--clients is %d: must be at least 1", o.clients)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: o.clients + o.idle, MaxConnsPerHost: 0},
		Timeout: time.Minute}
	l := &load{options: o, client: client}
	read := l.makeQueries
	if o.queries != "" {
		read = l.readQueries
	}
	if err := read(); err != nil {
		return err
	}
	fmt.Printf("%d queries such as %q\n", len(l.queries), l.queries[0])
	if err := l.readClocks(); err != nil {
		return err
	}
	if err := l.openIdle(); err != nil {
		return err
	}
	if _, err := l.ask(time.Second); err != nil {
		return err
	}
	before, err := l.gauges("sheaf_heap_live_bytes", rememberedMetric)
	if err != nil {
		return err
	}
	began, own, theirs := time.Now(), l.own(), l.server()
	asked := l.next.Load()
	answers, err := l.ask(o.length)
	if err != nil {
		return err
	}
	took := time.Since(began)
	own, theirs = l.own()-own, l.server()-theirs
	after, err := l.gauges("sheaf_heap_live_bytes", rememberedMetric)
	if err != nil {
		return err
	}
	if len(answers) == 0 {
		return fmt.Errorf("no client had an answer within --time %v: must be longer", o.length)
	}
	l.report(answers, took)
	l.reportWork(answers, own, theirs)
	how := "no query was asked twice"
	if o.zipf > 0 {
		how = fmt.Sprintf("drawn by Zipf's law with exponent %v", o.zipf)
	} else if l.next.Load()-asked > int64(len(l.queries)) {
		how = "there are fewer queries than were asked"
	}
	fmt.Printf("%s: %.1f of 100 answers were remembered\n", how, 100*(after[1]-before[1])/float64(len(answers)))
	fmt.Printf("live heap %.1f MB before, %.1f MB after\n", before[0]/1e6, after[0]/1e6)
	if p99 := measured(answers).at(99); o.p99 > 0 && p99 > o.p99 {
		return fmt.Errorf("the 99th percentile is %v: must be at most %v", p99, o.p99)
	}
	return nil
}

type load struct {
	options
	client  *http.Client
	queries []string
	next    atomic.Int64 // the next query, when no query repeats
	given   atomic.Int64 // answers so far
	// own and server read the processor time of this process and of the server. They return a
	// constant when the time is unknown.
	own, server func() time.Duration
}

// rememberedMetric counts answers from the server's cache.
const rememberedMetric = `sheaf_answers_total{from="cache"}`

func (l *load) get(path string) ([]byte, error) {
	req, err := l.request(path)
	if err != nil {
		return nil, err
	}
	res, err := l.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %d %s", path, res.StatusCode, body)
	}
	return body, err
}

var word = regexp.MustCompile(`[\p{L}\p{N}]{3,}`)

// maxQueries is the largest number of queries that titles give.
const maxQueries = 50_000

// readQueries sets l.queries to the lines of the file --queries.
func (l *load) readQueries() error {
	text, err := os.ReadFile(l.options.queries)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if query := strings.TrimSpace(line); query != "" {
			l.queries = append(l.queries, query)
		}
	}
	if len(l.queries) == 0 {
		return fmt.Errorf("%s has no lines: must have a query on each", l.options.queries)
	}
	return nil
}

// makeQueries sets l.queries to distinct queries from titles of the server's documents, in random order.
func (l *load) makeQueries() error {
	random := rand.New(rand.NewPCG(1, 2))
	known := map[string]bool{}
	for after := ""; len(l.queries) < maxQueries; {
		body, err := l.get("/v1/documents?limit=1000&after=" + url.QueryEscape(after))
		if err != nil {
			return err
		}
		var page struct {
			Documents []struct{ Title string }
			Next      string
		}
		if err := json.Unmarshal(body, &page); err != nil {
			return err
		}
		for _, d := range page.Documents {
			words := word.FindAllString(d.Title, -1)
			for range min(10, len(words)*len(words)) {
				query := words[random.IntN(len(words))] + " " + words[random.IntN(len(words))]
				if !known[query] {
					known[query] = true
					l.queries = append(l.queries, query)
				}
			}
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if len(l.queries) == 0 {
		return errors.New("the server has no documents with titles")
	}
	random.Shuffle(len(l.queries), func(i, j int) { l.queries[i], l.queries[j] = l.queries[j], l.queries[i] })
	return nil
}

// openIdle opens l.idle connections. Each connection sends one request and then is idle.
func (l *load) openIdle() error {
	var wg sync.WaitGroup
	faults := make(chan error, l.idle)
	for range l.idle {
		wg.Go(func() {
			if _, err := l.get("/livez"); err != nil {
				faults <- err
			}
		})
	}
	wg.Wait()
	close(faults)
	return <-faults
}

// ask lets all clients send queries for the given time, and returns all answers. A fault ends only its client.
func (l *load) ask(length time.Duration) ([]answer, error) {
	began := time.Now()
	deadline := began.Add(length)
	all := make([][]answer, l.clients)
	faults := make([]error, l.clients)
	arriving := l.arrivals(began, deadline)
	var wg sync.WaitGroup
	for i := range l.clients {
		wg.Go(func() {
			c, err := connect(l.options)
			if err != nil {
				faults[i] = err
				return
			}
			defer c.conn.Close()
			draw := l.drawer(uint64(i))
			// Clients that pause start at different times. Otherwise they would all send at once.
			time.Sleep(l.pause * time.Duration(i) / time.Duration(l.clients))
			for l.rate > 0 || time.Now().Before(deadline) {
				arrived, ok := time.Now(), true
				if l.rate > 0 {
					if arrived, ok = <-arriving; !ok {
						return
					}
				}
				given := l.given.Load()
				took, err := c.search(draw())
				if err != nil {
					faults[i] = err
					return
				}
				if l.rate > 0 {
					took = time.Since(arrived)
				}
				all[i] = append(all[i], answer{at: time.Since(began), took: took, others: l.given.Add(1) - given - 1})
				time.Sleep(l.pause)
			}
		})
	}
	wg.Wait()
	return slices.Concat(all...), errors.Join(faults...)
}

// arrivals sends the times at which queries arrive, as --rate says, and closes the channel at the deadline.
func (l *load) arrivals(began, deadline time.Time) <-chan time.Time {
	n := int(l.rate * deadline.Sub(began).Seconds())
	arriving := make(chan time.Time, n) // has room for all, so that a slow server delays no arrival
	go func() {
		defer close(arriving)
		for i := range n {
			at := began.Add(time.Duration(float64(i) / l.rate * float64(time.Second)))
			time.Sleep(time.Until(at))
			arriving <- at
		}
	}()
	return arriving
}

// drawer returns the function that draws the queries of a client.
func (l *load) drawer(client uint64) func() string {
	if l.zipf == 0 {
		return func() string { return l.queries[(l.next.Add(1)-1)%int64(len(l.queries))] }
	}
	zipf := rand.NewZipf(rand.New(rand.NewPCG(client, 3)), l.zipf, 1, uint64(len(l.queries)-1))
	return func() string { return l.queries[zipf.Uint64()] }
}

// gauges returns the values of the server's metrics with these names.
func (l *load) gauges(names ...string) ([]float64, error) {
	body, err := l.get("/metrics")
	out := make([]float64, len(names))
	for i, name := range names {
		_, text, ok := strings.Cut("\n"+string(body), "\n"+name+" ")
		if err == nil && !ok {
			err = fmt.Errorf("the metrics have no %s", name)
		}
		if err != nil {
			return nil, err
		}
		text, _, _ = strings.Cut(text, "\n")
		out[i], err = strconv.ParseFloat(strings.TrimSpace(text), 64)
	}
	return out, err
}
