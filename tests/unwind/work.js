// SPDX-License-Identifier: MIT
// work.js ROUNDS: compiled code calls into the engine, the engine into native code.
const zlib = require("zlib");
const crypto = require("crypto");
const rounds = +process.argv[2];

function fold(depth, data) {
	if (depth === 0)
		return JSON.stringify(data).length;
	return data.map((entry) => ({...entry, depth})).reduce((sum, entry) => sum + entry.depth, fold(depth - 1, data));
}
let sum = 0;
for (let i = 0; i < rounds; i++) {
	const data = Array.from({length: 100}, (_, k) => ({id: k, name: "name " + k, tags: [k, k + i]}));
	sum += fold(i % 30, data);
	sum += zlib.inflateSync(zlib.deflateSync(JSON.stringify(data))).length;
	sum += crypto.createHash("sha256").update("" + i).digest().length;
	new Function("a", `return a + ${i}`)(1);
	sum += new Map(data.map((entry) => [entry.name, Buffer.alloc(100 + i)])).size;
}
console.log(sum);
