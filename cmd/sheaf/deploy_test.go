package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

var deployed = filepath.Join("..", "..", "deploy")

// TestDashboard checks that /metrics has every metric of the dashboard.
func TestDashboard(t *testing.T) {
	content := must.Get(os.ReadFile(filepath.Join(deployed, "grafana.json")))
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	must.Do(t, json.Unmarshal(content, &dashboard))
	address := newNotes(t).serve(t)
	page(t, address+"/v1/search?query=apples")
	metrics := page(t, address+"/metrics")
	name := regexp.MustCompile(`\bsheaf_\w+`)
	label := regexp.MustCompile(`by \(([^)]+)\)|\{\{(\w+)\}\}`)
	found := 0
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			for _, metric := range name.FindAllString(target.Expr, -1) {
				found++
				line := regexp.MustCompile(`(?m)^` + metric + `(\{[^}]*\})? .*$`).FindString(metrics)
				check.That(t, line != "", "%s: /metrics has no %s", panel.Title, metric)
				for _, by := range label.FindAllStringSubmatch(target.Expr, -1) {
					for label := range strings.SplitSeq(by[1], ", ") {
						check.That(t, strings.Contains(line, label+`="`), "%s: %s has no label %s", panel.Title, metric, label)
					}
				}
			}
		}
	}
	check.That(t, found >= 6, "the dashboard has %d metrics", found)
}

// TestComposeFiles checks that the files parse and that services keep data on declared volumes. It
// also checks that services have health checks and wait for the services they need to be healthy.
func TestComposeFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(deployed, "compose.*.yaml"))
	must.That(t, err == nil && len(files) == 2, "%d files: %v", len(files), err)
	for _, file := range files {
		content := must.Get(os.ReadFile(file))
		var compose struct {
			Services map[string]struct {
				Image       string
				Environment map[string]string
				Volumes     []string
				Healthcheck struct{ Test []string }
				DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
			}
			Volumes map[string]any
		}
		err := yaml.Unmarshal(content, &compose)
		must.That(t, err == nil, "%s: %v", file, err)
		for name, s := range compose.Services {
			check.That(t, s.Image != "" && len(s.Healthcheck.Test) >= 2, "%s: %s: no image or no health check", file, name)
			named := func(volume string) bool {
				source, _, _ := strings.Cut(volume, ":")
				_, ok := compose.Volumes[source]
				return ok
			}
			check.That(t, slices.ContainsFunc(s.Volumes, named), "%s: %s keeps nothing on a volume", file, name)
			for other, need := range s.DependsOn {
				_, ok := compose.Services[other]
				check.That(t, ok && need.Condition == "service_healthy", "%s: %s needs %s, %s", file, name, other, need.Condition)
			}
		}
		store := compose.Services["sheaf"].Environment["SHEAF_STORE"]
		scheme, rest, _ := strings.Cut(store, "://")
		if at := strings.LastIndexByte(rest, '@'); at >= 0 {
			rest = rest[at+1:]
		}
		host, _, _ := strings.Cut(rest, ":")
		_, ok := compose.Services[host]
		check.That(t, ok, "%s: the store %s is no service", file, store)
		t.Run(scheme, func(t *testing.T) {
			if exec.Command("docker", "compose", "version").Run() != nil {
				t.Skip("docker compose is not here; it is the Go module github.com/docker/compose/v2/cmd")
			}
			inspect := exec.Command("docker", "compose", "-f", file, "config", "--quiet")
			inspect.Env = append(os.Environ(), "NOTES="+t.TempDir(), "POSTGRES_PASSWORD=x")
			out, err := inspect.CombinedOutput()
			check.That(t, err == nil, "%v: %s", err, out)
		})
	}
}

// TestSkill checks that the skill has a name, says when to use it, and names each tool.
func TestSkill(t *testing.T) {
	content := must.Get(os.ReadFile(filepath.Join("..", "..", "skills", "sheaf", "SKILL.md")))
	_, rest, _ := strings.Cut(string(content), "---\n")
	head, body, ok := strings.Cut(rest, "\n---\n")
	var skill struct{ Name, Description string }
	err := yaml.Unmarshal([]byte(head), &skill)
	must.That(t, err == nil && ok, "the head of the skill: %v", err)
	check.That(t, skill.Name == "sheaf" && len(skill.Description) >= 50 && len(skill.Description) <= 1024, "%+v", skill)
	check.Contains(t, body, "`search`", "`get`", "`similar`", "`context`", "`explain`")
}
