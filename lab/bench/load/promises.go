package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// promises measures one promise at a time and prints a line for each.
func promises(o options) error {
	if o.folder == "" {
		return errors.New("name the folder to serve with --in")
	}
	program, err := filepath.Abs(o.program)
	if err != nil {
		return err
	}
	temporary, err := os.MkdirTemp("", "sheaf-load-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	// This program saves notes in a copy of the folder.
	folder, index := filepath.Join(temporary, "notes"), filepath.Join(temporary, "index")
	if err := os.CopyFS(folder, os.DirFS(o.folder)); err != nil {
		return err
	}
	s := &served{program: program, folder: folder, index: index}
	if out, err := exec.Command(program, "index", "--in", folder, "--index", index).CombinedOutput(); err != nil {
		return fmt.Errorf("index: %w: %s", err, out)
	}
	for _, measure := range []func(*served, options) error{
		measureStart, measureFresh, measureClients, measureHostile, measureKilled,
	} {
		if err := measure(s, o); err != nil {
			return err
		}
	}
	return nil
}

// served is a server that this program starts.
type served struct {
	program, folder, index string
	address                string
	cmd                    *exec.Cmd
}

// start starts the server, waits until it is ready, and returns how long this took.
func (s *served) start() (time.Duration, error) {
	began := time.Now()
	s.cmd = exec.Command(s.program, "serve", "--in", s.folder, "--index", s.index, "--addr", "127.0.0.1:0")
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := s.cmd.Start(); err != nil {
		return 0, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return 0, errors.Join(fmt.Errorf("the server says no address: %w", err), s.stop())
	}
	s.address = strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
	err = s.until(10*time.Second, "/readyz", func(status int, _ []byte) bool { return status == http.StatusOK })
	return time.Since(began), err
}

// stop interrupts the server and waits for its end.
func (s *served) stop() error {
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return s.cmd.Wait()
}

// until repeats a request for path until right accepts the answer. It returns an error after the time limit.
func (s *served) until(limit time.Duration, path string, right func(status int, body []byte) bool) error {
	for deadline := time.Now().Add(limit); ; time.Sleep(2 * time.Millisecond) {
		res, err := http.Get(s.address + path)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			return err
		}
		if right(res.StatusCode, body) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: %d %.200s", path, res.StatusCode, body)
		}
	}
}

// spread returns the median, the smallest and the largest of times as a text. It sorts times.
func spread(times []time.Duration) string {
	slices.Sort(times)
	return fmt.Sprintf("median %.0f ms, %.0f to %.0f ms of %d", ms(times[len(times)/2]), ms(times[0]),
		ms(times[len(times)-1]), len(times))
}

func measureStart(s *served, _ options) error {
	var times []time.Duration
	for range 10 {
		took, err := s.start()
		if err != nil {
			return err
		}
		times = append(times, took)
		if err := s.stop(); err != nil {
			return err
		}
	}
	fmt.Printf("start to ready, warm index: %s\n", spread(times))
	return nil
}

// measureFresh starts the server and measures how soon a search finds a saved note. The server keeps running for the
// next measurements.
func measureFresh(s *served, _ options) error {
	if _, err := s.start(); err != nil {
		return err
	}
	var times []time.Duration
	for i := range 10 {
		word := fmt.Sprintf("freshnote%d", i)
		time.Sleep(300 * time.Millisecond) // the previous save is finished by then
		if err := os.WriteFile(filepath.Join(s.folder, word+".md"), []byte("# Fresh\n\n"+word+"\n"), 0o644); err != nil {
			return err
		}
		began := time.Now()
		if err := s.until(20*time.Second, "/v1/search?limit=1&query="+word, func(_ int, body []byte) bool {
			return bytes.Contains(body, []byte(word+".md"))
		}); err != nil {
			return err
		}
		times = append(times, time.Since(began))
	}
	fmt.Printf("save to found: %s\n", spread(times))
	return nil
}

func measureClients(s *served, o options) error {
	o.address, o.idle, o.pid = s.address, max(o.idle, 1000), s.cmd.Process.Pid
	fmt.Printf("with %d idle connections: ", o.idle)
	return run(o)
}

// measureHostile opens connections that send heads and bodies slowly. It also sends bodies that are too large or not
// JSON. A client searches at the same time.
func measureHostile(s *served, _ options) error {
	host := strings.TrimPrefix(s.address, "http://")
	var slow []net.Conn
	defer func() {
		for _, c := range slow {
			_ = c.Close()
		}
	}()
	for i := range 500 {
		c, err := net.Dial("tcp", host)
		if err != nil {
			return err
		}
		slow = append(slow, c)
		head := "GET /v1/search?query=a HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
		if i%2 == 0 {
			head = "POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
				"1000000\r\n\r\n{"
		}
		if _, err := io.WriteString(c, head); err != nil {
			return err
		}
	}
	var wg sync.WaitGroup
	statuses := make([]int, 4)
	for i, body := range []string{strings.Repeat(" ", 64<<20), strings.Repeat("[", 1<<19), `{"query": "` +
		strings.Repeat("a", 1<<19) + `"}`, "\x00\xff"} {
		wg.Go(func() {
			res, err := http.Post(s.address+"/v1/search", "application/json", strings.NewReader(body))
			if err == nil {
				statuses[i] = res.StatusCode
				_ = res.Body.Close()
			}
		})
	}
	began := time.Now()
	if err := s.until(10*time.Second, "/v1/search?query=fresh", func(status int, _ []byte) bool {
		return status == http.StatusOK
	}); err != nil {
		return err
	}
	took := time.Since(began)
	wg.Wait()
	fmt.Printf("beside 500 slow connections and bodies of 64 MiB, of half a million brackets, of a long query and of "+
		"no JSON (%v): an answer in %.0f ms\n", statuses, ms(took))
	return s.until(10*time.Second, "/readyz", func(status int, _ []byte) bool { return status == http.StatusOK })
}

// measureKilled kills the server five times while it accepts documents, and then searches for every
// acknowledged document.
func measureKilled(s *served, _ options) error {
	acknowledged := map[string]string{}
	lost := 0
	for round := range 5 {
		killed := time.AfterFunc(700*time.Millisecond, func() { _ = s.cmd.Process.Kill() })
		for i := 0; ; i++ {
			path, text := fmt.Sprintf("/v1/documents/api:r%d/d%d.md", round, i),
				fmt.Sprintf("# Document %d of round %d\n", i, round)
			body, err := json.Marshal(map[string]string{"text": text})
			if err != nil {
				return err
			}
			req, err := http.NewRequest(http.MethodPut, s.address+path, bytes.NewReader(body))
			if err != nil {
				return err
			}
			req.Header.Set("Content-Type", "application/json")
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				break
			}
			_ = res.Body.Close()
			if res.StatusCode == http.StatusCreated {
				acknowledged[strings.Replace(path, "documents", "chunks", 1)] = text
			}
		}
		killed.Stop()
		_ = s.cmd.Wait()
		if _, err := s.start(); err != nil {
			return err
		}
		for path, text := range acknowledged {
			var part struct{ Text string }
			if err := s.until(time.Second, path, func(status int, body []byte) bool {
				return status == http.StatusOK && json.Unmarshal(body, &part) == nil && part.Text == text
			}); err != nil {
				lost++
			}
		}
	}
	fmt.Printf("killed 5 times while %d documents were acknowledged: %d lost\n", len(acknowledged), lost)
	if lost > 0 {
		return errors.New("acknowledged documents are lost")
	}
	return s.stop()
}
