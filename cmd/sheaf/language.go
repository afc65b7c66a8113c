package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sheaf/analysis"
)

// littleText is the size of a collection, in bytes, up to which a detected
// language is looked at again: a few lines may not tell, and the first note of a
// vault must not decide for all that follow.
const littleText = 16 << 10

// languageOutgrown reports whether the language that was detected from little
// text is another one now. Only what lies in folders can be indexed again.
func (s *session) languageOutgrown() bool {
	settings := s.view.Settings()
	if !settings.LanguageDetected || s.config.Language != "auto" || s.view.SourceBytes() > littleText || s.view.Docs() == 0 {
		return false
	}
	for _, t := range settings.Trees {
		if t.Root == "" {
			return false
		}
	}
	now := detectLanguage(s.where.Root)
	return now != "" && now != settings.Language
}

// Bounds of what is read to find out the language of a folder.
const (
	sampleFiles = 40
	sampleBytes = 4 << 10
	sampleSeen  = 4000
)

// detectLanguage reads the beginnings of some files spread over a folder; ""
// when they do not tell.
func detectLanguage(root string) string {
	var paths []string
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case d.IsDir() && path != root && skippedFolder(d.Name()):
			return filepath.SkipDir
		case len(paths) == sampleSeen:
			return filepath.SkipAll
		}
		switch strings.ToLower(filepath.Ext(path)) {
		case ".md", ".markdown", ".txt":
			if d.Type().IsRegular() {
				paths = append(paths, path)
			}
		}
		return nil
	})
	var sample strings.Builder
	step := max(1, len(paths)/sampleFiles)
	for i := 0; i < len(paths); i += step {
		sample.WriteString(head(paths[i]))
		sample.WriteByte('\n')
	}
	return analysis.Detect(sample.String())
}

func head(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	buffer := make([]byte, sampleBytes)
	n, _ := file.Read(buffer)
	return strings.ToValidUTF8(string(buffer[:n]), " ")
}
