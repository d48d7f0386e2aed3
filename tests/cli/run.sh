#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh RVPROF AREA: runs every case AREA-*.case here, each in a folder of its own, and compares exactly.
#
# A case is a file of sections: text that says what it shows, then
#     === sh         the commands; `rvprof` is the tool, `$programs` the folder of the test programs
#     === status     their exit status
#     === stdout     exactly what they print; `=== stderr` likewise. A missing section is empty.
# A line "needs: setpriv zsh" in the first section skips the case where one of these programs is missing.
# Output: a TAP line a case. Status 1 if one failed.
tool=$(cd "$(dirname "$1")" && pwd -P)/$(basename "$1")
area=$2
here=$(cd "$(dirname "$0")" && pwd -P)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/rvprof-cli.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin" && ln -s "$tool" "$scratch/bin/rvprof"
PATH=$scratch/bin:$PATH
programs=$(dirname "$tool")/../tests/cli
source=$(cd "$here/../.." && pwd -P)
LC_ALL=C
export PATH LC_ALL programs source
unset LD_PRELOAD RVPROF_OPTIONS RVPROF_MODE RVPROF_OUTPUT RVPROF_FINALIZE RVPROF_RUN_DIR DEBUGINFOD_URLS TMPDIR

section() { # name, file
	awk -v want="=== $1" '/^=== /{on = $0 == want; next} on' "$2"
}
missing() { # file
	for program in $(sed -n '/^=== /q; s/^needs: //p' "$1"); do
		command -v "$program" >/dev/null 2>&1 || { printf '%s\n' "$program"; return 0; }
	done
	return 1
}
run_case() { # file, folder; prints the differences
	mkdir "$2" "$2/here"
	section sh "$1" >"$2/commands"
	section stdout "$1" >"$2/stdout.wanted"
	section stderr "$1" >"$2/stderr.wanted"
	section status "$1" >"$2/status.wanted"
	(cd "$2/here" && exec timeout 60 sh ../commands) </dev/null >"$2/stdout" 2>"$2/stderr"
	printf '%s\n' $? >"$2/status"
	same=0
	for what in status stdout stderr; do
		diff -u "$2/$what.wanted" "$2/$what" >"$2/diff" && continue
		sed '1,2d; s/^/#   /' "$2/diff" | sed "1i #  $what:"
		same=1
	done
	return $same
}

number=0 failed=0
for file in "$here/$area"-*.case; do
	number=$((number + 1))
	name=$(basename "$file" .case)
	if program=$(missing "$file"); then
		printf 'ok %d %s # SKIP no %s here\n' "$number" "$name" "$program"
		continue
	fi
	if output=$(run_case "$file" "$scratch/$name"); then
		printf 'ok %d %s\n' "$number" "$name"
	else
		failed=1
		printf 'not ok %d %s\n%s\n' "$number" "$name" "$output"
	fi
done
printf '1..%d\n' "$number"
exit "$failed"
