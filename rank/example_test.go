package rank_test

import (
	"fmt"

	"sheaf"
	"sheaf/rank"
)

// The example fuses two rankings. B is second and first, so B wins.
func ExampleRRF() {
	vector := sheaf.Ranking{{ID: "A", Score: 0.9}, {ID: "B", Score: 0.8}, {ID: "C", Score: 0.7}}
	text := sheaf.Ranking{{ID: "B", Score: 12}, {ID: "D", Score: 7}, {ID: "A", Score: 5}}
	fused, err := rank.RRF{K: 60}.Fuse([]rank.Leg{
		{Name: "vector", Hits: vector, Weight: 1},
		{Name: "text", Hits: text, Weight: 1},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, h := range fused {
		fmt.Printf("%s %.4f\n", h.ID, h.Score)
	}
	// Output:
	// B 0.0325
	// A 0.0323
	// D 0.0161
	// C 0.0159
}

// The example cuts a list where the scores drop.
func ExampleElbow() {
	in := sheaf.Ranking{{ID: "a", Score: 8}, {ID: "b", Score: 7.5}, {ID: "c", Score: 7}, {ID: "d", Score: 3.2}}
	out, err := rank.Elbow{Ratio: 0.5, Max: 20}.Apply(in, rank.Env{})
	fmt.Println(len(out), err)
	// Output: 3 <nil>
}
