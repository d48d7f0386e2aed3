// llama_run.mjs PACKAGES MODEL: loads MODEL with llama.cpp (node-llama-cpp below PACKAGES), one thread, evaluates a
// few tokens and prints which came; llama.cpp's own words about its buffers go to stderr.
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";
import path from "node:path";

const [packages, modelPath] = process.argv.slice(2);
const entry = createRequire(path.join(packages, "x.js")).resolve("node-llama-cpp");
const {getLlama, LlamaLogLevel} = await import(pathToFileURL(entry));
const llama = await getLlama({gpu: false, build: "never", progressLogs: false, maxThreads: 1,
	logLevel: LlamaLogLevel.info, logger: (level, text) => process.stderr.write(text + "\n")});
const model = await llama.loadModel({modelPath, useMmap: process.env.LLAMA_NO_MMAP !== "1"});
const context = await model.createContext({contextSize: 768, batchSize: 64, threads: 1});
const sequence = context.getSequence();
const out = [];
for await (const token of sequence.evaluate(model.tokenize("hello little world"), {temperature: 0})) {
	out.push(token);
	if (out.length === 8)
		break;
}
console.log(out.join(" "));
await context.dispose();
await model.dispose();
await llama.dispose();
