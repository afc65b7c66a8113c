package profile

import (
	"fmt"

	"sheaf/internal/suggest"
)

// removed has advice about names that only older default rankings had. A key is a kind, such as "stage", and a name.
var removed = map[string]string{
	"stage support":        "remove it",
	"stage whole":          "use word_pairs",
	"stage guard":          "remove it",
	"stage title_boost":    "use names",
	"stage min_score":      "use adaptive, with floor 0 and the least score as absolute",
	"parameter similarity": "remove it",
	"parameter support":    "remove it",
	"parameter whole":      "remove it",
	"parameter coverage":   "remove it, or use pairs",
	"parameter threshold":  "remove it, or write the stage tree into then",
	"parameter pool":       "remove it, or write limit into the branches",
	"parameter trust":      "remove it",
	"branch titles":        "remove it; the stage names looks at titles",
}

// Hint gives advice about an unknown name. kind is "stage", "parameter" or "branch". If an older version had this name,
// the advice is its replacement. Otherwise the advice is the most similar known name. Without advice, Hint returns "".
func Hint(kind, name string, known []string) string {
	if instead := removed[kind+" "+name]; instead != "" {
		return "it was removed: " + instead
	}
	if near := suggest.Nearest(name, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}
