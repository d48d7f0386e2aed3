# tutorials.sh: every command block of docs/tutorials, schedule.md and bench.md is run as a reader would, each page in a folder of its own.
. "$(dirname "$0")/same.sh"
need jq
PATH=$(dirname "$E2E_TOOL"):$E2E_BUILD/examples:$PATH
export PATH LIBRVPROF="$E2E_LIB"
CPATH=$here/../../include PYTHONPATH=$here/../../python
export CPATH PYTHONPATH
pages=0
for page in "$here"/../../docs/tutorials/*.md "$here"/../../docs/schedule.md "$here"/../../docs/bench.md; do
	name=$(basename "$page" .md)
	mkdir "$name"
	{ echo 'set -eux'; sed -n '/^```sh$/,/^```$/{/^```/d;p;}' "$page"; } >"$name/commands"
	[ "$(wc -l <"$name/commands")" -gt 3 ] || fail "$name: no commands"
	(cd "$name" && sh commands >out 2>err) || fail "$name: $(tail -n 3 "$name/err")"
	pages=$((pages + 1))
done
[ $pages -ge 2 ] || fail "only $pages tutorials"
