# SPDX-License-Identifier: MIT
# nothing.sh: a program without CUDA pays nothing: no library, no file of CUDA's or of ours for it is opened.

opened() { # CMD...: what is opened, or tried, with a name of CUDA's
	environment strace -f -qq -e trace=open,openat,openat2,execve -o strace.out "$@" >/dev/null 2>&1
	grep -E '/(libcuda\.|libcupti|libnvidia|librvprof_cupti|nvidia)[^/"]*"' strace.out | sed 's/^[0-9]* *//' | sort -u
}

if command -v strace >/dev/null; then
	for what in no-call no-cuda; do
		case_of "nothing-$what"
		program=$client
		[ $what = no-cuda ] && program=/bin/true
		opened "$program" >plain.opened
		opened "$tool" run -q -o run --cuda full -- "$program" >traced.opened
		grep -q . strace.out || fail "strace saw nothing"
		[ -s traced.opened ] && fail "opened: $(head -n 3 traced.opened)"
		[ -s plain.opened ] && fail "opened by itself: $(head -n 3 plain.opened)"
		end_case
	done
	# What is looked for is there where CUDA is used.
	case_of nothing-but-here
	opened "$client" storm >plain.opened
	grep -q 'libcuda\.so\.1"' plain.opened || fail "a program with CUDA opens: $(cat plain.opened)"
	end_case
else
	skipped="strace is not installed (3 cases)"
fi
