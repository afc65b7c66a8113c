package collection_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/collection/intake"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
)

// These environment variables configure the killed process and the number of rounds.
const (
	killFolder = "SHEAF_TEST_KILL_FOLDER"
	killPoint  = "SHEAF_TEST_KILL_POINT"
	killRounds = "SHEAF_TEST_KILLS"
)

// killPoints are the points where a process kills itself.
var killPoints = []string{"before accept", "after accept", "after store", "before done", "in refuse", "in move"}

// killOp is a request of the killed process. The process writes a line with Began before the
// request and a line with the answer after it.
type killOp struct {
	Began   bool
	Number  int
	Kind    string // put, batch, delete or task
	IDs     []sheaf.ID
	Text    string
	Results []collection.Stored
	Task    string
}

func (op *killOp) changes() (changes []collection.Change) {
	for _, id := range op.IDs {
		ch := collection.Change{ID: id}
		if op.Kind != "delete" {
			ch.Put = &collection.DocumentInput{Text: op.Text}
		}
		if op.Kind == "task" {
			ch.IfNoneMatch = "*" // fails if it is applied twice
		}
		changes = append(changes, ch)
	}
	return changes
}

// send sends the request. Repeating it is safe.
func (op *killOp) send(ctx context.Context, c *collection.Collection, round string) (err error) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", round, op.Number))
	key := collection.Key{Name: sum, Request: sum}
	op.Results, op.Task = nil, ""
	if op.Kind == "task" {
		task, err := c.Submit(ctx, access.Unrestricted(), "me", op.changes(), key)
		if err == nil {
			op.Task = task.ID
		}
		return err
	}
	op.Results, err = c.Write(ctx, access.Unrestricted(), op.changes(), key)
	return err
}

// killable is a store that calls crashPoint after each write.
type killable struct {
	store.Backend
	reached func(string)
}

// Write implements store.Backend.
func (s killable) Write(ctx context.Context, b store.Batch) error {
	err := s.Backend.Write(ctx, b)
	s.reached("after store")
	return err
}

// TestKillChild is the process that gets killed.
func TestKillChild(t *testing.T) {
	folder := os.Getenv(killFolder)
	if folder == "" {
		t.Skip("only TestKills runs it")
	}
	at, left := os.Getenv(killPoint), 1+rand.IntN(6)
	if at == "in move" || at == "in refuse" {
		left = 1
	}
	kill := func(point string) {
		if point == at {
			if left--; left <= 0 {
				self, _ := os.FindProcess(os.Getpid())
				_ = self.Kill()
				select {}
			}
		}
	}
	collection.AtPoints(kill)
	f := collectiontest.At(t, filepath.Join(folder, "files"), filepath.Join(folder, "index"),
		func(o *collection.Options) { o.Backend = killable{collectiontest.Picky{Backend: o.Backend}, kill} })
	f.WillWork()
	collectiontest.Working(t, f.Collection)
	say := func(op killOp) {
		line, err := json.Marshal(op)
		check.That(t, err == nil, "%v", err)
		_, _ = os.Stdout.Write(append(append([]byte("@"), line...), '\n'))
	}
	round := filepath.Base(folder) + os.Getenv("SHEAF_TEST_KILL_ROUND")
	for i := 0; ; i++ {
		op := killOp{Began: true, Number: i, Text: fmt.Sprintf("Text %d of %s.", i, round)}
		switch n := rand.IntN(10); {
		case n < 4:
			op.Kind, op.IDs = "put", []sheaf.ID{sheaf.ID(fmt.Sprintf("api:e%d.md", rand.IntN(5)))}
		case n < 6:
			op.Kind = "batch"
			for k := range 3 {
				op.IDs = append(op.IDs, sheaf.ID(fmt.Sprintf("api:m%d.md", k)))
			}
		case n < 8:
			op.Kind, op.IDs = "task", []sheaf.ID{sheaf.ID(fmt.Sprintf("api:t%s-%d.md", round, i))}
		case n < 9:
			op.Kind, op.IDs = "put", []sheaf.ID{sheaf.ID(fmt.Sprintf("api:e%d.md", rand.IntN(5)))}
			op.Text += " It is heavy."
		default:
			op.Kind, op.IDs = "delete", []sheaf.ID{sheaf.ID(fmt.Sprintf("api:e%d.md", rand.IntN(5)))}
		}
		say(op)
		err := op.send(t.Context(), f.Collection, round)
		refused := strings.Contains(op.Text, "heavy") || op.Kind == "delete" && errors.Is(err, sheaf.ErrNotFound)
		must.That(t, err == nil || refused, "%+v: %v", op, err)
		if op.Began = false; err != nil {
			op.Kind = "refused"
		}
		say(op)
	}
}

// killed collects the output of the killed processes.
type killed struct {
	folder string
	// texts are the expected texts; several if the process did not report the outcome.
	texts map[sheaf.ID][]string
	tags  map[sheaf.ID]string // of documents with a certain outcome
	tasks []string
}

