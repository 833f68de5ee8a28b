/** Contents by their hash, each kept once, readable by their owner only. The oldest go first when there is too much. */
import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import path from "node:path";

export interface Blobs {
  /** Keeps a content and returns its name. A content that is there already is marked as used. */
  put(content: Uint8Array): Promise<string>;
  /** Undefined when it was removed to make room. */
  get(name: string): Promise<Uint8Array | undefined>;
  /** Removes the least used until at most `bytes` are left; those in `keep` stay. */
  trim(bytes: number, keep: ReadonlySet<string>): Promise<void>;
}

const namePattern = /^[0-9a-f]{64}$/;

export function openBlobs({ folder, now }: { folder: string; now: () => number }): Blobs {
  const place = (name: string): string => {
    if (!namePattern.test(name)) throw new Error("not the name of a kept content");
    return path.join(folder, name.slice(0, 2), name);
  };
  return {
    async put(content) {
      const name = createHash("sha256").update(content).digest("hex");
      const file = place(name);
      const seconds = now() / 1000;
      if (await worked(utimes(file, seconds, seconds))) return name;
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
      const fresh = `${file}.${randomUUID()}`;
      const handle = await open(fresh, "wx", 0o600);
      try {
        await handle.writeFile(content);
        await handle.datasync();
      } finally {
        await handle.close();
      }
      await rename(fresh, file);
      return name;
    },
    get: (name) => readFile(place(name)).catch(() => undefined),
    trim: (bytes, keep) => trim({ folder, bytes, keep, now }),
  };
}

const hourMs = 3_600_000;

async function trim({
  folder,
  bytes,
  keep,
  now,
}: {
  folder: string;
  bytes: number;
  keep: ReadonlySet<string>;
  now: () => number;
}): Promise<void> {
  const all: { file: string; name: string; bytes: number; usedAt: number }[] = [];
  for (const part of await readdir(folder).catch(() => [])) {
    for (const name of await readdir(path.join(folder, part)).catch(() => [])) {
      const file = path.join(folder, part, name);
      const found = await stat(file).catch(() => undefined);
      if (found?.isFile()) all.push({ file, name, bytes: found.size, usedAt: found.mtimeMs });
    }
  }
  // What a killed process began and never named. Another process may be at work on a young one.
  for (const { file } of all.filter(({ name, usedAt }) => !namePattern.test(name) && usedAt < now() - hourMs))
    await rm(file, { force: true });
  let total = all.reduce((sum, blob) => sum + blob.bytes, 0);
  for (const blob of all.sort((left, right) => left.usedAt - right.usedAt)) {
    if (total <= bytes) return;
    if (keep.has(blob.name)) continue;
    await rm(blob.file, { force: true });
    total -= blob.bytes;
  }
}

const worked = (promise: Promise<unknown>): Promise<boolean> =>
  promise.then(
    () => true,
    () => false,
  );
