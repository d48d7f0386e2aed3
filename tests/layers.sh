#!/bin/sh
# layers.sh: an include that points the wrong way fails the build (docs/design.md, "Layers").
# Usage: layers.sh SOURCE_ROOT. Prints each offending line; status 1 if there is one.
cd "$1" || exit 2
bad=0
check() { # folder, what it may include from the project
	found=$(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' -r "$1" --include='*.c' --include='*.h' --include='*.S' 2>/dev/null |
		grep -vE "include[[:space:]]*\"($2)/" | grep -vE 'include[[:space:]]*"(rvprof\.h|[a-z_]*\.inc)"')
	[ -z "$found" ] && return
	printf 'layers: %s may only include from %s:\n%s\n' "$1" "$2" "$found" >&2
	bad=1
}
check record 'record'
check preload 'record|preload'
check cupti 'record|cupti'
check report 'record|report'
check model 'record|report|model'
check prove 'record|report|prove'
check sweep 'record|report|prove|sweep'
check tools 'record|report|model|prove|sweep|tools'
exit $bad