// run runs a process until it is killed: at a point, or at random if point is "".
func (k *killed) run(t *testing.T, point, round string) []killOp {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKillChild$")
	cmd.Env = append(os.Environ(), killFolder+"="+k.folder, killPoint+"="+point, "SHEAF_TEST_KILL_ROUND="+round)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out := must.Get(cmd.StdoutPipe())
	must.Do(t, cmd.Start())
	long := 10 * time.Second // the process kills itself
	if point == "" {
		long = time.Duration(20+rand.IntN(200)) * time.Millisecond
	}
	timer := time.AfterFunc(long, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	var ops []killOp
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		text, ok := strings.CutPrefix(line, "@")
		var op killOp
		if !ok || json.Unmarshal([]byte(text), &op) != nil {
			t.Errorf("it said %s", line)
			continue
		}
		if len(ops) > 0 && !op.Began {
			ops = ops[:len(ops)-1]
		}
		ops = append(ops, op)
	}
	err := cmd.Wait()
	check.That(t, err != nil && errs.Len() == 0, "it ended by itself: %v %s", err, errs.String())
	for i := range ops {
		k.note(&ops[i])
	}
	return ops
}

// note records the expected state of documents after an operation.
func (k *killed) note(op *killOp) {
	for i, id := range op.IDs {
		text := op.Text
		if op.Kind == "delete" {
			text = ""
		}
		switch {
		case op.Kind == "refused":
		case op.Kind == "task":
			if !op.Began {
				k.texts[id] = []string{text}
			}
		case op.Began:
			if len(k.texts[id]) == 0 {
				k.texts[id] = []string{""}
			}
			k.texts[id] = append(k.texts[id], text)
			delete(k.tags, id)
		default:
			k.texts[id], k.tags[id] = []string{text}, op.Results[i].ETag
		}
	}
	if op.Task != "" {
		k.tasks = append(k.tasks, op.Task)
	}
}

// check compares the index in the next process with the expected state.
func (k *killed) check(t *testing.T, ops []killOp, round string) {
	t.Helper()
	began := time.Now()
	f := collectiontest.At(t, filepath.Join(k.folder, "files"), filepath.Join(k.folder, "index"),
		func(o *collection.Options) { o.Backend = collectiontest.Picky{Backend: o.Backend} })
	f.WillWork()
	end := workUntil(t, f.Collection, func() bool {
		return len(f.Tasks(access.Unrestricted(), "", collection.TaskWaiting, 1)) == 0
	})
	took := time.Since(began)
	check.That(t, took <= 10*time.Second, "it took %v to take over", took)
	view := f.Options.Catalog.View()
	defer view.Close()
	var batch []string
	for id, want := range k.texts {
		text, err := view.Text(id)
		must.That(t, err == nil || errors.Is(err, sheaf.ErrNotFound), "%v", err)
		is := string(text)
		check.That(t, slices.Contains(want, is), "%s is %q, want %q", id, is, want)
		if rec, err := view.Record(id); k.tags[id] != "" && (err != nil || collection.ETag(rec) != k.tags[id]) {
			t.Errorf("%s has another tag than the one that was answered: %v", id, err)
		}
		k.texts[id] = []string{string(text)}
		if strings.HasPrefix(string(id), "api:m") {
			batch = append(batch, string(text))
		}
	}
	for i := range batch {
		check.Equal(t, batch[i], batch[0], "a batch that is made in part: %q", batch)
	}
	for _, id := range k.tasks {
		task, err := f.Task(access.Unrestricted(), "", id)
		check.That(t, err == nil && task.State == collection.TaskDone, "the task %s: %+v, %v", id, task, err)
	}
	k.tasks = nil
	for i := range ops {
		if op := ops[i]; !op.Began && op.Kind != "refused" {
			err := op.send(t.Context(), f.Collection, filepath.Base(k.folder)+round)
			check.That(t, err == nil && fmt.Sprint(op) == fmt.Sprint(ops[i]), "repeated, %+v is answered %+v, %v", ops[i], op,
				err)
		}
	}
	end()
	file := intake.Open(f.Options.Intake)
	if err := errors.Join(file.Check(), file.View(func(tx *intake.Tx) error {
		if begun := collection.BegunChanges(tx); len(tx.Changing())+len(begun) > 0 {
			return fmt.Errorf("open are %v and %+v", tx.Changing(), begun)
		}
		return nil
	})); err != nil {
		t.Error(err)
	}
	must.That(t, !t.Failed(), "in %s, round %s", k.folder, round)
}

// TestKills kills processes during changes, at random and at every named point, and checks the index afterwards.
// SHEAF_TEST_KILLS sets the number of rounds.
func TestKills(t *testing.T) {
	rounds := 6
	if text := os.Getenv(killRounds); text != "" {
		rounds = must.Get(strconv.Atoi(text))
	}
	k := &killed{folder: t.TempDir(), texts: map[sheaf.ID][]string{}, tags: map[sheaf.ID]string{}}
	index := filepath.Join(k.folder, "index")
	must.Do(t, errors.Join(os.MkdirAll(filepath.Join(k.folder, "files"), 0o700), os.MkdirAll(index, 0o700)))
	older(t, index)
	for i, n := 0, len(killPoints)-1; i < rounds+len(killPoints); i++ {
		point := ""
		if i < len(killPoints) { // the last point first
			point = killPoints[n-i]
		} else if i%2 == 0 {
			point = killPoints[rand.IntN(n)]
		}
		t.Run(fmt.Sprint(i, " ", point), func(t *testing.T) {
			k.check(t, k.run(t, point, fmt.Sprint(i)), fmt.Sprint(i))
		})
		if t.Failed() {
			return
		}
	}
}
