package profile_test

import (
	"fmt"

	"sheaf/profile"
)

// The example changes one number of a built-in profile.
func ExampleParse() {
	p, err := profile.Parse("mine.yaml", []byte("name: mine\nextends: rrf\nparameters: {rrf_k: 20}\n"), profile.Builtin)
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := p.Plan(10, map[string]string{"vector_weight": "0.25"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Main.FusionText)
	for _, b := range plan.Main.Branches {
		fmt.Println(b.Name, b.Retrieve, b.Limit, b.Weight)
	}
	_, err = profile.Parse("wrong.yaml", []byte("name: wrong\nextends: rrf\nparameters: {rrf_k: 0}\n"), profile.Builtin)
	fmt.Println(err)
	// Output:
	// fuse: {method: rrf, k: 20}
	// vector vector 50 0.5
	// text text 50 1.5
	// invalid: wrong.yaml:3:21: the default of parameter rrf_k is 0: must be a whole number within 1..1000
}
