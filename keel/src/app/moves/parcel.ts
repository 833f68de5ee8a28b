/**
 * A session on its way, as one file: a line that says what it is, each part behind a line with its name and its size, and
 * a last line with the sum of all before it and the record by which the session left. Without that last line it is no
 * parcel yet, and nobody takes it in: it is written only when the session has left where it was.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import path from "node:path";
import * as z from "zod/mini";
import { fault } from "../../kernel/fault.ts";
import { parseJson } from "../../kernel/json.ts";
import { sayIssues } from "../../kernel/schema.ts";
import { isBesideName } from "../../store/jsonl/moved-log.ts";

export const parcelVersion = 1;
/** Of one move, with all that belongs to it. */
export const maxParcelBytes = 2_000_000_000;
const maxLineBytes = 1024 * 1024;
const chunkBytes = 256 * 1024;

const text = z.string().check(z.maxLength(4_096));
const id = z.uuid();
const object = z.string().check(z.regex(/^[0-9a-f]{40,64}$/));

const folderSchema = z.object({
  top: text,
  prefix: text,
  commit: object,
  tree: object,
  work: object,
  branch: z.optional(text),
});

const headSchema = z.object({
  keel: z.literal("parcel"),
  v: z.number(),
  move: id,
  session: id,
  from: z.object({ host: text, cwd: text, kept: text }),
  /** Left out where its files did not come along. */
  folder: z.optional(folderSchema),
  left: z.array(text).check(z.maxLength(10_000)),
});
export type ParcelHead = z.infer<typeof headSchema>;

const partSchema = z.object({ part: text, bytes: z.int().check(z.minimum(0), z.maximum(maxParcelBytes)) });
const endSchema = z.object({
  end: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  tombstone: z.string().check(z.maxLength(maxLineBytes)),
});

export type ParcelPart = { readonly name: string; from(): AsyncIterable<Uint8Array>; readonly bytes: number };

export const gitPart = "git.bundle";
export const logPart = "log.jsonl";

/** Everything but its last line, on disk when it resolves. `look` sees every byte that goes along in the open. */
export async function writeParcel(
  file: FileHandle,
  head: Omit<ParcelHead, "keel" | "v">,
  parts: readonly ParcelPart[],
  told: (bytes: number) => void,
): Promise<number> {
  let written = 0;
  const add = async (bytes: Uint8Array): Promise<void> => {
    await file.writeFile(bytes);
    written += bytes.length;
    told(written);
  };
  await add(line({ keel: "parcel", v: parcelVersion, ...head }));
  for (const { name, from, bytes } of parts) {
    await add(line({ part: name, bytes }));
    let rest = bytes;
    for await (const chunk of from()) {
      rest -= chunk.length;
      await add(chunk);
    }
    if (rest !== 0)
      throw fault("not_moved", { session: head.session, reason: `${name} changed while it was read.` });
    await add(newline);
  }
  await file.sync();
  return written;
}

