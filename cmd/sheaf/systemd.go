package main

import (
	"maps"
	"slices"
	"strings"
)

// systemdUnit is the unit file of the service.
func systemdUnit(program string, args []string, o *serviceOptions, env map[string]string) string {
	var b strings.Builder
	line := func(texts ...string) { b.WriteString(strings.Join(texts, "") + "\n") }
	line("[Unit]")
	line("Description=Sheaf, a search engine for documents")
	if o.system {
		line("After=network-online.target")
		line("Wants=network-online.target")
	}
	line("\n[Service]")
	command := []string{systemdQuoted(program)}
	for _, arg := range args {
		command = append(command, strings.ReplaceAll(systemdQuoted(arg), "$", "$$"))
	}
	line("ExecStart=", strings.Join(command, " "))
	if o.user != "" {
		line("User=", systemdSpecifiers.Replace(o.user))
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		line("Environment=", systemdQuoted(name+"="+env[name]))
	}
	line("Restart=on-failure")
	line("RestartSec=5")
	line("NoNewPrivileges=true")
	line("\n[Install]")
	if o.system {
		line("WantedBy=multi-user.target")
	} else {
		line("WantedBy=default.target")
	}
	return b.String()
}

// systemdSpecifiers keeps systemd from reading specifiers, and the service library from reading
// its own.
var systemdSpecifiers = strings.NewReplacer("%", "%%", "{{", `\x7b\x7b`)

// systemdQuoted writes a word as unit files have it.
func systemdQuoted(word string) string {
	word = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(word)
	return `"` + systemdSpecifiers.Replace(word) + `"`
}
