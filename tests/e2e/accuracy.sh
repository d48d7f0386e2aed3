# accuracy.sh: what bytes are for, of the quick programs of bench/accuracy and of generated ones: the rows below must be
# met. And the checker must find figures that are wrong. The generated programs' seed is the same each time, so that a
# change is what fails it; E2E_SEED=random tries a new one, and E2E_SEED=N repeats it.
. "$(dirname "$0")/same.sh"
need cc pkg-config
pkg-config --exists jansson || skip "no jansson on this machine"
bench=$here/../../bench
seed=${E2E_SEED:-61}
[ "$seed" != random ] || seed=$(($(date +%s) % 100000 * 10 + 9))
echo "seed $seed"

TMPDIR=$PWD "$bench/accuracy" --quick --keep --seed "$seed" "$E2E_BUILD" >table.md 2>kept.txt
[ $? -le 1 ] || fail "bench/accuracy: $(tail -n 3 kept.txt)"
folder=$(sed -n 's/^kept: //p' kept.txt)
[ -d "$folder" ] || fail "bench/accuracy kept nothing: $(cat kept.txt)"

# Program (the last word of a name may be the seed), row.
while read -r program row; do
	if grep -qF -e "- $program:" table.md; then
		echo "not here: $program"
		continue
	fi
	grep -F "| $program | $row" table.md >row.md || fail "no row '$row' of $program (seed $seed): $(grep -F "| $program |" table.md)"
	! grep -qF '**missed**' row.md || fail "seed $seed: $(cat row.md)"
done <<END
hand-realloc weights, peak
hand-realloc kv_cache, peak
hand-realloc activation+temp, peak
hand-realloc under a wrong name
hand-realloc steps
hand-copy weights, peak
hand-copy kv_cache, peak
hand-copy activation+temp, peak
hand-copy under a wrong name
hand-copy steps
hand-paged weights, peak
hand-paged kv_cache, peak
hand-paged activation+temp, peak
hand-paged under a wrong name
hand-paged steps
generated-realloc-1 weights, peak
generated-realloc-1 kv_cache, peak
generated-realloc-1 activation+temp, peak
generated-realloc-1 under a wrong name
generated-realloc-1 steps
generated-copy-2 weights, peak
generated-copy-2 kv_cache, peak
generated-copy-2 activation+temp, peak
generated-copy-2 under a wrong name
generated-copy-2 steps
generated-double-3 weights, peak
generated-double-3 kv_cache, peak
generated-double-3 activation+temp, peak
generated-double-3 under a wrong name
generated-double-3 steps
generated-paged-4 weights, peak
generated-paged-4 kv_cache, peak
generated-paged-4 activation+temp, peak
generated-paged-4 under a wrong name
generated-paged-4 steps
generated-tokens-5 weights, peak
generated-tokens-5 kv_cache, peak
generated-tokens-5 under a wrong name
generated-tokens-5 steps
generated-transposed-6 weights, peak
generated-transposed-6 kv_cache, peak
generated-transposed-6 under a wrong name
generated-transposed-6 steps
generated-ring-7 weights, peak
generated-ring-7 kv_cache, peak
generated-ring-7 under a wrong name
generated-ring-7 steps
generated-grown-$seed under a wrong name
generated-fixed-$seed kv_cache, peak
generated-fixed-$seed under a wrong name
torch-modules-cat weights, peak
torch-modules-cat under a wrong name
torch-modules-cat-adapter weights, peak
torch-modules-cat-adapter under a wrong name
torch-modules-cat-adapter steps
END

# The same figures held against another truth: 20 % more of each category.
program=hand-copy
awk '$1 == "truth" { for (i = 2; i <= NF; i++) if (split($i, word, "=") == 2 && word[2] + 0 > 0) $i = word[1] "=" int(word[2] * 1.2) } { print }' \
	"$folder/$program/truth" >wrong.txt
for truth in "$folder/$program/truth" wrong.txt; do
	"$folder/check" "$bench/accuracy_bars.txt" stripped $program "$truth" "$folder/$program/run/summary.json" >checked.md 2>/dev/null
	echo "$? $(grep -cE '(weights|kv_cache|activation\+temp), peak.*\*\*missed\*\*|steps.*\*\*missed\*\*' checked.md)"
done >found.txt
[ "$(tail -n 1 found.txt)" = "1 4" ] || fail "the checker does not find four wrong figures: $(cat checked.md)"
# And nothing at all is not met either.
: >nothing.txt
"$folder/check" "$bench/accuracy_bars.txt" stripped $program nothing.txt "$folder/$program/run/summary.json" >checked.md 2>/dev/null
[ $? = 1 ] || fail "without a truth the checker is content: $(cat checked.md)"
