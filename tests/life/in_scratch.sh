#!/bin/sh
# in_scratch.sh: runs a program with a fresh folder as its last word, and takes the folder away afterwards.
# Usage: in_scratch.sh PROGRAM [ARG..]
scratch=$(mktemp -d "${TMPDIR:-/tmp}/rvprof-life.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
"$@" "$scratch"
