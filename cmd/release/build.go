package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// target is a platform.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

var allTargets = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"},
	{"windows", "arm64"},
}

// binary is where the program of t lies in dir.
func (t target) binary(dir string) string {
	name := "sheaf"
	if t.os == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, "bin", t.os+"_"+t.arch, name)
}

// source is what is built. Nothing else may tell in the bytes of a release.
type source struct {
	version string // without the "v" of tags
	commit  string
	date    time.Time // of the commit; every time stamp in a release
	home    string    // address of the module; "" when its path names none
}

// homepage returns the address of the module, or "" when its path has no host. scripts/publish-as.sh sets the path.
func homepage(goMod []byte) string {
	line, _, _ := strings.Cut(string(goMod), "\n")
	module := strings.TrimSpace(strings.TrimPrefix(line, "module "))
	if host, _, _ := strings.Cut(module, "/"); !strings.Contains(host, ".") {
		return ""
	}
	return "https://" + module
}

var versionForm = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.]+)?$`)

// describe finds out what the work tree is. The version is the one given, else the
// tag "v1.2.3" of the commit, else "0.0.0-DATE-COMMIT"; "+dirty" says that the
// files are not those of the commit.
func describe(ctx context.Context, version string) (source, error) {
	show, err := git(ctx, "show", "--no-patch", "--format=%H %ct", "HEAD")
	if err != nil {
		return source{}, err
	}
	commit, stamp, _ := strings.Cut(show, " ")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return source{}, fmt.Errorf("git show: %q is no commit with a time", show)
	}
	goMod, err := os.ReadFile("go.mod")
	if err != nil {
		return source{}, err
	}
	src := source{commit: commit, date: time.Unix(seconds, 0).UTC(), home: homepage(goMod)}
	src.version = strings.TrimPrefix(version, "v")
	if version == "" {
		if tag, err := git(ctx, "describe", "--tags", "--exact-match", "--match", "v[0-9]*"); err == nil {
			src.version = strings.TrimPrefix(tag, "v")
		} else {
			src.version = "0.0.0-" + src.date.Format("20060102150405") + "-" + commit[:12]
		}
		status, err := git(ctx, "status", "--porcelain")
		if err != nil {
			return source{}, err
		}
		if status != "" {
			src.version += "+dirty"
		}
	}
	if !versionForm.MatchString(src.version) {
		return source{}, fmt.Errorf("version %q: must look like 1.2.3 or 1.2.3-rc.1", src.version)
	}
	return src, nil
}

func git(ctx context.Context, args ...string) (string, error) {
	return output(exec.CommandContext(ctx, "git", args...))
}

// output runs a command and returns what it writes; the error has what it says of that.
func output(cmd *exec.Cmd) (string, error) {
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
		}
		return "", fmt.Errorf("%s %s: %w", cmd.Args[0], cmd.Args[1], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// build compiles the sources in root for t. env is added to the environment.
func build(ctx context.Context, src source, t target, root, binary string, env ...string) error {
	// The id is ours, so that equal sources give equal bytes on every machine. Without
	// any the linker leaves out LC_UUID, and macOS 26 does not start the program.
	id := fmt.Sprintf("sheaf-%s-%s-%s-%s", src.version, src.commit, t.os, t.arch)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", fmt.Sprintf("-s -w -buildid=%s -X main.release=%s -X main.commit=%s", id, src.version, src.commit), "-o",
		binary, "./cmd/sheaf")
	cmd.Dir = root
	settings, err := goSettings(ctx)
	if err != nil {
		return err
	}
	cmd.Env = append(settings, "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOAMD64=v1", "GOARM64=v8.0")
	cmd.Env = append(cmd.Env, env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build for %s: %w\n%s", t, err, out)
	}
	// The container's user runs it as it lies here, whatever the umask.
	return os.Chmod(binary, 0o755)
}

// goSettings is an environment for go without what people set for themselves, there
// or with go env -w, and what might tell in the bytes. Where modules come from and
// where Go keeps things stays as it is.
func goSettings(ctx context.Context) ([]string, error) {
	kept := []string{"GOPATH", "GOMODCACHE", "GOCACHE", "GOTMPDIR", "GOPROXY", "GONOPROXY", "GOSUMDB", "GONOSUMDB",
		"GOPRIVATE", "GOINSECURE", "GOVCS", "GOAUTH", "GOTOOLCHAIN"}
	out, err := exec.CommandContext(ctx, "go", append([]string{"env"}, kept...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	env := append(os.Environ(), "GOENV=off", "GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off", "GO111MODULE=on", "GOWORK=off")
	values := strings.Split(string(out), "\n")
	for i, name := range kept {
		env = append(env, name+"="+strings.TrimRight(values[i], "\r"))
	}
	return env, nil
}

// checkReproducible builds each target here, and from nothing in a copy of the
// sources in another folder with an empty cache, and compares.
func checkReproducible(ctx context.Context, src source, targets []target) error {
	tmp, err := os.MkdirTemp("", "sheaf-release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	elsewhere := filepath.Join(tmp, "a", "folder", "elsewhere")
	if err := copySources(ctx, elsewhere); err != nil {
		return err
	}
	here, there := filepath.Join(tmp, "here"), filepath.Join(tmp, "there")
	for _, t := range targets {
		if err := build(ctx, src, t, ".", here); err != nil {
			return err
		}
		if err := build(ctx, src, t, elsewhere, there, "GOCACHE="+filepath.Join(tmp, "cache")); err != nil {
			return err
		}
		a, err := sha256File(here)
		if err != nil {
			return err
		}
		b, err := sha256File(there)
		if err != nil {
			return err
		}
		if a != b {
			return fmt.Errorf("two builds of %s differ: %s here, %s elsewhere", t, a, b)
		}
		fmt.Printf("%s: two builds in two folders, one from nothing, are the same bytes: %s\n", t, a)
	}
	return nil
}

// copySources copies the files that git knows or would add.
func copySources(ctx context.Context, dir string) error {
	list, err := git(ctx, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimRight(list, "\x00"), "\x00") {
		if err := copyFile(name, filepath.Join(dir, filepath.FromSlash(name))); err != nil &&
			!errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
