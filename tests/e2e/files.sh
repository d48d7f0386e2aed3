# files.sh: a model that is mapped, or read in any of libc's ways, is weights to the percent; what else came from files is not.
. "$(dirname "$0")/same.sh"
need gcc
gcc -O1 -g -I"$here/../.." "$here/files_program.c" "$here/../unit/model_maker.c" -o files_program -lpthread || fail "gcc"

for way in mmap mmap_twice read pread readv preadv2 fread small checked reuse_descriptor threads; do
	same $way ./files_program $way
	weights=$(said $way.out weights_bytes)
	for mode in $modes; do
		holds $way.$mode ".host.categories.weights.at_end_bytes as \$have |
			(\$have - $weights | if . < 0 then -. else . end) <= $weights / 100"
		holds $way.$mode ".host.categories.temp.at_end_bytes == $(said $way.out buffer_bytes)"
		holds $way.$mode '(.host.categories.kv_cache.at_end_bytes // 0) == 0'
		holds $way.$mode '.host.categories.weights.evidence.file == .host.categories.weights.at_peak_bytes'
	done
done
