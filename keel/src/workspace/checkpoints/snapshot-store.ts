/**
 * The last stock of a folder, kept for the next session: what has the same size and time need not be read again. Only a
 * shortcut: one that is missing, damaged or names contents that are gone costs time and nothing else.
 */
import { hash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod/mini";
import { parseJson } from "../../kernel/json.ts";
import { noSnapshot, type SnapshotEntry, type WorkspaceSnapshot } from "./snapshot.ts";

export type SnapshotStore = {
  /** Never throws. `has`: whether a content is still there. */
  read(has: (blob: string) => boolean): Promise<WorkspaceSnapshot>;
  write(stock: WorkspaceSnapshot): Promise<void>;
};

const schema = z.object({
  version: z.literal(1),
  root: z.string(),
  /** Path from the root, mark, content, birth. */
  files: z.array(z.tuple([z.string(), z.string(), z.string(), z.number()])),
});

export const snapshotFolder = (home: string): string => path.join(home, "stock");

export function snapshotStore({ home, root }: { home: string; root: string }): SnapshotStore {
  const folder = snapshotFolder(home);
  const file = path.join(folder, `${hash("sha256", root, "hex").slice(0, 32)}.json`);
  return {
    async read(has) {
      const parsed = schema.safeParse(parseJson(await readFile(file, "utf8").catch(() => "")));
      if (!parsed.success || parsed.data.root !== root) return noSnapshot;
      const known = parsed.data.files.flatMap(([name, mark, blob, bornMs]): [string, SnapshotEntry][] =>
        has(blob) ? [[path.join(root, name), { mark, blob, bornMs }]] : [],
      );
      return { ...noSnapshot, files: new Map(known) };
    },
    async write({ files }) {
      const rows = [...files].flatMap(([name, { mark, blob, bornMs }]) =>
        blob === undefined ? [] : [[path.relative(root, name), mark, blob, bornMs]],
      );
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const fresh = `${file}.${randomUUID()}`;
      try {
        await writeFile(fresh, JSON.stringify({ version: 1, root, files: rows }), { mode: 0o600 });
        await rename(fresh, file);
      } catch {
        await rm(fresh, { force: true }); // The next session reads everything, as the first one did.
      }
    },
  };
}
