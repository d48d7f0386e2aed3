# SPDX-License-Identifier: MIT
# overhead_machine.sh: the machine and the versions that a table of bench/ was measured with.
# shellcheck shell=sh

version() { # name, words that print it
	name=$1
	shift
	command -v "$1" >/dev/null && echo "$name $("$@" 2>&1 | grep -o '[0-9][0-9]*\.[0-9][0-9.a-z+~-]*' | head -n 1)"
}
joined() { paste -sd, - | sed 's/,/, /g'; }
machine() {
	cat <<-END
		Machine: $(sed -n 's/^model name[^:]*: //p;T;q' /proc/cpuinfo | head -n 1), $(getconf _NPROCESSORS_ONLN) processors, $(awk '/MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo), Linux $(uname -r) $(uname -m),
		$(. /etc/os-release 2>/dev/null && echo "$PRETTY_NAME"). $(date -u '+%Y-%m-%d %H:%M') UTC
	END
}
