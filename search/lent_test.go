package search_test

import (
	"fmt"
	"reflect"
	"sync"
	"testing"

	"sheaf/search"
)

// TestLentMemory: a result in memory that was lent to other searches before is that of a search
// in memory of its own, and one that was given no memory stays what it is, however many searches
// work beside it and after it with what it worked with.
func TestLentMemory(t *testing.T) {
	s, p := searcher(crowd()), parse(t, crowded)
	asked := []string{"cat", "dog cat", "cat dog bird", "bird", "no such thing"}
	ask := func(text string, limit int, room *search.Room) *search.Result {
		r := mustSearch(t, s, query(text, limit), p, search.Options{Evidence: limit%2 == 0, Room: room})
		for i := range r.Took {
			r.Took[i].Duration = 0
		}
		return r
	}
	type key struct {
		text  string
		limit int
	}
	want, as := map[key]*search.Result{}, map[key]string{}
	for _, text := range asked {
		for limit := range 12 {
			k := key{text, limit + 1}
			want[k] = ask(text, limit+1, nil)
			as[k] = fmt.Sprintf("%+v", want[k].Took)
		}
	}
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			room := &search.Room{}
			for i := range 300 {
				k := key{asked[(i+worker)%len(asked)], 1 + i*7%12}
				if got := ask(k.text, k.limit, room); !reflect.DeepEqual(got, want[k]) {
					t.Errorf("%v: %+v, want %+v", k, got, want[k])
					return
				}
				room.Clear()
			}
		})
	}
	wait.Wait()
	for k, r := range want {
		if fmt.Sprintf("%+v", r.Took) != as[k] {
			t.Errorf("%v: the steps became %v, were %s", k, r.Took, as[k])
		}
	}
}
