# Prints the tests of a package that match the pattern in short, or call functions that do. Its files are the arguments.
/^func / {
	name = $0
	sub(/^func (\([^)]*\) )?/, "", name)
	sub(/[^A-Za-z0-9_].*/, "", name)
}
name != "" { body[name] = body[name] "\n" $0 }
/^}|^func .*}$/ { name = "" }
END {
	do {
		found = 0
		for (f in body)
			if (!(f in shorter) && body[f] ~ short) {
				shorter[f]
				found = 1
				if (f !~ /^Test/)
					short = short "|[^A-Za-z0-9_.]" f "[^A-Za-z0-9_]"
			}
	} while (found)
	for (f in shorter)
		if (f ~ /^Test/)
			print f
}
