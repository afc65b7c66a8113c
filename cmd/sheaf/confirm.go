package main

import (
	"bufio"
	"fmt"
	"strings"

	"sheaf"
)

// confirm asks whether to go on although something is lost. Off a terminal that needs --yes. keep is
// what loses nothing.
func (a *app) confirm(what, keep string) error {
	if a.yes {
		a.notice("%s", what)
		return nil
	}
	if !a.out.Terminal || a.json {
		return withHint(sheaf.Invalidf("%s: nothing is changed without --yes", what), "to keep them: %s", keep)
	}
	fmt.Fprintf(a.stdout, "%s\nremove them? [y/N] ", what)
	if err := a.flush(); err != nil {
		return err
	}
	answer, _ := bufio.NewReader(a.stdin).ReadString('\n') // nothing is no
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer == "y" || answer == "yes" {
		return nil
	}
	return withHint(sheaf.Invalidf("%s: nothing is changed", what), "to keep them: %s", keep)
}
