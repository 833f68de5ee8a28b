// Reads every source of the repository, once per process.
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { readSource, type Source } from "./source.ts";

const root = path.resolve(import.meta.dirname, "../..");
const places = ["keel/src", "keel/bin", "web/src", "test", "scripts", "bench", "examples"];

const read: { sources?: Source[] } = {};

export function readRepository(): readonly Source[] {
  read.sources ??= readAll();
  return read.sources;
}

function readAll(): Source[] {
  const files = places.flatMap((place) => globSync(`${place}/**/*.{ts,tsx,mts,mjs,js,jsx}`, { cwd: root }));
  return files
    .map((file) => file.split(path.sep).join("/"))
    .filter((file) => !file.includes("/node_modules/") && !file.startsWith("test/golden/"))
    .sort()
    .map((file) => readSource(file, readFileSync(path.join(root, file), "utf8")));
}
