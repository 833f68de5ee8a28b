/** What a login left: tokens, who we are to the server, and what is under way. A private file for each server. */
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { isObject } from "../kernel/json.ts";

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
    try {
      const notes: unknown = JSON.parse(await readFile(this.path, "utf8"));
      return isObject(notes) ? notes : {};
    } catch {
      return {}; // Missing, or no JSON.
    }
  }

  /** One change after the other. Throws when it cannot be written. */
  async change(patch: { [Name in keyof AuthNotes]: AuthNotes[Name] | undefined }): Promise<void> {
    const before = this.#notes ?? this.read();
    const after = before.then(async () => {
      const notes: AuthNotes = { ...(await this.read()), ...patch } as AuthNotes;
      await mkdir(path.dirname(this.path), { recursive: true, mode: 0o700 });
      const fresh = `${this.path}.${process.pid}`;
      await writeFile(fresh, `${JSON.stringify(notes)}\n`, { mode: 0o600 });
      await rename(fresh, this.path);
      return notes;
    });
    this.#notes = after.catch(() => ({}));
    await after;
  }

  async forget(): Promise<void> {
    await rm(this.path, { force: true });
  }
}
