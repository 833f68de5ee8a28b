/**
 * What a session keeps beside its log, as rows, so that every worker has it. What is larger than a row should be stands in
 * the folder of its kind alone, which workers share by what they mount there. A copy of each stands there too, for
 * whoever can only work with a file.
 */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fault } from "../../kernel/fault.ts";
import type { ArtifactFile, ArtifactName, Artifacts, KeptArtifact } from "../../ports/artifacts.ts";
import { isMissing } from "../jsonl/files.ts";
import { namesLike, plainName, sessionId } from "../jsonl/names.ts";
import { unwritable } from "../jsonl/reasons.ts";
import { errno } from "../sqlite/database.ts";
import type { PostgresDatabase } from "./database.ts";

/** A result that a model is shown in part has some hundred kilobytes; what a build writes may have many megabytes. */
const MAX_ROW_BYTES = 1024 * 1024;

export type PostgresArtifactsOptions = {
  readonly database: PostgresDatabase;
  /** The folder of each session's artifacts, and what is of sessions that are files. */
  readonly files: Artifacts;
  readonly token: () => string;
  /** Whether the log of a session is in the database. */
  readonly has: (session: string) => Promise<boolean>;
  readonly maxRowBytes?: number | undefined;
};

export class PostgresArtifacts implements Artifacts {
  readonly #options: PostgresArtifactsOptions;
  readonly #maxRowBytes: number;
  #appending: Promise<unknown> = Promise.resolve();

  constructor(options: PostgresArtifactsOptions) {
    this.#options = options;
    this.#maxRowBytes = options.maxRowBytes ?? MAX_ROW_BYTES;
  }

  async put(wanted: ArtifactName, text: string): Promise<KeptArtifact> {
    const { files, token } = this.#options;
    if (!(await this.#isHere(wanted))) return files.put(wanted, text);
    const mark = token();
    try {
      for (const name of namesLike(wanted.name)) {
        if (!(await this.#add({ ...wanted, name }, { text, mark, part: 0 }))) continue;
        return { name, path: await this.#copy({ ...wanted, name }, text), bytes: Buffer.byteLength(text) };
      }
      throw errno("EEXIST", "no name is free");
    } catch (thrown) {
      throw unwritable(wanted.name, thrown);
    }
  }

  append(known: ArtifactName, text: string): Promise<void> {
    const appended = this.#appending.then(async () => {
      if (!(await this.#isHere(known))) return this.#options.files.append(known, text);
      const named = { ...known, name: plainName(known.name) };
      const mark = this.#options.token();
      try {
        for (let isAdded = false; !isAdded; ) {
          const [row] = await this.#options.database.query(NEXT, named.session, named.kind, named.name);
          isAdded = await this.#add(named, { text, mark, part: Number(row?.["part"] ?? 0) });
        }
      } catch (thrown) {
        throw unwritable(known.name, thrown);
      }
    });
    this.#appending = appended.catch(() => undefined);
    return appended;
  }

  async get(known: ArtifactName): Promise<string | undefined> {
    if (!(await this.#isHere(known))) return this.#options.files.get(known);
    const rows = await this.#options.database.query(PARTS, known.session, known.kind, plainName(known.name));
    if (rows.length === 0) return undefined;
    const parts = rows.map(async ({ part, content }) =>
      typeof content === "string" ? fromText(content) : this.#fromFolder(known, Number(part)),
    );
    return (await Promise.all(parts)).join("");
  }

  async list(of: Omit<ArtifactName, "name">): Promise<string[]> {
    if (!(await this.#isHere({ ...of, name: "" }))) return this.#options.files.list(of);
    const rows = await this.#options.database.query(
      "SELECT DISTINCT name FROM keel_artifacts WHERE session = $1 AND kind = $2",
      of.session,
      of.kind,
    );
    return rows.map(({ name }) => String(name)).sort();
  }

  file(known: ArtifactName): ArtifactFile | undefined {
    return this.#options.files.file(known);
  }

  /** Throws `session_unknown` for one that is nowhere, by the files. */
  #isHere({ session }: ArtifactName): Promise<boolean> {
    return this.#options.has(sessionId(session));
  }

  /** False where there is one already that was not added by this very call. */
  async #add(
    { session, kind, name }: ArtifactName,
    { text, mark, part }: { text: string; mark: string; part: number },
  ): Promise<boolean> {
    const bytes = Buffer.byteLength(text);
    const isLarge = bytes > this.#maxRowBytes;
    // First, so that no row names what is not there.
    if (isLarge) await this.#toFolder({ session, kind, name }, part, text);
    const [row] = await this.#options.database.query(
      ADD,
      session,
      kind,
      name,
      part,
      mark,
      isLarge ? null : toText(text),
      bytes,
    );
    return row?.["token"] === mark || (await this.#isOwn({ session, kind, name }, part, mark));
  }

  async #isOwn({ session, kind, name }: ArtifactName, part: number, mark: string): Promise<boolean> {
    const [row] = await this.#options.database.query(
      "SELECT token FROM keel_artifacts WHERE session = $1 AND kind = $2 AND name = $3 AND part = $4",
      session,
      kind,
      name,
      part,
    );
    return row?.["token"] === mark;
  }

  /** A copy, for whoever looks for a file: where it cannot be made, the row is still there. */
  async #copy(known: ArtifactName, text: string): Promise<string> {
    const kept = await this.#options.files.put(known, text).catch(() => undefined);
    return kept?.path ?? this.file(known)?.path ?? known.name;
  }

  async #toFolder(known: ArtifactName, part: number, text: string): Promise<void> {
    const { files } = this.#options;
    const name = partName(known.name, part);
    // What a try that was cut off left there is the same.
    if ((await files.get({ ...known, name })) === text) return;
    const kept = await files.put({ ...known, name }, text);
    if (kept.name !== name) throw errno("EEXIST", "its folder has another of this name");
  }

  async #fromFolder(known: ArtifactName, part: number): Promise<string> {
    const file = this.file({ ...known, name: partName(plainName(known.name), part) })?.path;
    try {
      return await readFile(file ?? "", "utf8");
    } catch (thrown) {
      const reason = isMissing(thrown) ? "it stands in the folder of another machine" : "it cannot be read";
      throw fault("log_unreadable", { path: file ?? path.basename(known.name), reason, cause: thrown });
    }
  }
}

/** Beside its copy. */
const partName = (name: string, part: number): string => `${name}.part-${part}`;

/** PostgreSQL keeps no zero in a text, and no half of a character: such a text is kept as JSON. */
const toText = (text: string): string =>
  text.includes("\0") || !text.isWellFormed() || text.startsWith(AS_JSON)
    ? AS_JSON + JSON.stringify(text)
    : text;
const fromText = (content: string): string =>
  content.startsWith(AS_JSON) ? String(JSON.parse(content.slice(AS_JSON.length))) : content;
const AS_JSON = "\u0001json:";

const ADD = `
INSERT INTO keel_artifacts (session, kind, name, part, token, content, bytes)
VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING token`;
const NEXT = `
SELECT coalesce(max(part) + 1, 0) AS part FROM keel_artifacts WHERE session = $1 AND kind = $2 AND name = $3`;
const PARTS = `
SELECT part, content FROM keel_artifacts WHERE session = $1 AND kind = $2 AND name = $3 ORDER BY part`;
