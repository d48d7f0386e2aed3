#!/bin/sh
# guards.sh: what librvprof.so shows to a program, and takes from libc.
#
#   exports   exactly the names of preload/hooks.def, of the operators' table, if there is one, and rvprof.h's table
#   imports   only names of tests/life/imports.allowed
#   needed    libc (and its loader) alone: a NEEDED libunwind takes over the program's C++ exceptions
#   stack     no executable stack, no text relocations, little static TLS
#   bindings  LD_DEBUG=bindings: in a C++ program every symbol binds to the same library as without us, but for our hooks
# Usage: guards.sh LIBRARY CXX_PROGRAM
library=$(realpath "$1") program=$(realpath "$2") here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
scratch=$(mktemp -d "${TMPDIR:-/tmp}/rvprof-guards.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
bad=0
verdict() { # name, file of complaints
	if [ -s "$2" ]; then
		echo "not ok $1"
		sed 's/^/    /' "$2" | head -n 20
		bad=1
	else
		echo "ok $1"
	fi
}

nm -D --defined-only "$library" | awk '{ print $NF }' | sed 's/@.*//' | sort -u >"$scratch/exports"
# The hooks by name, and what exports.map lists beside them.
sed -n 's/^RVP_HOOK(\([A-Za-z_0-9]*\),.*/\1/p' "$root/preload/hooks.def" | sort -u >"$scratch/hooks"
if [ -f "$root/preload/operators.def" ]; then
	grep -o '_Z[A-Za-z_0-9]*' "$root/preload/operators.def" | sort -u >"$scratch/operators"
	sort -u -o "$scratch/hooks" "$scratch/hooks" "$scratch/operators"
fi
printf "rvprof_api_1\nrvprof_device_1\n" | sort -u -o "$scratch/hooks" - "$scratch/hooks"
comm -23 "$scratch/exports" "$scratch/hooks" | sed 's/$/ is shown, and is no hook/' >"$scratch/diff"
comm -13 "$scratch/exports" "$scratch/hooks" | grep -v '^_Z' | sed 's/$/ is a hook, and is not shown/' >>"$scratch/diff"
verdict exports "$scratch/diff"

nm -D --undefined-only "$library" | awk '{ print $NF }' | sed 's/@.*//' | sort -u >"$scratch/imports"
grep -v '^#' "$here/imports.allowed" | sort -u >"$scratch/allowed"
comm -23 "$scratch/imports" "$scratch/allowed" | sed 's/$/ is used, and is not in imports.allowed/' >"$scratch/diff"
verdict imports "$scratch/diff"

readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vx 'libc\.so\.6\|ld-linux-x86-64\.so\.2' |
	sed 's/$/ is needed/' >"$scratch/diff"
verdict needed "$scratch/diff"

readelf -lW "$library" | awk '/GNU_STACK/ && /E/ && $7 ~ /E/ { print "its stack is executable" }
	/^ *TLS/ { if (strtonum($6) > 128) print "static TLS of " $6 " bytes" }' >"$scratch/diff" 2>/dev/null
readelf -d "$library" | grep -q TEXTREL && echo "it has text relocations" >>"$scratch/diff"
verdict stack "$scratch/diff"

# "binding file A [0] to B [0]: normal symbol `s' [VERSION]" becomes "A B s".
bindings() { # preload or nothing
	(
		[ -z "$1" ] || export RVPROF_FINALIZE=0 RVPROF_OUTPUT="$scratch/run" LD_PRELOAD="$1"
		LD_DEBUG=bindings LD_DEBUG_OUTPUT=$scratch/ld LD_BIND_NOW=1
		export LD_DEBUG LD_DEBUG_OUTPUT LD_BIND_NOW
		exec "$program" >/dev/null 2>&1
	)
	cat "$scratch"/ld.* | sed -n "s/.*binding file \([^ ]*\) \[.*\] to \([^ ]*\) \[.*symbol \`\([^']*\)'.*/\1 \2 \3/p" |
		sort -u
	rm -f "$scratch"/ld.*
}
bindings "" >"$scratch/bare"
bindings "$library" >"$scratch/all"
: >"$scratch/diff"
[ -s "$scratch/bare" ] || echo "LD_DEBUG tells nothing" >"$scratch/diff"
grep -q " $library malloc$" "$scratch/all" || echo "malloc does not bind to us: the comparison is empty" >>"$scratch/diff"
# What binds in the library itself is ours. A pair (file, symbol) may bind to two places (a copied object).
grep -v "^$library " "$scratch/all" | awk -v library="$library" '
	FILENAME ~ /hooks$/ { hook[$1]; next }
	FILENAME ~ /bare$/ { known[$1 " " $3]; place[$0]; next }
	$2 == library { if (!($3 in hook)) print $1 ": " $3 " binds to us and is no hook"; next }
	($1 " " $3) in known && !($0 in place) { print $1 ": " $3 " binds to " $2 " only with us" }
' "$scratch/hooks" "$scratch/bare" - >>"$scratch/diff"
comm -23 "$scratch/bare" "$scratch/all" | awk -v hooks="$scratch/hooks" '
	BEGIN { while ((getline line < hooks) > 0) hook[line] }
	!($3 in hook) { print $1 ": " $3 " bound to " $2 ", not with us" }' >>"$scratch/diff"
verdict bindings "$scratch/diff"
exit $bad
