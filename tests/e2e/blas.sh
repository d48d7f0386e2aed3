# blas.sh: operations of products of matrices, seen from outside, against arithmetic: a C program on the system's BLAS and on
# the one whose C interface calls its Fortran one, and NumPy.
. "$(dirname "$0")/same.sh"
need cc jq
cc -O1 -I"$here/../../include" "$here/blas_program.c" -o blas_program -lblas -lpthread 2>cc.err || skip "no BLAS to link with: $(tail -n 1 cc.err)"

work_is() { # FOLDER OUT
	holds "$1" ".work.classes.gemm.flops == $(said "$2" gemm)"
	holds "$1" ".work.classes.gemv.flops == $(said "$2" gemv)"
	holds "$1" ".work.flops == $(($(said "$2" gemm) + $(said "$2" gemv))) and .work.calls == $(said "$2" calls)"
	holds "$1" '(.work.classes | map(.share) | add) > 0.99999 and .work.time_us > 0'
}
steps() { # FOLDER OUT: the last step has the rest of the program in it
	holds "$1" ".work.steps.count == 3 and .work.steps.min_flops == $(said "$2" step)"
	holds "$1" ".work.steps.max_flops == $(($(said "$2" step) + $(said "$2" last) + $(said "$2" gemv)))"
}
rows() { # FOLDER: every call is a row of its thread, by its name and shape
	jq -e '[.traceEvents[] | select(.cat == "cpu_op")] | length == '"$(said blas.out calls)"' and
		all(.ph == "X") and
		([.[] | select(.name == "cblas_dgemm")] | length == 3 and all(.args == {m: 64, n: 48, k: 32, type: "f64", flops: 196608})) and
		([.[] | select(.name == "cblas_zgemm") | .args.flops] == [10560]) and
		([.[].tid] | unique | length == 2)' "$1/trace.json" >/dev/null || fail "$1: rows"
}
roofline() { # FOLDER OUT: rows by class and type, and of the steps, against the same arithmetic
	"$E2E_TOOL" report --roofline --json "$1" >roofline.json || fail "$1: no roofline"
	jq -e '[.rows[] | select(.group == "calls")] | (map(.flops) | add) == '$(($(said "$2" gemm) + $(said "$2" gemv)))' and
		(map(.count) | add) == '"$(said "$2" calls)"' and all(.gflops_per_second > 0 and .intensity_flops_per_byte > 0)' \
		roofline.json >/dev/null || fail "$1: calls of the roofline"
	jq -e '.rows[] | select(.group == "calls" and .name == "gemm c128") | .flops == 8 * 10 * 11 * 12 and
		.least_bytes == 16 * (10 * 12 + 12 * 11 + 10 * 11)' roofline.json >/dev/null || fail "$1: bytes of the roofline"
	jq -e '.rows[] | select(.group == "steps" and .name == "all") | .count == 3 and .flops == '$((
		3 * $(said "$2" step) + $(said "$2" last) + $(said "$2" gemv)))'' roofline.json >/dev/null || fail "$1: steps of the roofline"
}
for where in /usr/lib/x86_64-linux-gnu/blas /usr/lib/x86_64-linux-gnu/openblas-pthread /usr/lib/x86_64-linux-gnu; do
	[ -e "$where/libblas.so.3" ] || continue
	name=$(basename "$where")
	OPENBLAS_NUM_THREADS=1 LD_LIBRARY_PATH=$where ./blas_program >blas.out || fail "$where: without us"
	for mode in sampled full; do
		OPENBLAS_NUM_THREADS=1 LD_LIBRARY_PATH=$where under $mode "$name.$mode" ./blas_program >"$name.$mode.out" || fail "$name $mode"
		cmp blas.out "$name.$mode.out" || fail "$name $mode: another output"
		work_is "$name.$mode" blas.out
		steps "$name.$mode" blas.out
		roofline "$name.$mode" blas.out
		rows "$name.$mode"
	done
done

python3 -c 'import numpy' 2>/dev/null || exit 0
cat >numpy_work.py <<'END'
import numpy
a, b, x = numpy.ones((64, 32)), numpy.ones((32, 48), numpy.float64), numpy.ones(32)
assert (a @ b)[0, 0] == 32 and (a @ x)[0] == 32
f = numpy.ones((20, 30), numpy.float32)
assert (f @ numpy.ones((30, 40), numpy.float32))[0, 0] == 30
print("gemm=%d gemv=%d calls=3" % (2 * 64 * 48 * 32 + 2 * 20 * 40 * 30, 2 * 64 * 32))
END
for mode in sampled full; do
	OPENBLAS_NUM_THREADS=1 under $mode numpy.$mode python3 numpy_work.py >numpy.out || fail "numpy $mode"
	work_is numpy.$mode numpy.out
done
