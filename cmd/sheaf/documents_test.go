package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sheaf/cmd/sheaf/internal/config"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// commandSpan finds commands between backquotes and on lines of code blocks.
var commandSpan = regexp.MustCompile("(?m)`(sheaf [^`\n]+)`|^(?:\\$ )?(?:go run ./cmd/)?(sheaf .+)$")

// TestCommandsOfDocuments checks that each command in a document exists and accepts its flags.
func TestCommandsOfDocuments(t *testing.T) {
	must.Whole(t, "runs without the race detector")
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
			check.That(t, err == nil || errors.Is(err, pflag.ErrHelp) || strings.Contains(err.Error(), "needs an argument"),
				"%s: %s: %v", filepath.Base(name), line, err)
		}
	}
	check.That(t, checked >= 100, "only %d commands found", checked)
}

var shellBlock = regexp.MustCompile("(?s)\n```sh\n(.*?)\n```\n")

// TestReadmeCommands checks that the shell blocks of README.md run in order in a new home folder.
// It skips the commands that build the program, and starts in the root of the repository.
func TestReadmeCommands(t *testing.T) {
	must.Whole(t, "runs without the race detector")
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skipf("no sh: %v", err)
	}
	readme := must.Get(os.ReadFile(filepath.Join("..", "..", "README.md")))
	blocks := shellBlock.FindAllStringSubmatch(string(readme), -1)
	must.That(t, len(blocks) >= 2, "README.md has %d blocks of commands", len(blocks))
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
	out, err := cmd.CombinedOutput()
	check.That(t, err == nil, "%v\n%s", err, out)
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

var updateReadme = flag.Bool("update-readme", false, "write the output of this program into README.md and doc")

// shownOutput finds a block of a page that shows a command on examples/notes and its output.
var shownOutput = regexp.MustCompile("(?s)```console\n\\$ (sheaf [^\n]+ --in examples/notes[^\n]*)\n(.*?)```\n")

// shownLines is the number of lines that a page shows of a long output.
const shownLines = 11

// TestReadmeOutput runs the commands that README.md and the pages of doc show with output, and
// compares the output. A line "..." stands for omitted lines.
func TestReadmeOutput(t *testing.T) {
	must.Whole(t, "runs without the race detector")
	for _, name := range []string{"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, t.TempDir())
	}
	t.Setenv("COLUMNS", "100")
	t.Chdir(filepath.Join("..", ".."))
	pages := must.Get(filepath.Glob("doc/*.md"))
	for _, page := range append(pages, "README.md") {
		checkShownOutput(t, page)
	}
}

// checkShownOutput compares the output on one page, or writes it with -update-readme.
func checkShownOutput(t *testing.T, page string) {
	t.Helper()
	text := must.Get(os.ReadFile(page))
	blocks := shownOutput.FindAllSubmatch(text, -1)
	must.That(t, len(blocks) != 0 || page != "README.md", "README.md shows no command on examples/notes")
	for _, block := range blocks {
		out, err := exec.Command("sheaf", shellWords(string(block[1]))[1:]...).Output()
		if err != nil {
			t.Errorf("%s: %s: %v", page, block[1], err)
			continue
		}
		got := trimmedLines(string(out))
		shown := string(block[2])
		head, cut := strings.CutSuffix(shown, "...\n")
		if *updateReadme {
			if lines := strings.SplitAfter(got, "\n"); cut && len(lines) > shownLines {
				got = strings.Join(lines[:shownLines], "") + "...\n"
			}
			text = bytes.Replace(text, block[0], bytes.Replace(block[0], block[2], []byte(got), 1), 1)
			continue
		}
		check.That(t, got == shown || cut && strings.HasPrefix(got, head),
			"%s prints\n%s\n%s shows\n%s\nsh scripts/readme.sh writes it again", block[1], got, page, shown)
	}
	if *updateReadme && len(blocks) > 0 {
		must.Do(t, os.WriteFile(page, text, 0o644))
	}
}

// trimmedLines removes spaces at the ends of lines.
func trimmedLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// TestRecordedReference compares doc/commands.md and doc/settings.md with the program. With
// -update-recorded it writes them.
func TestRecordedReference(t *testing.T) {
	for name, want := range map[string]string{"commands.md": commandsPage(), "settings.md": settingsPage()} {
		path := filepath.Join("..", "..", "doc", name)
		if *updateRecorded {
			must.Do(t, os.WriteFile(path, []byte(want), 0o644))
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, []byte(want)) {
			t.Errorf("doc/%s differs from the program (%v): go test ./cmd/sheaf -run TestRecordedReference "+
				"-update-recorded writes it", name, err)
		}
	}
}

func commandsPage() string {
	var b strings.Builder
	b.WriteString("# Commands\n\n`sheaf help COMMAND` prints the flags of a command, with examples. This page is made " +
		"from the program\n(`go test ./cmd/sheaf -run TestRecordedReference -update-recorded`).\n")
	root := newApp(os.Stdin, os.Stdout, os.Stderr).command()
	for _, group := range root.Groups() {
		fmt.Fprintf(&b, "\n## %s\n\n| command | what it does |\n|---|---|\n", strings.TrimSuffix(group.Title, ":"))
		for _, c := range root.Commands() {
			if c.GroupID == group.ID {
				writeCommand(&b, c)
			}
		}
	}
	return b.String()
}

// writeCommand writes a row for c, or a row for each of its subcommands.
func writeCommand(b *strings.Builder, c *cobra.Command) {
	if !c.IsAvailableCommand() {
		return
	}
	if c.Runnable() {
		usage := strings.TrimSuffix(c.UseLine(), " [flags]")
		fmt.Fprintf(b, "| `%s` | %s |\n", strings.ReplaceAll(usage, "|", "\\|"), c.Short)
	}
	for _, below := range c.Commands() {
		writeCommand(b, below)
	}
}

func settingsPage() string {
	var b strings.Builder
	b.WriteString("# Settings\n\n`sheaf config set KEY VALUE` writes a setting, and `sheaf config show --origin` prints " +
		"all with their origins. Flags win\nover variables, these over `.sheaf.yaml` of the folder or above it, that over " +
		"your own file. A key with a dot is a\nmapping in a file: `chunk: {window_size: 256}`. This page is made from the " +
		"program\n(`go test ./cmd/sheaf -run TestRecordedReference -update-recorded`).\n\n" +
		"| key | variable | default | meaning |\n|---|---|---|---|\n")
	for _, k := range config.Keys() {
		value := k.Default
		if value != "" {
			value = "`" + value + "`"
		}
		help := strings.NewReplacer("|", "\\|", "<!-- -->", "`<!-- -->`", "%% %%", "`%% %%`").Replace(k.Help)
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", k.Name, k.Variable(), value, help)
	}
	return b.String()
}
