package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// across is the kind of a set whose questions and texts are in different languages.
const across = "across languages"

// makeAcross writes sets that cross languages into a folder, with an INDEX.tsv. Two sets are translations of each other
// if they have the same judgements. Their names must be equal except for the last part. From an English set and a
// translation, makeAcross makes two sets: each language's questions with the other's texts.
func makeAcross(folder string, sets []set) error {
	index := "name\tkind\tlanguage\tsplit\n"
	for _, s := range sets {
		family, code, parts := strings.Cut(s.name, "/")
		en := s
		en.name, en.path = family+"/en", filepath.Join(filepath.Dir(s.path), "en")
		if !parts || code == "en" || !sameJudgements(&s, &en) {
			continue
		}
		for _, pair := range [][2]*set{{&s, &en}, {&en, &s}} {
			questions, texts := pair[0], pair[1]
			name := fmt.Sprintf("%s-%s-over-%s", family, filepath.Base(questions.path), filepath.Base(texts.path))
			to := filepath.Join(folder, name)
			err := errors.Join(copyFile(texts.path, to, "corpus.jsonl"), copyFile(questions.path, to, "queries.jsonl"),
				copyFile(questions.path, to, "qrels/test.tsv"))
			if err != nil {
				return err
			}
			index += fmt.Sprintf("%s\t%s\t%s\t%s\n", name, across, s.language, s.split)
		}
	}
	return errors.Join(os.MkdirAll(folder, 0o777), os.WriteFile(filepath.Join(folder, "INDEX.tsv"), []byte(index), 0o666))
}

// sameJudgements reports whether two sets have the same judgements.
func sameJudgements(a, b *set) bool {
	first, err := os.ReadFile(filepath.Join(a.path, "qrels", "test.tsv"))
	second, err2 := os.ReadFile(filepath.Join(b.path, "qrels", "test.tsv"))
	return errors.Join(err, err2) == nil && bytes.Equal(first, second)
}

// copyFile copies the file called name from one folder to another. If there is no such file, it copies name.gz.
func copyFile(from, to, name string) error {
	name = filepath.FromSlash(name)
	text, err := os.ReadFile(filepath.Join(from, name))
	if errors.Is(err, os.ErrNotExist) {
		name += ".gz"
		text, err = os.ReadFile(filepath.Join(from, name))
	}
	if err != nil {
		return err
	}
	to = filepath.Join(to, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o666)
}
