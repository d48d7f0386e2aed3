# SPDX-License-Identifier: MIT
# nvcc.sh: programs as NVIDIA's compiler makes them, with its stubs for launches and its registration of kernels, on the
# simulated runtime: tests/gpu's samples by their own accounts. Skipped, with their count, where nvcc is not.

nvcc=$(command -v nvcc || ls /usr/local/cuda*/bin/nvcc 2>/dev/null | head -n 1)
samples='graphs streams memory'
if [ -n "$nvcc" ] && "$nvcc" --version | grep -q 'release 13'; then
	for sample in $samples; do
		case_of "nvcc-$sample"
		scenario='memory 16GiB; kernel * 20us'
		if ! "$nvcc" -cudart shared -I"$source/include" -L"$fakes" -o sample "$source/tests/gpu/$sample.cu" -lcuda >nvcc.log 2>&1; then
			fail "nvcc: $(tail -n 1 nvcc.log)"
			end_case
			continue
		fi
		client=./sample
		traced --cuda full --
		client=$client_shared
		[ $plain_status = 0 ] || fail "status $plain_status"
		# nvcc's kernels have C++ names: _Z4name.. of the account's `name`.
		wanted=$(jq -c '.kernels | to_entries | map(.value) | sort' account.json)
		got=$(jq -c '.kernels | to_entries | map(.value) | sort' log.json)
		[ "$wanted" = "$got" ] || fail "kernels: the log has $got, the program did $wanted"
		wanted=$(jq -c '[.allocs, .frees]' account.json)
		got=$(jq -c '[(.memory | to_entries | map(select(.key != "pinned") | .value)) as $m | ($m | map(.allocs) | add), ($m | map(.frees) | add)]' log.json)
		[ "$wanted" = "$got" ] || fail "allocs and frees: the log has $got, the program did $wanted"
		end_case
	done
else
	skipped="CUDA 13's compiler is not installed ($(echo $samples | wc -w) cases)"
fi
