package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// file is an entry of an archive. A name that ends with a slash is a folder.
type file struct {
	name    string
	content []byte
	program bool
}

func (f file) mode() int64 {
	if f.program || strings.HasSuffix(f.name, "/") {
		return 0o755
	}
	return 0o644
}

// completions are the files that shells look for, by shell.
var completions = map[string]string{"bash": "sheaf.bash", "zsh": "_sheaf", "fish": "sheaf.fish",
	"powershell": "sheaf.ps1"}

// makeShare makes what is the same on every platform, with a program of this one:
// manual pages in man/man1, completions, license, documents, and in NOTICE.md
// whose work the model and what is linked into binaries are.
func makeShare(ctx context.Context, src source, dir string, binaries []string) ([]file, error) {
	host := target{runtime.GOOS, runtime.GOARCH}
	tmp, err := os.MkdirTemp("", "sheaf-release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	binary := host.binary(tmp)
	if err := build(ctx, src, host, ".", binary); err != nil {
		return nil, err
	}
	share := filepath.Join(dir, "share")
	man := exec.CommandContext(ctx, binary, "man", filepath.Join(share, "man", "man1"))
	man.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(src.date.Unix(), 10))
	if out, err := man.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("sheaf man: %w\n%s", err, out)
	}
	for shell, name := range completions {
		script, err := exec.CommandContext(ctx, binary, "completion", shell).Output()
		if err != nil {
			return nil, fmt.Errorf("sheaf completion %s: %w", shell, err)
		}
		to := filepath.Join(share, "completions", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, script, 0o644)); err != nil {
			return nil, err
		}
	}
	texts, err := documents()
	if err != nil {
		return nil, err
	}
	for _, name := range texts {
		if err := copyFile(name, filepath.Join(share, name)); err != nil {
			return nil, err
		}
	}
	var parts []byte
	for _, model := range []string{"english", "builtin"} {
		text, err := os.ReadFile("model/static/" + model + "/NOTICE.md")
		if err != nil {
			return nil, err
		}
		parts = append(append(parts, text...), '\n')
	}
	linked, err := notice(ctx, binaries)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(share, "NOTICE.md"), append(parts, linked...), 0o644); err != nil {
		return nil, err
	}
	return readFiles(share)
}

// documents are the texts that come with the program: what README.md and the help of
// commands send their readers to.
func documents() ([]string, error) {
	names := []string{"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md"}
	err := filepath.WalkDir("doc", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// readFiles reads every file below dir, by name.
func readFiles(dir string) ([]file, error) {
	var files []file
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		files = append(files, file{name: filepath.ToSlash(rel), content: content})
		return err
	})
	return files, err
}

// makeArchive packs the program of t with share, and returns the name of the file.
func makeArchive(src source, t target, dir string, share []file) (string, error) {
	binary := t.binary(dir)
	program, err := os.ReadFile(binary)
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("sheaf-%s-%s-%s", src.version, t.os, t.arch)
	files := []file{{name: path.Join(name, filepath.Base(binary)), content: program, program: true}}
	for _, f := range share {
		f.name = path.Join(name, f.name)
		files = append(files, f)
	}
	var packed bytes.Buffer
	ending := ".tar.gz"
	if t.os == "windows" {
		ending = ".zip"
		err = writeZip(&packed, files, src.date)
	} else {
		err = writeTarGz(&packed, files, src.date)
	}
	if err != nil {
		return "", err
	}
	name = filepath.Join(dir, name+ending)
	return name, os.WriteFile(name, packed.Bytes(), 0o644)
}

// writeTarGz writes files as they come; owner is root, time is date.
func writeTarGz(w io.Writer, files []file, date time.Time) error {
	zw, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	tw := tar.NewWriter(zw)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: f.mode(), Size: int64(len(f.content)), ModTime: date, Uname: "root",
			Gname: "root", Format: tar.FormatGNU}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := tw.WriteHeader(h); err != nil {
			return err
		}
		if _, err := tw.Write(f.content); err != nil {
			return err
		}
	}
	return errors.Join(tw.Close(), zw.Close())
}

func writeZip(w io.Writer, files []file, date time.Time) error {
	zw := zip.NewWriter(w)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: date}
		h.SetMode(fs.FileMode(f.mode()))
		entry, err := zw.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := entry.Write(f.content); err != nil {
			return err
		}
	}
	return zw.Close()
}

func sha256File(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// writeSums writes SHA256SUMS, for "sha256sum --check", of what is published: the
// files of dir itself and the programs.
func writeSums(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return err
	}
	programs, err := filepath.Glob(filepath.Join(dir, "bin", "*", "*"))
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, name := range slices.Concat(names, programs) {
		if info, err := os.Stat(name); err != nil || info.IsDir() || filepath.Base(name) == mark {
			continue
		}
		sum, err := sha256File(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s  %s\n", sum, filepath.ToSlash(rel))
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums.String()), 0o644)
}
