// llama_model.mjs FILE [f16|q8_0|q4_0 [LAYERS WIDTH HEADS KV_HEADS HIDDEN VOCABULARY]]: writes a small valid GGUF (version 3,
// architecture llama, SPM tokenizer) with random weights from a fixed seed, so that llama.cpp can be tried without a
// download. Prints what it holds.
import {openSync, writeSync, closeSync} from "node:fs";

const [path, kind = "f16", ...numbers] = process.argv.slice(2), alignment = 32;
const sizes = numbers.length ? numbers.map(Number) : [4, 256, 8, 4, 704, 2048];
const [layers, width, heads, kvHeads, hidden, vocabulary] = sizes;
const headWidth = width / heads, F32 = 0, F16 = 1, Q4_0 = 2, Q8_0 = 8;
const matrix = {f16: F16, q4_0: Q4_0, q8_0: Q8_0}[kind];

const bytesOf = (n, write) => {
	const buffer = Buffer.alloc(n);
	write(buffer);
	return buffer;
};
const u32 = (v) => bytesOf(4, (b) => b.writeUInt32LE(v));
const i32 = (v) => bytesOf(4, (b) => b.writeInt32LE(v));
const f32 = (v) => bytesOf(4, (b) => b.writeFloatLE(v));
const u64 = (v) => bytesOf(8, (b) => b.writeBigUInt64LE(BigInt(v)));
const string = (v) => Buffer.concat([u64(Buffer.byteLength(v)), Buffer.from(v)]);
const array = (type, items, write) => Buffer.concat([u32(type), u64(items.length), ...items.map(write)]);
const kinds = {u32: [4, u32], i32: [5, i32], f32: [6, f32], string: [8, string]};
const entry = (key, kind, v) => Buffer.concat([string(key), u32(kinds[kind][0]), kinds[kind][1](v)]);
const list = (key, kind, v) => Buffer.concat([string(key), u32(9), array(kinds[kind][0], v, kinds[kind][1])]);

const tokens = ["<unk>", "<s>", "</s>"], types = [2, 3, 3];
for (let i = 0; i < 256; i++) {
	tokens.push(`<0x${i.toString(16).toUpperCase().padStart(2, "0")}>`);
	types.push(6);
}
while (tokens.length < vocabulary) {
	tokens.push(`\u2581w${tokens.length}`);
	types.push(1);
}

const facts = [
	entry("general.architecture", "string", "llama"),
	entry("general.alignment", "u32", alignment),
	entry("llama.block_count", "u32", layers),
	entry("llama.context_length", "u32", 1024),
	entry("llama.embedding_length", "u32", width),
	entry("llama.feed_forward_length", "u32", hidden),
	entry("llama.attention.head_count", "u32", heads),
	entry("llama.attention.head_count_kv", "u32", kvHeads),
	entry("llama.attention.layer_norm_rms_epsilon", "f32", 1e-5),
	entry("llama.rope.dimension_count", "u32", headWidth),
	entry("llama.vocab_size", "u32", vocabulary),
	entry("general.file_type", "u32", {[F16]: 1, [Q4_0]: 2, [Q8_0]: 7}[matrix]),
	entry("tokenizer.ggml.model", "string", "llama"),
	entry("tokenizer.ggml.pre", "string", "default"),
	list("tokenizer.ggml.tokens", "string", tokens),
	list("tokenizer.ggml.scores", "f32", tokens.map((_, i) => -i)),
	list("tokenizer.ggml.token_type", "i32", types),
	entry("tokenizer.ggml.bos_token_id", "u32", 1),
	entry("tokenizer.ggml.eos_token_id", "u32", 2),
	entry("tokenizer.ggml.unknown_token_id", "u32", 0),
];

const tensors = [["token_embd.weight", [width, vocabulary], matrix]];
for (let i = 0; i < layers; i++)
	tensors.push([`blk.${i}.attn_norm.weight`, [width], F32], [`blk.${i}.attn_q.weight`, [width, width], matrix],
		[`blk.${i}.attn_k.weight`, [width, headWidth * kvHeads], matrix],
		[`blk.${i}.attn_v.weight`, [width, headWidth * kvHeads], matrix],
		[`blk.${i}.attn_output.weight`, [width, width], matrix], [`blk.${i}.ffn_norm.weight`, [width], F32],
		[`blk.${i}.ffn_gate.weight`, [width, hidden], matrix], [`blk.${i}.ffn_up.weight`, [width, hidden], matrix],
		[`blk.${i}.ffn_down.weight`, [hidden, width], matrix]);
tensors.push(["output_norm.weight", [width], F32], ["output.weight", [width, vocabulary], matrix]);

let seed = 12345;
const random = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0);
// f16 numbers between 2^-6 and 2^-5 of either sign: sign bit, exponent 9, random mantissa.
const half = () => ((random() >>> 31) << 15) | (9 << 10) | ((random() >>> 16) & 0x3ff);
// A block of q8_0 is a scale (here the f16 number 2^-12) and 32 signed bytes.
const writers = {
	[F32]: [1, 4, (data, at) => data.writeFloatLE(1, at)],
	[F16]: [1, 2, (data, at) => data.writeUInt16LE(half(), at)],
	[Q4_0]: [32, 18, (data, at) => {
		data.writeUInt16LE(7 << 10, at); // 2^-8, and 32 numbers from -8 to 7
		for (let i = 2; i < 18; i++)
			data.writeUInt8(random() >>> 24, at + i);
	}],
	[Q8_0]: [32, 34, (data, at) => {
		data.writeUInt16LE(3 << 10, at);
		for (let i = 2; i < 34; i++)
			data.writeInt8((random() >>> 24) - 128, at + i);
	}],
};
const fill = (shape, type) => {
	const [elements, bytes, write] = writers[type], count = shape.reduce((a, b) => a * b, 1) / elements;
	const data = Buffer.alloc(count * bytes);
	for (let i = 0; i < count; i++)
		write(data, i * bytes);
	return data;
};
const padded = (n) => Math.ceil(n / alignment) * alignment;

let offset = 0, weights = 0;
const infos = [], bodies = [];
for (const [name, shape, type] of tensors) {
	const body = fill(shape, type);
	infos.push(string(name), u32(shape.length), ...shape.map(u64), u32(type), u64(offset));
	bodies.push(Buffer.concat([body, Buffer.alloc(padded(body.length) - body.length)]));
	offset += padded(body.length);
	weights += body.length;
}
const head = Buffer.concat([Buffer.from("GGUF"), u32(3), u64(tensors.length), u64(facts.length), ...facts, ...infos]);
const file = openSync(path, "w");
writeSync(file, Buffer.concat([head, Buffer.alloc(padded(head.length) - head.length), ...bodies]));
closeSync(file);
console.log(`file_bytes=${padded(head.length) + offset} weights_bytes=${weights} ` +
	`kv_bytes_per_token=${2 * layers * headWidth * kvHeads * 2}`);
