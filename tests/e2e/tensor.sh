# tensor.sh: PyTorch's tensor events, with a libc10 of our own: what its CUDA allocator would tell becomes
# DEVICE_TENSOR records, the real function still gets each word, and one whose parameters are not known is left alone.
. "$(dirname "$0")/same.sh"
need cc

cat >c10.c <<'END'
#include <stdint.h>
#include <stdio.h>
struct device { int8_t type, index; };
#ifdef UNKNOWN
#define NAME "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_9NewDeviceE"
#else
#define NAME "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE"
#endif
void report(void *, int64_t, int64_t, int64_t, struct device) __asm__(NAME);
void report(void *block, int64_t bytes, int64_t allocated, int64_t reserved, struct device device)
{
	printf("%p %ld %ld %ld %d:%d\n", block, bytes, allocated, reserved, device.type, device.index);
}
END
cat >cuda.c <<'END'
#include <stdint.h>
#include <stdlib.h>
struct device { int8_t type, index; };
#ifdef UNKNOWN
#define NAME "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_9NewDeviceE"
#else
#define NAME "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE"
#endif
void report(void *, int64_t, int64_t, int64_t, struct device) __asm__(NAME);
void *prepare(void) { return malloc(3000000); } /* so that this library is met on a stack */
void work(int64_t at, int64_t bytes, int odd)
{
	struct device device = {1, 2};
	report((void *)at, bytes, 4000000, 6000000, device);
	if (odd) {
		device.type = -7;
		report((void *)at, bytes, 4000000, 6000000, device);
		device.type = 1;
	}
	report((void *)at, -bytes, 1000000, 6000000, device);
}
END
cat >program.c <<'END'
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
int main(int count, char **arguments)
{
	void *library = dlopen("./libtorch_cuda.so", RTLD_NOW | RTLD_LOCAL);
	void *(*prepare)(void) = (void *(*)(void))dlsym(library, "prepare");
	void (*work)(int64_t, int64_t, int) = (void (*)(int64_t, int64_t, int))dlsym(library, "work");
	free(prepare());
	for (int i = 0; i < 3; i++)
		work(0x7f0012340000 + i * 4096, 3000000 + i, count > 1 && arguments[1][0] == 'o' && i == 1);
	return 0;
}
END
build() { # FLAGS
	cc $1 -shared -fPIC -o libc10.so c10.c && cc $1 -shared -fPIC -O0 -o libtorch_cuda.so cuda.c ./libc10.so \
		-Wl,-rpath,"$PWD" && cc -o program program.c -ldl || fail cc
}
events() { # FOLDER
	"$E2E_TOOL" dump "$1" >"$1.dump" 2>&1 || fail "$1: dump"
	grep -o ' device_tensor stamp=.*' "$1.dump" | sed 's/stamp=[0-9]* //; s/ stack=[1-9][0-9]*/ stack=N/; s/ python=0//'
}

build ""
same known ./program
cat >want <<'END'
 device_tensor address=0x7f0012340000 is_free=0 bytes=3000000 allocated_bytes=4000000 reserved_bytes=6000000 device=2 stack=N
 device_tensor address=0x7f0012340000 is_free=1 bytes=3000000 allocated_bytes=1000000 reserved_bytes=6000000 device=2 stack=0
 device_tensor address=0x7f0012341000 is_free=0 bytes=3000001 allocated_bytes=4000000 reserved_bytes=6000000 device=2 stack=N
 device_tensor address=0x7f0012341000 is_free=1 bytes=3000001 allocated_bytes=1000000 reserved_bytes=6000000 device=2 stack=0
 device_tensor address=0x7f0012342000 is_free=0 bytes=3000002 allocated_bytes=4000000 reserved_bytes=6000000 device=2 stack=N
 device_tensor address=0x7f0012342000 is_free=1 bytes=3000002 allocated_bytes=1000000 reserved_bytes=6000000 device=2 stack=0
END
for mode in $modes; do
	events "known.$mode" >got
	diff want got || fail "$mode: other tensor events"
	grep -q ' adapter .*state=1 name="torch tensor events"' "known.$mode.dump" || fail "$mode: it does not say so"
done

# Something that can't be: the listening ends there and is said; the real function still hears all.
same odd ./program odd
events odd.full >got
head -n 3 want | diff - got || fail "odd: other tensor events"
grep -q ' adapter .*state=3 name="torch tensor events"' odd.full.dump || fail "odd: not said"

# --no-adapters, and a function with other parameters: nothing is touched.
RVPROF_NO_ADAPTERS=1 under full off ./program >off.out || fail "off: status"
cmp known.out off.out || fail "off: another output"
[ -z "$(events off)" ] || fail "off: tensor events all the same"
build -DUNKNOWN
same unknown ./program
[ -z "$(events unknown.full)" ] || fail "unknown: tensor events"
grep -q ' adapter .*state=0 name="torch tensor events"' unknown.full.dump || fail "unknown: not said"
