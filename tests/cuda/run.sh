#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh: client programs on simulated CUDA. Usage: run.sh GROUP FAKES CLIENTS INJECT TOOL SOURCE
#   GROUP: the file of that name here. FAKES, CLIENTS: folders; INJECT: record_buffers;
#   TOOL: rvprof; SOURCE: the project's root. A line a case; the last is `N cases, N failed`. Status 1 if any failed.
# CUDA_TESTS_KEEP=1 keeps the folders of the cases.
set -u
group=$1 fakes=$2 client_shared=$3/cuda_client client_static=$3/cuda_client_static inject=$4 tool=$5 source=$6
absolute() {
	echo "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"
}
here=$(cd "$(dirname "$0")" && pwd)
inject=$(absolute "$inject") tool=$(absolute "$tool")
unset LD_LIBRARY_PATH
client=$client_shared
scratch=$(mktemp -d "${TMPDIR:-/tmp}/rvprof-cuda.XXXXXX") || exit 2
failures=0 cases=0 case_failed=0
. "$here/lib.sh"
. "$here/$group.sh"
cd /
[ -n "${CUDA_TESTS_KEEP:-}" ] && echo "kept: $scratch" || rm -rf "$scratch"
[ $cases = 0 ] && echo "${skipped:-no case}" && exit 77
echo "$cases cases, $failures failed checks"
[ $failures = 0 ]
