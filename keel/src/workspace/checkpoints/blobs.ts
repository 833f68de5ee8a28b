/** Contents by their hash, each kept once, readable by their owner only. The oldest go first when there is too much. */
import { hash, randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import path from "node:path";

export interface Blobs {
  /** Keeps a content and returns its name. One that is there already is marked as used. Durable once settled. */
  put(content: Uint8Array): Promise<string>;
  /** Makes a content durable that a log is about to name. False when it is not there any more. */
  settle(name: string): Promise<boolean>;
  /** Undefined when it was removed to make room, or is damaged. */
  get(name: string): Promise<Uint8Array | undefined>;
  /** Removes the least used until at most `bytes` are left; those in `keep` stay. */
  trim(bytes: number, keep: ReadonlySet<string>): Promise<void>;
  /** Says of a content whether it was there just now. */
  names(): Promise<(name: string) => boolean>;
  /** Removes every content that is not wanted any more. */
  drop(isUnwanted: (name: string) => boolean): Promise<void>;
}

const namePattern = /^[0-9a-f]{64}$/;
const nameOf = (content: Uint8Array): string => hash("sha256", content, "hex");

export function openBlobs({ folder, now }: { folder: string; now: () => number }): Blobs {
  const place = (name: string): string => {
    if (!namePattern.test(name)) throw new Error("not the name of a kept content");
    return path.join(folder, name.slice(0, 2), name);
  };
  const write = (file: string, content: Uint8Array): Promise<void> =>
    writeFile(file, content, { flag: "wx", mode: 0o600 });
  return {
    async put(content) {
      const name = nameOf(content);
      const file = place(name);
      const seconds = now() / 1000;
      // One of another size was torn by the end of the machine.
      const isThere = (await stat(file).catch(() => undefined))?.size === content.length;
      if (isThere && (await worked(utimes(file, seconds, seconds)))) return name;
      const fresh = `${file}.${randomUUID()}`;
      // Its folder is there but for the first content in it.
      await write(fresh, content).catch(async () => {
        await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
        await write(fresh, content);
      });
      await rename(fresh, file);
      return name;
    },
    async settle(name) {
      const handle = await open(place(name), "r+").catch(() => undefined);
      if (!handle) return false;
      try {
        await handle.datasync();
        return true;
      } finally {
        await handle.close();
      }
    },
    async get(name) {
      const content = await readFile(place(name)).catch(() => undefined);
      return content && nameOf(content) === name ? content : undefined;
    },
    async trim(bytes, keep) {
      const all = await allIn(folder);
      // What a killed process began and never named. Another process may be at work on a young one.
      const isLeft = ({ name, usedAt }: Blob): boolean => !namePattern.test(name) && usedAt < now() - hourMs;
      for (const { file } of all.filter(isLeft)) await rm(file, { force: true });
      let total = all.reduce((sum, blob) => sum + blob.bytes, 0);
      for (const blob of all.sort((left, right) => left.usedAt - right.usedAt)) {
        if (total <= bytes) return;
        if (keep.has(blob.name)) continue;
        await rm(blob.file, { force: true });
        total -= blob.bytes;
      }
    },
    async names() {
      const parts = await readdir(folder).catch(() => []);
      const all = await Promise.all(parts.map((part) => readdir(path.join(folder, part)).catch(() => [])));
      const there = new Set(all.flat());
      return (name) => there.has(name);
    },
    async drop(isUnwanted) {
      for (const { file, name } of await allIn(folder)) if (isUnwanted(name)) await rm(file, { force: true });
    },
  };
}

const hourMs = 3_600_000;

type Blob = { file: string; name: string; bytes: number; usedAt: number };

async function allIn(folder: string): Promise<Blob[]> {
  const all: Blob[] = [];
  for (const part of await readdir(folder).catch(() => [])) {
    for (const name of await readdir(path.join(folder, part)).catch(() => [])) {
      const file = path.join(folder, part, name);
      const found = await stat(file).catch(() => undefined);
      if (found?.isFile()) all.push({ file, name, bytes: found.size, usedAt: found.mtimeMs });
    }
  }
  return all;
}

const worked = (promise: Promise<unknown>): Promise<boolean> =>
  promise.then(
    () => true,
    () => false,
  );
