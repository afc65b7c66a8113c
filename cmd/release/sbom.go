package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// A bill of materials in CycloneDX 1.6, as far as we use it.
type bom struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     bomMeta      `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type bomMeta struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Licenses   []licensed `json:"licenses,omitempty"`
	PURL       string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

// licensed names a license by its identifier in SPDX.
type licensed struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// makeSBOM writes the modules that are linked into any of binaries, as those say
// themselves, with the hashes of go.sum and the licenses that lie in each.
func makeSBOM(ctx context.Context, src source, binaries []string, name string) error {
	modules := map[string]component{}
	for _, binary := range binaries {
		info, err := buildinfo.ReadFile(binary)
		if err != nil {
			return err
		}
		std := component{Type: "library", Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}
		std.PURL = "pkg:golang/std@" + std.Version
		std.Ref = std.PURL
		modules[std.Ref] = std
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			c := component{Type: "library", Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version}
			c.Ref = c.PURL
			if m.Sum != "" {
				c.Properties = []property{{"go:sum", m.Sum}}
			}
			modules[c.Ref] = c
		}
	}
	refs := slices.Sorted(maps.Keys(modules))
	if err := license(ctx, modules); err != nil {
		return err
	}
	top := component{Type: "application", Ref: "sheaf@" + src.version, Name: "sheaf", Version: src.version,
		Licenses: licensedBy("Apache-2.0"), Properties: []property{{"vcs:revision", src.commit}}}
	b := bom{Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata:     bomMeta{Timestamp: src.date.Format(time.RFC3339), Component: top},
		Dependencies: []dependency{{Ref: top.Ref, DependsOn: refs}}}
	for _, ref := range refs {
		b.Components = append(b.Components, modules[ref])
	}
	id := sha256.Sum256([]byte(top.Ref + src.commit + strings.Join(refs, " ")))
	// A UUID of version 8 (RFC 9562): the layout is ours.
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	b.Serial = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16])
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}

// license says in each of modules what its licenses are.
func license(ctx context.Context, modules map[string]component) error {
	root, err := goTool(ctx, "env", "GOROOT")
	if err != nil {
		return err
	}
	paths := map[string]bool{}
	for _, c := range modules {
		if c.Name != "std" {
			paths[c.Name] = true
		}
	}
	places, err := foldersOf(ctx, slices.Sorted(maps.Keys(paths)))
	if err != nil {
		return err
	}
	dirs := map[string]string{"std": root}
	for _, m := range places {
		dirs[m.path] = m.dir
	}
	for ref, c := range modules {
		ids, err := licensesIn(c.Name, dirs[c.Name])
		if err != nil {
			return err
		}
		c.Licenses = licensedBy(ids...)
		modules[ref] = c
	}
	return nil
}

func licensedBy(ids ...string) (list []licensed) {
	for _, id := range ids {
		var l licensed
		l.License.ID = id
		list = append(list, l)
	}
	return list
}
