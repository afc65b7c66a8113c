// Command release makes the two parts of a release that goreleaser does not:
//
//	release notice                                            prints which modules the program links, with their licenses
//	release bundle --version V --os OS --arch ARCH PROGRAM    writes the MCP bundle of PROGRAM into build/
//
// Run it from the root of the repository, as release.sh does.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := pflag.NewFlagSet("release", pflag.ContinueOnError)
	var b build
	flags.StringVar(&b.version, "version", "", "the version of the release")
	flags.StringVar(&b.os, "os", "", "the system that the program is for, as Go names it")
	flags.StringVar(&b.arch, "arch", "", "the processor that the program is for, as Go names it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case flags.NArg() == 1 && flags.Arg(0) == "notice":
		return notice(os.Stdout)
	case flags.NArg() == 2 && flags.Arg(0) == "bundle":
		return makeBundle(b, flags.Arg(1), "build")
	}
	return errors.New("give notice, or bundle and a program")
}

// build identifies one program of a release by its version, operating system and processor.
type build struct{ version, os, arch string }
