/**
 * The audit log of a home: lines of JSON in a private file that is only ever added to. One that is large gets another
 * name with the time, and a new one is begun; the oldest go. Several processes may write: each line is one write.
 */
import { appendFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { codeOf } from "../../kernel/fault.ts";
import { isObject, parseJson } from "../../kernel/json.ts";
import { withoutKeys } from "../../kernel/secrets.ts";
import { shorten } from "../../kernel/text.ts";
import { type AuditEntry, auditedKinds } from "./audit-entries.ts";

export type AuditLimits = { readonly maxBytes: number; readonly files: number };

/** Words of others: a reason, a rule. */
const maxWords = 2_000;

export class AuditFile {
  readonly #folder: string;
  readonly #limits: AuditLimits;
  readonly #secrets: readonly string[];

  /** `secrets`: what is never written, wherever it stands. */
  constructor(home: string, limits: AuditLimits, secrets: readonly string[]) {
    this.#folder = folderOf(home);
    this.#limits = limits;
    this.#secrets = secrets;
  }

  /** At once, so that what was decided is on record when it happens. Throws as the disk does. */
  append(entry: AuditEntry): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const file = path.join(this.#folder, current);
    this.#turn(file, entry.at);
    const line = JSON.stringify(entry, (_, value) =>
      typeof value === "string" ? this.#shown(value) : value,
    );
    appendFileSync(file, `${line}\n`, { mode: 0o600 });
  }

  #shown(text: string): string {
    return withoutKeys(shorten(text, maxWords), this.#secrets);
  }

  #turn(file: string, at: string): void {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size < this.#limits.maxBytes) return;
    const stem = path.join(this.#folder, `audit-${at.replaceAll(":", "-")}`);
    let number = 1;
    while (existsSync(`${stem}-${number}.jsonl`)) number++;
    try {
      renameSync(file, `${stem}-${number}.jsonl`);
    } catch (thrown) {
      // Another process has done it.
      if (codeOf(thrown) !== "ENOENT") throw thrown;
    }
    const old = namesIn(this.#folder).filter((name) => name !== current);
    for (const name of old.slice(0, Math.max(0, old.length - this.#limits.files)))
      rmSync(path.join(this.#folder, name), { force: true });
  }
}

const folderOf = (home: string): string => path.join(home, "audit");
const current = "audit.jsonl";

/** The oldest first; the one that is written to is the last. */
const namesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => /^audit(?:-.*)?\.jsonl$/.test(name))
    .sort((left, right) => (left === current ? 1 : right === current ? -1 : left < right ? -1 : 1));

/** Every line that is one of ours, the oldest first. None where there is no audit log. */
export async function* readAudit(home: string): AsyncGenerator<AuditEntry> {
  const folder = folderOf(home);
  if (!existsSync(folder)) return;
  for (const name of namesIn(folder)) {
    await using file = await open(path.join(folder, name)).catch(() => undefined);
    if (!file) continue; // It was the oldest, and went meanwhile.
    for await (const line of file.readLines({ autoClose: false })) {
      const entry = parseJson(line);
      if (isEntry(entry)) yield entry;
    }
  }
}

const isEntry = (value: unknown): value is AuditEntry =>
  isObject(value) && typeof value["at"] === "string" && auditedKinds.some((kind) => kind === value["what"]);
