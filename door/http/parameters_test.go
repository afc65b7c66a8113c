package http_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sheaf/collection"
	httpdoor "sheaf/door/http"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestChoicesAreOfOneType checks that each enum of the OpenAPI document has values of one type.
// Client generators skip operations with mixed enums.
func TestChoicesAreOfOneType(t *testing.T) {
	s := start(t, notes, nil)
	var doc any
	s.get(t, "GET", "/openapi.json", "", &doc)
	values := 0
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			choices, _ := v["enum"].([]any)
			for _, c := range choices {
				values++
				if fmt.Sprintf("%T", c) != fmt.Sprintf("%T", choices[0]) {
					t.Errorf("%s: %v", at, choices)
					break
				}
			}
			for name, inner := range v {
				walk(at+"/"+name, inner)
			}
		case []any:
			for i, inner := range v {
				walk(at+"/"+strconv.Itoa(i), inner)
			}
		}
	}
	walk("#", doc)
	check.That(t, values != 0, "there are no lists of values")
}

// TestParametersWithinBounds checks that the server accepts parameters within the listed bounds, or
// reports a conflict of two of them.
func TestParametersWithinBounds(t *testing.T) {
	s := start(t, notes, nil)
	var list httpdoor.ProfileList
	s.get(t, "GET", "/v1/profiles", "", &list)
	draw := rand.New(rand.NewPCG(1, 2))
	conflicts := 0
	for _, profile := range list.Profiles {
		for range 20 {
			if profile.Error != "" {
				continue
			}
			set := map[string]any{}
			for _, p := range profile.Parameters {
				if draw.IntN(2) == 0 {
					continue
				}
				if len(p.OneOf) > 0 {
					set[p.Name] = p.OneOf[draw.IntN(len(p.OneOf))]
					continue
				}
				x := []float64{p.Min, p.Max, p.Min + draw.Float64()*(p.Max-p.Min)}[draw.IntN(3)]
				if p.Integer {
					x = float64(int(x))
				}
				set[p.Name] = x
				if draw.IntN(2) == 0 {
					set[p.Name] = strconv.FormatFloat(x, 'f', -1, 64)
				}
			}
			query := map[string]any{"query": "undo a commit", "profile": profile.Name, "parameters": set}
			body := must.Get(json.Marshal(query))
			res, answer := s.ask(t, "POST", "/v1/search", string(body))
			switch {
			case res.StatusCode == 409 && strings.Contains(string(answer), `"pointer":"#/parameters`) &&
				!strings.Contains(string(answer), "invalid: "):
				conflicts++
			case res.StatusCode != 200:
				t.Errorf("%s: %d %s", body, res.StatusCode, answer)
			}
		}
	}
	check.That(t, conflicts != 0, "no two parameters were in conflict: the test draws too few")
}

// TestFilters checks which texts the server takes as filters.
func TestFilters(t *testing.T) {
	s := start(t, notes, nil)
	for _, c := range []struct {
		filter string
		allows bool
	}{
		{"", true}, {" ", true}, {"tag:howto", true}, {"-tag:howto path:guides/", true}, {"tag:a OR tag:b ext:md", true},
		{"-(tag:a OR tag:b)", true}, {"tag:日本", true},
		{"after:2024-05 before:7d", true}, {"date:>=2024-02-28", true}, {"on:yesterday", true}, {"prop.rating:>3.5", true},
		{"prop.status:be*", true}, {"prop.x:*", true}, {`tag:"two words"`, true},
		{"path:git.md", true}, {"path:/a/b.md", true}, {"#a/b", true}, {"tag:—", true}, {"tag:*", true},
		{"-tags:* ext:*", true},
		{"prop.kg:PERSON::ann", true}, {"prop.a1:x", true}, {"prop.größe:1", true}, {"#größe", true}, {"#1a*", true},
		{"ext:md,txt", true}, {"after:2024-02-29", true}, {"after:2000-02-29", true},
		{"((tag:a OR tag:b) ext:md)", true}, {"(tag:a tag:b)", true}, {"tag:a OR (tag:b tag:c)", true},
		{"-( tag:a -tag:b OR ext:md )", true},
		{"prop.date:>2024-01-05", true}, {"+tag:a", true}, {"tag:a\text:md\nprop.x:!", true},
		{"after:2023-02-29", false}, {"after:1900-02-29", false}, {"#12", false}, {"prop.x:>word", false}, {"tag:a,b", false},
		{"()", false}, {"tag:a OR", false}, {"tag:a OR words", false},
		{"howto", false}, {"tag:", false}, {"path:guides", false}, {"after:2024-13", false}, {"on:2024-02-31", false},
		{"tag:a words", false}, {"(tag:a", false}, {"tag:**", false}, {"a*b", false}, {"OR", false},
	} {
		body, _ := json.Marshal(map[string]string{"query": "undo", "filter": c.filter})
		res, answer := s.ask(t, "POST", "/v1/search", string(body))
		check.That(t, res.StatusCode == 200 == c.allows, "%q: %d %s", c.filter, res.StatusCode, answer)
	}
}

// TestStages checks that every stage is listed with its settings, and accepts the bounds of their values.
func TestStages(t *testing.T) {
	s := start(t, notes, nil)
	for _, name := range collection.Stages() {
		for _, o := range collection.StageOptions(name) {
			if !o.Number() {
				continue
			}
			for _, x := range []float64{o.Min, o.Max} {
				set := map[string]any{o.Name: x}
				for _, other := range collection.StageOptions(name) {
					switch {
					case other.Default != "" || other.Name == o.Name:
					case other.Number():
						set[other.Name] = max(1, other.Min)
					case len(other.OneOf) > 0:
						set[other.Name] = other.OneOf[0]
					default:
						set[other.Name] = "tag"
					}
				}
				body, err := json.Marshal(map[string]any{"rankings": [][]collection.Scored{{{ID: "notes:git.md", Score: 1}}},
					"settings": set})
				must.Do(t, err)
				// each setting of a pair bounds the other
				pair := slices.Contains([]string{"normalize.low", "normalize.high", "adaptive.floor", "adaptive.ceiling"}, name+"."+
					o.Name)
				res, answer := s.ask(t, "POST", "/v1/stages/"+name, string(body))
				check.That(t, res.StatusCode == 200 || pair && res.StatusCode == 409, "%s %s: %d %s", name, body, res.StatusCode,
					answer)
			}
		}
	}
	var list httpdoor.StageList
	s.get(t, "GET", "/v1/stages", "", &list)
	for _, name := range collection.Stages() {
		check.That(t, len(list.Settings[name]) == len(collection.StageOptions(name)), "%s has the settings %v", name,
			list.Settings[name])
	}
}
