// Quality lists the judged collections of some folders and prints the tables of doc/quality.md from
// the results of sheaf eval. bench/quality.sh calls it.
//
//	quality across OUT SPLIT FOLDER...
//	quality sets SPLIT FOLDER...
//	quality tables RESULTS SPLIT FOLDER...
//
// SPLIT is dev, held or all. The first command makes sets in the folder OUT with questions and texts in two
// languages. The second prints a line for each set: its key, path and name of judgements, separated by tabs. The
// third reads the output of sheaf eval --json: RESULTS/sets/KEY.json for each set, and RESULTS/confidence.json.
// RESULTS/old/KEY.json comes from an older program.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	err := run(os.Args[1:], out)
	if err = errors.Join(err, out.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, "quality:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) > 0 && args[0] == "sets" {
		args = append([]string{"sets", ""}, args[1:]...)
	}
	if len(args) < 4 || args[0] != "across" && args[0] != "sets" && args[0] != "tables" {
		return errors.New("usage: quality across OUT SPLIT FOLDER... | quality sets SPLIT FOLDER... | quality tables " +
			"RESULTS SPLIT FOLDER...")
	}
	sets, err := findSets(args[2], args[3:])
	switch {
	case err != nil:
		return err
	case args[0] == "across":
		return makeAcross(args[1], sets)
	case args[0] == "tables":
		return printTables(out, args[1], sets)
	}
	for _, s := range sets {
		fmt.Fprintf(out, "%s\t%s\t%s\n", s.key(), s.path, s.judgements)
	}
	return nil
}
