// Collect makes judged collections from public repositories, without human labels.
//
//	collect make -kind links -git REPOSITORY -under docs/ -out FOLDER
//	collect make -kind code -folder SOURCES -out FOLDER
//	collect tree COLLECTION FOLDER
//
// The first two commands write a collection in BEIR layout. The third writes the records of a
// collection to disk, one file each. Equal inputs give equal bytes.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

const usage = "usage: collect make -kind KIND (-git REPOSITORY | -folder FOLDER) -out COLLECTION [options]\n" +
	"       collect tree COLLECTION FOLDER"

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "collect:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	switch {
	case len(args) > 0 && args[0] == "make":
		return makeCommand(args[1:], out)
	case len(args) == 3 && args[0] == "tree":
		n, err := writeTree(args[1], args[2])
		if err == nil {
			fmt.Fprintf(out, "%s: %d files\n", args[2], n)
		}
		return err
	}
	return errors.New(usage)
}

// makers maps each kind of collection to the function that makes it.
var makers = map[string]func(*options) (*collection, error){
	"links":     makeLinks,
	"subjects":  makeSubjects,
	"questions": makeQuestions,
	"sections":  makeSections,
	"code":      makeCode,
}

// options says what to read and how much to keep.
type options struct {
	kind     string
	git      string // a git directory; empty when folder is set
	folder   string // a folder of sources; empty when git is set
	under    string // only paths with this prefix, which is cut off
	skip     *regexp.Regexp
	site     string // the address of the site, for links that name it in full
	queries  int
	records  int
	source   string
	snapshot string
	licence  string
	language string
	split    string // dev or held; "" lets splitFor choose
}

func makeCommand(args []string, out io.Writer) error {
	var o options
	var skip, to, index string
	f := flag.NewFlagSet("collect make", flag.ContinueOnError)
	f.SetOutput(out)
	f.StringVar(&o.kind, "kind", "", "links, subjects, questions, sections or code")
	f.StringVar(&o.git, "git", "", "a git `directory`")
	f.StringVar(&o.folder, "folder", "", "a `folder` of sources, instead of a git directory")
	f.StringVar(&o.under, "under", "", "only paths with this `prefix`, which is cut off")
	f.StringVar(&skip, "skip", "", "leave out paths that match this `expression`")
	f.StringVar(&o.site, "site", "", "the `address` of the site, for links that name it in full")
	f.IntVar(&o.queries, "queries", 500, "the most queries")
	f.IntVar(&o.records, "records", 12000, "the most records of the corpus")
	f.StringVar(&o.source, "source", "", "the name of the source, for README.md")
	f.StringVar(&o.snapshot, "snapshot", "", "the version of the source; default: the commit")
	f.StringVar(&o.licence, "licence", "", "the licence of the source, for README.md")
	f.StringVar(&o.language, "language", "en", "the language of the source")
	f.StringVar(&o.split, "split", "", "the `split` in the index: dev or held")
	f.StringVar(&to, "out", "", "the `folder` to create")
	f.StringVar(&index, "index", "", "add a line to this `file`")
	if err := f.Parse(args); err != nil {
		return err
	}
	make := makers[o.kind]
	switch {
	case make == nil:
		return fmt.Errorf("unknown kind %q; use links, subjects, questions, sections or code", o.kind)
	case (o.git == "") == (o.folder == ""):
		return errors.New("give either -git or -folder")
	case o.folder != "" && o.kind == "subjects":
		return errors.New("subjects need a history; use -git")
	case to == "":
		return errors.New("give the folder to create with -out")
	}
	if skip != "" {
		var err error
		if o.skip, err = regexp.Compile(skip); err != nil {
			return err
		}
	}
	if o.git != "" {
		commit, err := headCommit(o.git)
		if err != nil {
			return err
		}
		o.snapshot = cmp.Or(o.snapshot, commit)
	}
	c, err := make(&o)
	if err != nil {
		return err
	}
	if len(c.queries) == 0 {
		return fmt.Errorf("no queries of kind %s in %s", o.kind, cmp.Or(o.git, o.folder))
	}
	c.sort()
	if err := c.write(to, &o); err != nil {
		return err
	}
	if index != "" {
		if err := addToIndex(index, filepath.Base(filepath.Clean(to)), c, &o); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%s: %d queries, %d records\n", to, len(c.queries), len(c.records))
	return nil
}
