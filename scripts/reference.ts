// `npm run reference`: writes docs/reference/ from the tables and schemas. The check fails while a page is stale.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { referencePages, referenceSources } from "./reference/pages.ts";

const root = path.resolve(import.meta.dirname, "..");
const sources = Object.fromEntries(
  referenceSources.map((file) => [file, readFileSync(path.join(root, file), "utf8")]),
);
for (const [file, text] of Object.entries(await referencePages(sources))) {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
  console.log(`reference: ${file}`);
}
