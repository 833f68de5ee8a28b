/**
 * The mailbox between a host and a box: files whose names sort by time, each written beside its place and then renamed
 * into it, so that none is ever seen half. A file named `_close` says that no more comes.
 */
import { watch } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject, parseJson } from "../../kernel/json.ts";

const closeName = "_close";
const messageName = /^[0-9]{15}-[\w.-]{1,120}\.json$/;
/** Larger than any message is. */
const maxBytes = 4 * 1024 * 1024;
/** Where nothing can be watched, such as across the wall of a box, somebody looks now and then. */
const lookMs = 500;
/** So many are read in one look: whoever floods keeps only themselves waiting. */
const maxLetters = 100;
const freshTries = 5;

export type Letter = { readonly name: string; readonly body: Record<string, unknown> };

export class FolderMailbox {
  readonly #folder: string;
  readonly #aside: string;
  #count = 0;

  /**
   * `aside`: where goes what cannot be read. A host that reads what a box writes names a folder that the box has not: a
   * link in its place would have the host write elsewhere.
   */
  constructor(folder: string, aside = path.join(folder, "bad")) {
    this.#folder = folder;
    this.#aside = aside;
  }

  /** On disk when it resolves. `name` is a part of its name. */
  async post(
    body: Readonly<Record<string, unknown>>,
    { at, name }: { at: number; name: string },
  ): Promise<void> {
    await this.#made();
    const order = String(at * 100 + (this.#count++ % 100)).padStart(15, "0");
    const file = `${order}-${name.replace(/[^\w.-]/g, "_").slice(0, 120)}.json`;
    await this.place(file, JSON.stringify(body));
  }

  async close(): Promise<void> {
    await this.#made();
    await this.place(closeName, "");
  }

  /** Whole or not at all; through no link that somebody put where it is written first. */
  async place(name: string, content: string): Promise<void> {
    const fresh = path.join(this.#folder, `.${name}.new`);
    for (let tries = 1; ; tries++) {
      await rm(fresh, { force: true, recursive: true });
      try {
        await writeFile(fresh, content, { mode: 0o600, flush: true, flag: "wx" });
        break;
      } catch (thrown) {
        if (tries === freshTries) throw thrown;
      }
    }
    await rename(fresh, path.join(this.#folder, name));
  }

  /** One that an earlier life was told must not end this one. */
  async reopen(): Promise<void> {
    await rm(path.join(this.#folder, closeName), { force: true });
  }

  /** What lies there, the oldest first, until it is removed. What cannot be read is moved aside. */
  async letters(): Promise<{ readonly letters: readonly Letter[]; readonly isClosed: boolean }> {
    const names = (await readdir(this.#folder).catch(() => [])).toSorted();
    const letters: Letter[] = [];
    for (const name of names.filter((one) => messageName.test(one)).slice(0, maxLetters)) {
      const body = await this.#read(name);
      if (body) letters.push({ name, body });
      else await this.#setAside(name);
    }
    return { letters, isClosed: names.includes(closeName) };
  }

  async remove({ name }: Letter): Promise<void> {
    await rm(path.join(this.#folder, name), { force: true });
  }

  /** Resolves when something may have changed. */
  async changed(signal: AbortSignal): Promise<void> {
    await this.#made();
    const woken = new AbortController();
    const watcher = watch(this.#folder, { persistent: false }, () => woken.abort());
    watcher.on("error", () => undefined);
    await sleep(lookMs, undefined, { signal: AbortSignal.any([signal, woken.signal]) }).catch(
      () => undefined,
    );
    watcher.close();
  }

  async #read(name: string): Promise<Record<string, unknown> | undefined> {
    const file = path.join(this.#folder, name);
    try {
      // A link that somebody planted would have the host read what is not theirs.
      const { constants } = await import("node:fs");
      const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        const facts = await handle.stat();
        if (!facts.isFile() || facts.size > maxBytes) return undefined;
        const parsed = parseJson(await readFile(handle, "utf8"));
        return isObject(parsed) ? parsed : undefined;
      } finally {
        await handle.close();
      }
    } catch {
      return undefined;
    }
  }

  async #setAside(name: string): Promise<void> {
    const place = path.join(this.#folder, name);
    await mkdir(this.#aside, { recursive: true, mode: 0o700 }).catch(() => undefined);
    // What cannot be kept would be looked at for ever.
    await rename(place, path.join(this.#aside, name)).catch(() =>
      rm(place, { force: true, recursive: true }),
    );
  }

  async #made(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
  }
}
