# adapter_cost.sh: bench/adapter_cost works: a row of each kind that is measured within one process gives its figures, and has a verdict. What the
# figures are is not looked at.
. "$(dirname "$0")/same.sh"
need python3
python=$(command -v /usr/bin/python3 || command -v python3)
"$python" -c 'import torch' 2>/dev/null || skip "no PyTorch on this machine"
bench=$here/../../bench

TMPDIR=$PWD "$bench/adapter_cost" --quick --rows decode-cat-small --rows hooks-4 "$E2E_BUILD" \
	>table.md 2>progress.txt
[ $? -le 1 ] || fail "bench/adapter_cost: $(tail -n 3 progress.txt)"
while read -r columns name; do
	grep -F "| $name" table.md | head -n 1 | awk -F'|' -v want="$columns" '
		{ for (i = 3; i < NF - 1; i++) { cell = $i; gsub(/^ +| +$/, "", cell)
			if (cell != "-" && cell !~ /^-?[0-9.]+( [\[(][^|]*[\])])?$/) { print "not a figure: " cell; bad = 1 } else if (cell != "-") n++ } }
		END { if (n < want) { print n + 0 " figures"; bad = 1 }; exit bad }' >why.txt ||
		fail "row '$name': $(cat why.txt) in: $(grep -F "| $name" table.md)"
done <<END
3 decode, growing cache, 2 layers of 128, wall
3 decode, growing cache, 2 layers of 128, user+sys
1 what the hooks add to a call, caches cold, 4 layers
END
said=$(grep -cE '(met|MISSED\*\*|not resolved here)$' table.md)
grep -qE '^[0-9]+ bars met, [0-9]+ missed, [0-9]+ not resolved here' table.md || fail "no verdicts ($said): $(tail -n 20 table.md)"
grep -q '^- `adapter_cost.py cat 2 128 2 1 2 decode-cat-small`$' table.md || fail "the commands are not there"
