#!/bin/sh
# Builds what is released, into dist/: static binaries for six platforms, packages
# and checksums (doc/decisions/090-shipping.md). It needs Go and git.
#
#   sh release.sh [VERSION]    builds everything, then runs what can run here
#   sh release.sh --check      builds every target, or those of --only, twice, in two
#                              folders and from nothing, and compares the bytes
#   sh release.sh --help       lists the other flags
set -eu
cd "$(dirname "$0")"
exec go run ./cmd/release "$@"
