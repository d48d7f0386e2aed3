# SPDX-License-Identifier: MIT
# overhead_text.sh: the machine, the table, the commands: what bench/overhead prints, and writes with --write.
# shellcheck shell=sh disable=SC2154 # the variables are bench/overhead's

. "$bench/overhead_machine.sh"

versions() {
	echo "rvprof $("$tool" --version 2>/dev/null | grep -o '[0-9][0-9.]*' | head -n 1) ($(git -C "$top" rev-parse --short HEAD 2>/dev/null || echo 'no git'))"
	version gcc gcc -dumpfullversion
	echo "$(getconf GNU_LIBC_VERSION)"
	version heaptrack heaptrack --version
	[ -z "$jemalloc" ] || echo "jemalloc $(dpkg-query -W -f '${Version}' libjemalloc2 2>/dev/null)"
	version Python "$python" --version
	"$python" -c 'import torch; print("PyTorch", torch.__version__)' 2>/dev/null
	version redis redis-server --version
	version sqlite sqlite3 --version
	version valgrind valgrind --version
	[ ! -f "$packages/complete" ] || sed -n 's/.*"version": "\(.*\)".*/node-llama-cpp \1/p;T;q' \
		"$packages/node_modules/node-llama-cpp/package.json"
}
text() {
	cat <<-END
		# What it costs to be recorded

		Written by \`bench/overhead --write\`; what it does is said there, the bars are in \`bench/overhead_bars.txt\`.

		$(machine), load at the begin $load, $(($(date +%s) - begun)) s, $rounds rounds.
		$(versions | joined).

		A figure is the median of the rounds. Beside it: over no profiler, as a factor or as a difference, from the runs of the same
		round; beside "the same again" the 95 % band of the factor between equal pairs. A bar is met or missed only where that
		band, of at least 15 pairs, is narrower than half of the bar's distance from a factor of 1. A share is of what the other
		one adds. Peers that have no bar run $few rounds. Pairs: the best of 5 repeats in a process, of each variant alike.
	END
	cat table.md
	if [ -s left_out ]; then
		printf '\nLeft out, with the reason:\n\n'
		sort -u left_out | sed 's/^/- /'
	fi
	cat <<-END

		### Commands

		| variant | how the command is run |
		| --- | --- |
		| pass-through | \`LD_PRELOAD=liboverhead_pass.so\` |
		| default | \`LD_PRELOAD=librvprof.so RVPROF_MODE=sampled RVPROF_OUTPUT=DIR RVPROF_FINALIZE=0\` |
		| full | \`LD_PRELOAD=librvprof.so RVPROF_MODE=full RVPROF_MAX_LOG=16GiB RVPROF_OUTPUT=DIR RVPROF_FINALIZE=0\` |
		| --python=off | and \`RVPROF_PYTHON=off\` |
		| with outputs | \`LD_PRELOAD=librvprof.so RVPROF_OUTPUT=DIR\` |
		| heaptrack | \`heaptrack -o FILE\`, \`heaptrack --raw -o FILE\` |
		| jemalloc | \`LD_PRELOAD=libjemalloc.so.2\`, with \`MALLOC_CONF=prof:true\`; another allocator than the other columns' |

		| row | command |
		| --- | --- |
	END
	sed 's/|/\\|/g; s/^\([^:]*\): \(.*\)/| \1 | `\2` |/' commands
}

"$programs/overhead_table" rows samples "$bench/overhead_bars.txt" >table.md
status=$?
if [ $status = 2 ] || ! [ -s samples ]; then
	tail -n 5 errors >&2 2>/dev/null
	echo "overhead: no table" >&2
	exit 2
fi
if [ "$write" = 1 ]; then
	# What was measured by hand stays.
	sed -n '/^## Large logs$/,$p' "$top/docs/overhead.md" >by_hand
	{
		text
		[ -s by_hand ] && echo && cat by_hand
	} >"$top/docs/overhead.new" && mv "$top/docs/overhead.new" "$top/docs/overhead.md"
	echo "overhead: docs/overhead.md is written" >&2
else
	text
fi
exit $status
