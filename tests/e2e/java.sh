# java.sh: the JVM compiles and runs a program with threads, garbage and memory of its own outside the heap.
. "$(dirname "$0")/same.sh"
need java javac

cat >Work.java <<'END'
import java.nio.ByteBuffer;
import java.util.*;
import java.util.stream.*;

public class Work {
	public static void main(String[] args) throws Exception {
		ByteBuffer held = ByteBuffer.allocateDirect(9876543);
		Thread[] threads = new Thread[4];
		long[] sums = new long[threads.length];
		for (int t = 0; t < threads.length; t++) {
			int n = t;
			threads[t] = new Thread(() -> {
				Map<String, Integer> map = new HashMap<>();
				for (int i = 0; i < 50000; i++)
					map.merge("key " + (i * 31 + n) % 5000, i, Integer::sum);
				sums[n] = map.values().stream().mapToLong(v -> v).sum();
			});
			threads[t].start();
		}
		for (Thread t : threads)
			t.join();
		System.out.println(Arrays.toString(sums) + " " + IntStream.range(0, 100000).boxed()
			.collect(Collectors.groupingBy(i -> i % 7, TreeMap::new, Collectors.counting())));
		System.out.println("held_bytes=" + held.capacity());
		System.exit(6);
	}
}
END
cat >build.sh <<'END'
rm -f *.class
javac -J-Xmx128m Work.java && java -Xmx128m -XX:+UseSerialGC -XX:-UsePerfData Work
END
same work sh build.sh
# The JVM rounds a request up to whole words.
recorded work.full $((($(said work.out held_bytes) + 7) / 8 * 8))
