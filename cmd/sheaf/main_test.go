package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sheaf": main})
}

// TestScripts runs every script in testdata/script with the real command, each in its own home
// folder.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("SHEAF_UPDATE_SCRIPTS") != "",
		Setup:               privateHome,
		Cmds:                scriptCommands,
		Condition: func(name string) (bool, error) {
			switch name {
			case "unprivileged": // no permission stops root, so root must be able to become another user
				return canBeNobody(), nil
			case "tmpfs":
				return canMount(), nil
			case "postgres", "opensearch", "weaviate", "transformer": // true if the address of this test server is set
				return os.Getenv("SHEAF_TEST_"+strings.ToUpper(name)) != "", nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
	})
}

// privateHome gives a script its own home folder and clears the environment variables for colors
// and settings.
func privateHome(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, ".home")
	for name, value := range map[string]string{
		"HOME":            home,
		"USERPROFILE":     home,
		"XDG_DATA_HOME":   filepath.Join(home, "data"),
		"XDG_CONFIG_HOME": filepath.Join(home, "config"),
		"XDG_STATE_HOME":  filepath.Join(home, "state"),
		"XDG_CACHE_HOME":  filepath.Join(home, "cache"),
		"NO_COLOR":        "",
		"POSTGRES":        os.Getenv("SHEAF_TEST_POSTGRES"),
		"OPENSEARCH":      strings.TrimPrefix(os.Getenv("SHEAF_TEST_OPENSEARCH"), "http://"),
		"WEAVIATE":        strings.TrimPrefix(os.Getenv("SHEAF_TEST_WEAVIATE"), "http://"),
		"TRANSFORMER":     os.Getenv("SHEAF_TEST_TRANSFORMER"),
		// STAMP and SCHEMA name places on servers, because servers keep the data of earlier runs.
		"STAMP":          fmt.Sprintf("script-%d-%d", os.Getpid(), time.Now().Unix()),
		"SCHEMA":         fmt.Sprintf("script_%d_%d", os.Getpid(), time.Now().Unix()),
		"CLICOLOR_FORCE": "",
		// With the race detector, a process sleeps for a second at its end.
		"GORACE": "atexit_sleep_ms=0",
	} {
		env.Setenv(name, value)
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	// The next run reads files with a fresh modification time again, because they may have changed
	// within the resolution of the clock. Scripts therefore begin with older files.
	past := time.Now().Add(-time.Hour)
	return filepath.WalkDir(env.WorkDir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, past, past))
	})
}
