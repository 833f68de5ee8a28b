/** What a login left: tokens, who we are to the server, and what is under way. A private file for each server. */
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { asObject, type Json, parseJson } from "../kernel/json.ts";

/** What a private file holds; undefined when it is missing, or no JSON. */
export const readPrivate = (file: string): Promise<Json | undefined> =>
  readFile(file, "utf8").then(parseJson, () => undefined);

/** Whole or not at all. Throws when it cannot be written. */
export async function writePrivate(file: string, value: unknown): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const fresh = `${file}.${process.pid}`;
  await writeFile(fresh, `${JSON.stringify(value)}\n`, { mode: 0o600 });
  await rename(fresh, file);
}

/** As the library gives it; it alone knows what is in it. */
export type AuthNotes = {
  readonly client?: unknown;
  readonly tokens?: unknown;
  readonly discovery?: unknown;
  readonly verifier?: string;
  /** Rights that the server has asked for since. */
  readonly scope?: string;
};

export class AuthFile {
  readonly path: string;
  #notes: Promise<AuthNotes> | undefined;

  constructor(place: { readonly folder: string; readonly identity: string }) {
    this.path = path.join(place.folder, `${place.identity}.json`);
  }

  /** Read anew each time: another process may have logged in. A damaged file is as good as none. */
  async read(): Promise<AuthNotes> {
    return asObject(await readPrivate(this.path));
  }

  /** One change after the other. Throws when it cannot be written. */
  async change(patch: { [Name in keyof AuthNotes]: AuthNotes[Name] | undefined }): Promise<void> {
    const before = this.#notes ?? this.read();
    const after = before.then(async () => {
      const notes: AuthNotes = { ...(await this.read()), ...patch } as AuthNotes;
      await writePrivate(this.path, notes);
      return notes;
    });
    this.#notes = after.catch(() => ({}));
    await after;
  }

  async forget(): Promise<void> {
    await rm(this.path, { force: true });
  }
}
