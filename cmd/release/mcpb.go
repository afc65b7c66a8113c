package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// bundle is the manifest of an MCP bundle, version 0.3: a zip archive from which an assistant installs a server.
type bundle struct {
	ManifestVersion string                `json:"manifest_version"`
	Name            string                `json:"name"`
	DisplayName     string                `json:"display_name"`
	Version         string                `json:"version"`
	Description     string                `json:"description"`
	Author          bundleAuthor          `json:"author"`
	Homepage        string                `json:"homepage,omitempty"`
	License         string                `json:"license"`
	Server          bundleServer          `json:"server"`
	Tools           []bundleTool          `json:"tools"`
	Compatibility   bundleSystems         `json:"compatibility"`
	UserConfig      map[string]bundleWish `json:"user_config"`
}

type bundleAuthor struct {
	Name string `json:"name"`
}

type bundleServer struct {
	Type       string        `json:"type"`
	EntryPoint string        `json:"entry_point"`
	Config     bundleCommand `json:"mcp_config"`
}

type bundleCommand struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

type bundleTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type bundleSystems struct {
	Platforms []string `json:"platforms"`
}

// bundleWish is what the assistant asks the user when it installs the bundle.
type bundleWish struct {
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

// manifest makes the manifest of the bundle for t. program is the file name of the program.
func manifest(src source, t target, program string) bundle {
	entry := "server/" + program
	system := t.os
	if system == "windows" {
		system = "win32"
	}
	return bundle{
		ManifestVersion: "0.3", Name: "sheaf", DisplayName: "Sheaf", Version: src.version,
		Description: "Searches your notes and documents by words and by meaning, on this computer.",
		Author:      bundleAuthor{"The Sheaf authors"}, Homepage: src.home, License: "Apache-2.0",
		Server: bundleServer{Type: "binary", EntryPoint: entry, Config: bundleCommand{
			Command: "${__dirname}/" + entry,
			Args:    []string{"mcp", "--in", "${user_config.folder}"},
			Env:     map[string]string{},
		}},
		Tools: []bundleTool{
			{"search", "Find passages by words and by meaning."},
			{"get", "Read a document, a section or lines."},
			{"multi_get", "Read several documents at once."},
			{"similar", "Find passages of other documents like one."},
			{"context", "Find what to read beside a passage."},
			{"explain", "Say why a result has its place, or why one is missing."},
			{"status", "Say what is indexed."},
			{"list_collections", "List what can be searched."},
		},
		Compatibility: bundleSystems{[]string{system}},
		UserConfig: map[string]bundleWish{"folder": {
			Type: "directory", Title: "Folder", Description: "The folder with your notes or documents.", Required: true,
		}},
	}
}

// makeBundle writes the MCP bundle of t: the manifest, the program, and the license and notice of share.
func makeBundle(src source, t target, dir string, share []file) error {
	binary := t.binary(dir)
	program, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(manifest(src, t, filepath.Base(binary)), "", "  ")
	if err != nil {
		return err
	}
	files := []file{
		{name: "manifest.json", content: append(text, '\n')},
		{name: "server/" + filepath.Base(binary), content: program, program: true},
	}
	for _, f := range share {
		if slices.Contains([]string{"LICENSE", "NOTICE.md"}, f.name) {
			files = append(files, f)
		}
	}
	var packed bytes.Buffer
	if err := writeZip(&packed, files, src.date); err != nil {
		return err
	}
	name := fmt.Sprintf("sheaf-%s-%s-%s.mcpb", src.version, t.os, t.arch)
	return os.WriteFile(filepath.Join(dir, name), packed.Bytes(), 0o644)
}
