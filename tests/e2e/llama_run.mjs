// llama_run.mjs PACKAGES MODEL [CONTEXT TOKENS]: loads MODEL with llama.cpp (node-llama-cpp below PACKAGES), one thread,
// evaluates a few tokens and prints which came, and how many calls of llama_decode it took; llama.cpp's own words about
// its buffers go to stderr, and with LLAMA_TIMES=1 its times of prompt and tokens.
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";
import path from "node:path";

const [packages, modelPath, contextSize = 768, tokens = 8] = process.argv.slice(2);
const entry = createRequire(path.join(packages, "x.js")).resolve("node-llama-cpp");
const {getLlama, LlamaLogLevel} = await import(pathToFileURL(entry));
const llama = await getLlama({gpu: false, build: "never", progressLogs: false, maxThreads: 1,
	logLevel: LlamaLogLevel.info, logger: (level, text) => process.stderr.write(text + "\n")});
const model = await llama.loadModel({modelPath, useMmap: process.env.LLAMA_NO_MMAP !== "1"});
const context = await model.createContext({performanceTracking: process.env.LLAMA_TIMES === "1", contextSize: +contextSize, batchSize: 64, threads: 1});
// The addon's decodeBatch is one llama_decode.
const decodeBatch = context._ctx.decodeBatch;
let decodes = 0;
Object.defineProperty(context._ctx, "decodeBatch", {value: function (...words) {
	decodes++;
	return decodeBatch.apply(this, words);
}});
const sequence = context.getSequence();
const out = [];
for await (const token of sequence.evaluate(model.tokenize("hello little world"), {temperature: 0})) {
	out.push(token);
	if (out.length === +tokens)
		break;
}
if (process.env.LLAMA_TIMES === "1")
	await context.printTimings();
console.log(out.join(" "));
console.log(`decodes=${decodes}`);
await context.dispose();
await model.dispose();
await llama.dispose();
