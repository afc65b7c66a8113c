package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"sheaf/internal/must"
)

// commandSpan finds commands between backquotes and on lines of code blocks.
var commandSpan = regexp.MustCompile("(?m)`(sheaf [^`\n]+)`|^(?:\\$ )?(?:go run ./cmd/)?(sheaf .+)$")

// TestCommandsOfDocuments checks that each command in a document exists and accepts its flags.
func TestCommandsOfDocuments(t *testing.T) {
	root := filepath.Join("..", "..")
	names := must.Get(filepath.Glob(filepath.Join(root, "doc", "*.md")))
	decisions := must.Get(filepath.Glob(filepath.Join(root, "doc", "decisions", "*.md")))
	names = append(names, decisions...)
	for _, name := range []string{"README.md", "SECURITY.md", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md"} {
		names = append(names, filepath.Join(root, name))
	}
	checked := 0
	for _, name := range names {
		if filepath.Base(name) == "errors.md" { // it lists texts of errors
			continue
		}
		text := must.Get(os.ReadFile(name))
		for _, found := range commandSpan.FindAllStringSubmatch(string(text), -1) {
			line := found[1] + found[2]
			if found[2] != "" && !inCode(string(text), found[0]) {
				continue
			}
			checked++
			a := newApp(os.Stdin, os.Stdout, os.Stderr)
			command := a.command()
			cmd, rest, err := command.Find(shellWords(line)[1:])
			if err == nil && cmd == command && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && rest[0] != "help" {
				err = os.ErrNotExist
			}
			if err == nil && !cmd.DisableFlagParsing {
				err = cmd.ParseFlags(rest)
			}
			if err != nil && !errors.Is(err, pflag.ErrHelp) && !strings.Contains(err.Error(), "needs an argument") {
				t.Errorf("%s: %s: %v", filepath.Base(name), line, err)
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d commands found", checked)
	}
}

var shellBlock = regexp.MustCompile("(?s)\n```sh\n(.*?)\n```\n")

// TestReadmeCommands checks that the shell blocks of README.md run in order in a new home folder.
// It skips the commands that build the program, and starts in the root of the repository.
func TestReadmeCommands(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skipf("no sh: %v", err)
	}
	readme := must.Get(os.ReadFile(filepath.Join("..", "..", "README.md")))
	blocks := shellBlock.FindAllStringSubmatch(string(readme), -1)
	if len(blocks) < 2 {
		t.Fatalf("README.md has %d blocks of commands", len(blocks))
	}
	home := t.TempDir()
	must.Do(t, os.CopyFS(filepath.Join(home, "notes"),
		os.DirFS(filepath.Join("..", "..", "examples", "notes"))))
	for _, name := range []string{"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", home)
	script := "set -e\n"
	for _, block := range blocks {
		for line := range strings.Lines(block[1] + "\n") {
			line = strings.ReplaceAll(line, "go run ./cmd/sheaf ", "sheaf ")
			if !strings.HasPrefix(line, "go ") && !strings.HasPrefix(line, "sh ") && !strings.HasPrefix(line, "git ") {
				script += line
			}
		}
	}
	cmd := exec.Command("sh", "-x", "-c", script)
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// inCode reports whether line is in a fenced block of text.
func inCode(text, line string) bool {
	before, _, _ := strings.Cut(text, "\n"+line)
	return strings.Count(before, "\n```")%2 == 1
}

// shellWords splits the first command of line into words, as a shell does before it expands them.
func shellWords(line string) []string {
	var words []string
	var word strings.Builder
	quote, open := rune(0), false
	for _, r := range line + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, open = r, true
		case strings.ContainsRune("|&;<>", r), r == '#' && word.Len() == 0 && !open:
			return words
		case r == ' ':
			if word.Len() > 0 || open {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(r)
		}
	}
	return words
}
