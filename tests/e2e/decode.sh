# decode.sh: our own example keeps an exact account of its requests; full mode's totals equal it to the byte.
. "$(dirname "$0")/same.sh"
decode=$E2E_BUILD/examples/decode

equal() { # FOLDER SUMMARY-KEY OUTPUT NAME [MORE]
	ours=$(summary "$1" ".totals.$2") theirs=$(($(said "$3" "$4") + ${5:-0}))
	[ "$ours" = "$theirs" ] || fail "$1: $2 is $ours, the program says $theirs"
}

agrees() { # LABEL: every total of the full run
	for key in alloc_count free_count alloc_bytes free_bytes peak_live_bytes end_live_bytes; do
		equal "$1.full" $key "$1.out" $key
	done
	for key in alloc_count alloc_bytes; do
		equal "$1.sampled" $key "$1.out" $key
	done
}

same short "$decode" --tokens 40
agrees short
same_run short "$decode" --tokens 40
same long "$decode" --tokens 480 --layers 3
agrees long
# 480 tokens in pages of 32 for each of 3 layers; each page is a calloc, and the table of layers is one more.
[ "$(said long.out calloc_calls)" = 46 ] || fail "the example has changed"
recorded long.full 65536 45

# With threads the C library asks for one block a thread (its table of thread-local storage).
same threads "$decode" --tokens 100 --threads 2
equal threads.full alloc_count threads.out alloc_count 2

# A step a token, seen by nothing but the period of its allocations; sampled, its layers must not pass for steps.
steps_are short.full 40 detected
steps_are long.full 480 detected
steps_are threads.full 100 detected
for run in short long threads; do
	case $(summary $run.sampled .steps.source) in
	none) ;;
	*) steps_are $run.sampled "$(said $run.out tokens)" detected ;;
	esac
done
