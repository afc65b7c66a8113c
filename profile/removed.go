package profile

import (
	"fmt"
	"slices"
	"strings"
)

// These names were in the default profile and the stages before the default ranking became a sum of
// shares. The value is the replacement. Older profiles of users still have these names.
var (
	goneStages = map[string]string{
		"support":     "remove it",
		"whole":       "use word_pairs",
		"guard":       "remove it",
		"title_boost": "use names",
		"min_score":   "use adaptive, with floor 0 and the least score as absolute",
	}
	goneParameters = map[string]string{
		"similarity": "remove it",
		"support":    "remove it",
		"whole":      "remove it",
		"coverage":   "remove it, or use pairs",
		"threshold":  "remove it, or write the stage tree into then",
		"pool":       "remove it, or write limit into the branches",
		"trust":      "remove it",
	}
	goneBranches = map[string]string{
		"titles": "remove it; the stage names looks at titles",
	}
)

// Gone returns the replacement of an old parameter of the default ranking. It returns "" when the
// profile has a parameter of that name, or does not extend the default.
func (p *Profile) Gone(name string) string {
	names := make([]string, len(p.Parameters))
	for i := range p.Parameters {
		names[i] = p.Parameters[i].Name
	}
	if p.root != Default || slices.Contains(names, name) {
		return ""
	}
	return goneParameter(name, p.Name, names)
}

// goneParameter returns the error text for an old parameter of the default ranking, or "". profile
// is the user's profile, and names are its parameters.
func goneParameter(name, profile string, names []string) string {
	return gone(goneParameters[name], "parameter %s of profile %s is gone: the default ranking no longer has it; %s "+
		"(parameters: %s)", name, profile, names)
}

// goneBranch returns the error text for an old branch of the default profile, or "".
func goneBranch(name, profile string, names []string) string {
	return gone(goneBranches[name], "branch %s of profile %s is gone: %s (branches: %s)", name, profile, names)
}

// gone returns the error text with the replacement, or "" when there is none.
func gone(instead, format, name, profile string, names []string) string {
	if instead == "" {
		return ""
	}
	return fmt.Sprintf(format, name, profile, instead, strings.Join(names, ", "))
}

// GoneStage returns the error text for a stage that was removed, or "".
func GoneStage(name string) string {
	instead, ok := goneStages[name]
	if !ok {
		return ""
	}
	return fmt.Sprintf("stage %s is gone: %s", name, instead)
}
