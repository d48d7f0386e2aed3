# node.sh: node with promises, worker threads, a child process and buffers that live outside its heap.
. "$(dirname "$0")/same.sh"
need node

cat >work.js <<'END'
const {Worker, isMainThread, parentPort, workerData} = require("worker_threads");
const {execFileSync} = require("child_process");
const crypto = require("crypto"), zlib = require("zlib");

async function main() {
	const rows = Array.from({length: 20000}, (_, i) => ({id: i, name: "row " + i}));
	console.log(JSON.parse(JSON.stringify(rows)).length);
	const held = Buffer.allocUnsafeSlow(7654321).fill(7);
	console.log(crypto.createHash("sha256").update(zlib.gzipSync(held)).digest("hex"));
	console.log("held_bytes=" + held.buffer.byteLength);
	const answers = await Promise.all([1, 2].map((n) => new Promise((done, bad) =>
		new Worker(__filename, {workerData: n}).on("message", done).on("error", bad))));
	console.log(answers.join(" "));
	console.log(execFileSync(process.execPath, ["-e", "console.log(6 * 7)"]).toString().trim());
	process.exitCode = 4;
}
if (isMainThread)
	main();
else
	parentPort.postMessage(workerData * crypto.pbkdf2Sync("a", "b", 10, 32, "sha256")[0]);
END
same work node work.js
recorded work.full "$(said work.out held_bytes)"
