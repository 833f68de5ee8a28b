// `npm run reference`: writes docs/reference/ from the tables and schemas. The check fails while a page is stale.
// First what is code, then, in a process that has loaded it anew, the pages that are made by running it.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { referenceCode, referencePages, referenceSources } from "./reference/pages.ts";

const root = path.resolve(import.meta.dirname, "..");
const sources = Object.fromEntries(
  referenceSources.map((file) => [file, readFileSync(path.join(root, file), "utf8")]),
);

const isSecond = process.argv[2] === "pages";
const files = isSecond ? await referencePages(sources) : await referenceCode();
for (const [file, text] of Object.entries(files)) {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
  console.log(`reference: ${file}`);
}
if (!isSecond) {
  const script = process.argv[1] ?? "";
  const { status } = spawnSync(process.execPath, [script, "pages"], { stdio: "inherit" });
  process.exitCode = status ?? 1;
}