const newline = Buffer.from("\n");
const line = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value)}\n`);

/** The sum of a file's bytes; of its first so many where that is said. */
export async function sumOf(file: string, bytes?: number): Promise<string> {
  const sum = createHash("sha256");
  if (bytes !== 0)
    for await (const chunk of createReadStream(file, bytes === undefined ? {} : { end: bytes - 1 }))
      sum.update(chunk as Buffer);
  return sum.digest("hex");
}

export const endLine = (sum: string, tombstone: string): Buffer => line({ end: sum, tombstone });

export type OpenedParcel = {
  readonly head: ParcelHead;
  /** Undefined while it has no last line. */
  readonly tombstone: string | undefined;
  /** Without the last line. */
  readonly bodyBytes: number;
  /** How long its log is, up to the record by which the session left. */
  readonly logBytes: number;
};

type Reading = {
  readonly file: string;
  /** Where its parts go; they are only looked at when left out. */
  readonly into?: string | undefined;
  told?(bytes: number): void;
  /** It is known to be whole but for its last line, which may be half written. */
  readonly isUnsealed?: boolean;
};

/** Throws `not_moved` for whatever is no parcel, whole or without its last line. */
export async function readParcel(reading: Reading): Promise<OpenedParcel> {
  let session = "of this file";
  const refuse = (reason: string): Error => fault("not_moved", { session, reason });
  const input = await open(reading.file, "r").catch(() => {
    throw fault("usage", { reason: `${reading.file} cannot be read.` });
  });
  try {
    const { size } = await input.stat();
    if (size > maxParcelBytes + maxLineBytes) throw refuse("it is too big.");
    const lines = new ParcelReader(input, refuse);
    const head = headSchema.safeParse(await lines.line());
    const version = head.data?.v ?? asVersion(lines.last);
    if (version !== undefined && version > parcelVersion)
      throw refuse(`it was written by a newer Keel (form ${version}, this one reads ${parcelVersion}).`);
    if (!head.success) throw refuse(`it is no session on its way: ${sayIssues(toIssues(head.error))}`);
    session = head.data.session;
    const seen = new Set<string>();
    let logBytes = 0;
    for (;;) {
      const before = lines.at;
      const sum = lines.sum();
      const body = { head: head.data, bodyBytes: before, logBytes };
      if (before === size) return { ...body, tombstone: undefined };
      const next = await lines.line().catch((thrown: unknown) => {
        if (reading.isUnsealed) return undefined;
        throw thrown;
      });
      if (next === undefined && reading.isUnsealed) return { ...body, tombstone: undefined };
      const end = endSchema.safeParse(next);
      if (end.success) {
        if (end.data.end !== sum) throw refuse("it was changed on its way: its sum is wrong.");
        if (lines.at !== size) throw refuse("something stands behind its end.");
        return { ...body, tombstone: end.data.tombstone };
      }
      const part = partSchema.safeParse(next);
      if (!part.success || !isPartName(part.data.part) || seen.has(part.data.part))
        throw refuse("it holds something that has no place in it.");
      seen.add(part.data.part);
      if (part.data.part === logPart) logBytes = part.data.bytes;
      await lines.copy(part.data.bytes, reading.into && path.join(reading.into, part.data.part));
      reading.told?.(lines.at);
    }
  } finally {
    await input.close();
  }
}

const asVersion = (value: unknown): number | undefined =>
  z.object({ keel: z.literal("parcel"), v: z.number() }).safeParse(value).data?.v;
const toIssues = (error: { issues: readonly { path: PropertyKey[]; message: string }[] }) =>
  error.issues.map(({ path: where, message }) => ({ path: where.join("."), message }));

/** Nothing else has a place in a parcel, so no name leads anywhere but to where its parts go. */
function isPartName(name: string): boolean {
  if (name === logPart || name === gitPart) return true;
  const [kind, ...rest] = name.split("/");
  if (kind === "blobs") return rest.length === 1 && /^[0-9a-f]{64}$/.test(rest[0] ?? "");
  return kind === "beside" && isBesideName(rest.join("/"));
}

/** Lines and bytes of a file in turn, with the sum of all that was read. */
class ParcelReader {
  readonly #input: FileHandle;
  readonly #refuse: (reason: string) => Error;
  readonly #sum = createHash("sha256");
  #position = 0;
  last: unknown;

  constructor(input: FileHandle, refuse: (reason: string) => Error) {
    this.#input = input;
    this.#refuse = refuse;
  }

  get at(): number {
    return this.#position;
  }

  sum(): string {
    return this.#sum.copy().digest("hex");
  }

  async line(): Promise<unknown> {
    const parts: Buffer[] = [];
    for (let bytes = 0; bytes <= maxLineBytes; ) {
      const chunk = await this.#look(lineChunkBytes, bytes);
      if (chunk.length === 0) throw this.#refuse("it ends in the middle.");
      const end = chunk.indexOf(0x0a);
      parts.push(end === -1 ? chunk : chunk.subarray(0, end + 1));
      bytes += end === -1 ? chunk.length : end + 1;
      if (end === -1) continue;
      const whole = Buffer.concat(parts);
      this.#take(whole);
      this.last = parseJson(whole.toString("utf8"));
      return this.last;
    }
    throw this.#refuse("a line of it is too long.");
  }

  /** On disk when it resolves. */
  async copy(bytes: number, to: string | undefined): Promise<void> {
    if (to !== undefined) await mkdir(path.dirname(to), { recursive: true, mode: 0o700 });
    const output = to === undefined ? undefined : await open(to, "w", 0o600);
    try {
      for (let rest = bytes; rest > 0; ) {
        const chunk = await this.#look(Math.min(rest, chunkBytes));
        if (chunk.length === 0) throw this.#refuse("it ends in the middle.");
        await output?.writeFile(chunk);
        this.#take(chunk);
        rest -= chunk.length;
      }
      await output?.datasync();
    } finally {
      await output?.close();
    }
    const end = await this.#look(1);
    if (end.length !== 1 || end[0] !== 0x0a) throw this.#refuse("it ends in the middle.");
    this.#take(end);
  }

  async #look(bytes: number, behind = 0): Promise<Buffer> {
    const buffer = Buffer.alloc(bytes);
    const { bytesRead } = await this.#input.read(buffer, 0, bytes, this.#position + behind);
    return buffer.subarray(0, bytesRead);
  }

  #take(bytes: Buffer): void {
    this.#sum.update(bytes);
    this.#position += bytes.length;
  }
}
const lineChunkBytes = 4_096;
