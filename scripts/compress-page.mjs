// Makes the files of the page smaller beside themselves, once, so that the server never has to.
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const kinds = new Set([".html", ".js", ".css", ".svg", ".json", ".webmanifest"]);
/** Below this, a head costs more than it saves. */
const leastBytes = 1_024;

/** Writes `<file>.br` and `<file>.gz` where they are smaller. */
export async function compressPage(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && kinds.has(path.extname(entry.name)));
  await Promise.all(files.map((entry) => compress(path.join(entry.parentPath, entry.name))));
}

async function compress(file) {
  const bytes = await readFile(file);
  if (bytes.length < leastBytes) return;
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
    promisify(gzip)(bytes, { level: 9 }),
  ]);
  if (br.length < bytes.length) await writeFile(`${file}.br`, br);
  if (gz.length < bytes.length) await writeFile(`${file}.gz`, gz);
}
