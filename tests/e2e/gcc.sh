# gcc.sh: the compiler driver and its children build a program; the same object comes out.
. "$(dirname "$0")/same.sh"
need gcc
source=$here/../../examples/decode.c

cat >build.sh <<'END'
rm -f decode.o decode
gcc -O2 -c "$1" -o decode.o && gcc decode.o -o decode -lm -pthread && cksum decode.o decode && ./decode --tokens 3
gcc -c nothing_here.c 2>/dev/null
echo "status $?"
END
same build sh build.sh "$source"
holds build.full '.run.processes >= 8'
