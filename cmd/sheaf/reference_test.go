package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"sheaf/cmd/sheaf/internal/config"
	"sheaf/internal/must"
)

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
