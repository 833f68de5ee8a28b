/** What every wire needs to write a request. */
import type { Hash } from "node:crypto";
import { sameJson } from "../kernel/json.ts";
import { fingerprint } from "../kernel/text.ts";
import type { ModelRequest } from "../ports/model.ts";
import type { Block, Message, ResultPart } from "../protocol/message.ts";
import { type Effort, efforts } from "../protocol/settings.ts";
import type { BytesSum } from "../protocol/usage.ts";

export type IdRule = { readonly allowed: RegExp; readonly maxCharacters: number };

/**
 * Ids of calls as a wire takes them: a session may hold ids of several providers, and each wire has its own limits. The
 * id itself where it fits; otherwise another one, always the same for the same id.
 */
export const wireId = (id: string, { allowed, maxCharacters }: IdRule): string =>
  id.length <= maxCharacters && allowed.test(id) ? id : `call_${fingerprint(id)}`;

/** What was made of an object before, or what is made of it now. */
export function remember<K extends object, V>(memo: WeakMap<K, V>, key: K, make: () => V): V {
  const before = memo.get(key);
  if (before !== undefined) return before;
  const made = make();
  memo.set(key, made);
  return made;
}

/**
 * The same for things that are written for a reader: as before, unless another reader would get it otherwise. Made once for
 * a request, so that a long conversation that is known already costs nothing but the way through it.
 */
export function rememberFor<K extends object, R extends object, V extends { readonly reader: R | undefined }>(
  memo: WeakMap<K, V>,
  reader: R,
  make: (key: K, reader: R) => V,
): (key: K) => V {
  return (key) => {
    const before = memo.get(key);
    if (before && (before.reader === undefined || sameJson(before.reader, reader))) return before;
    const made = make(key, reader);
    memo.set(key, made);
    return made;
  };
}

export const holdsImages = (content: Message["content"]): boolean =>
  content.some(
    (block) =>
      block.type === "image" ||
      (block.type === "tool_result" && block.content.some(({ type }) => type === "image")),
  );

const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;

export const isImageType = (mediaType: string): mediaType is (typeof imageTypes)[number] =>
  imageTypes.some((known) => known === mediaType);

/** The highest level that a model takes and that is not above the wanted one, nor above `most`. */
export function effortFor(
  wanted: string | undefined,
  taken: readonly string[],
  most: Effort = "max",
): Effort | undefined {
  const levels: readonly (string | undefined)[] = efforts;
  const top = Math.min(levels.indexOf(wanted), levels.indexOf(most));
  return efforts.slice(0, top + 1).findLast((level) => taken.includes(level));
}

/** Something that is made of a request, and may be made before it is needed: the newest one is kept until it is taken. */
export function writtenAhead<T>(make: (request: ModelRequest) => T): {
  /** Undefined where it could not be made. */
  prepare(request: ModelRequest): T | undefined;
  take(request: ModelRequest): T;
} {
  let ready: { readonly request: ModelRequest; readonly made: T } | undefined;
  return {
    prepare(request) {
      try {
        ready = { request, made: make(request) };
      } catch {
        // Whoever takes it hears of it.
        ready = undefined;
      }
      return ready?.made;
    },
    take(request) {
      const before = ready;
      ready = undefined;
      return before?.request === request ? before.made : make(request);
    },
  };
}

/**
 * Bytes that only grow. What was added stays where it is, so that they can be sent while more are added, and nothing is
 * copied twice.
 */
export class GrowingBytes {
  readonly #segments: ByteSegment[] = [];
  #nextBytes = firstSegmentBytes;

  /** Returns where the bytes stand now: whoever remembers them there needs no copy of their own. */
  add(bytes: Uint8Array): Uint8Array {
    const segment = this.#withRoom(bytes.length);
    segment.bytes.set(bytes, segment.used);
    segment.used += bytes.length;
    return segment.bytes.subarray(segment.used - bytes.length, segment.used);
  }

  addText(text: string): Uint8Array {
    const last = this.#segments.at(-1);
    const roomBytes = last ? last.bytes.length - last.used : 0;
    // A unit of text is at most three bytes: only where that may not fit are they counted.
    const segment = last && roomBytes >= text.length * 3 ? last : this.#withRoom(Buffer.byteLength(text));
    const start = segment.used;
    segment.used += segment.bytes.write(text, start);
    return segment.bytes.subarray(start, segment.used);
  }

  /** All of them, in few pieces. */
  pieces(): Uint8Array[] {
    return this.#segments.map(({ bytes, used }) => bytes.subarray(0, used));
  }

  #withRoom(bytes: number): ByteSegment {
    const last = this.#segments.at(-1);
    return last && last.bytes.length - last.used >= bytes ? last : this.#grow(bytes);
  }

  #grow(minBytes: number): ByteSegment {
    const segment = { bytes: Buffer.allocUnsafeSlow(Math.max(this.#nextBytes, minBytes)), used: 0 };
    this.#nextBytes = Math.min(this.#nextBytes * 2, maxSegmentBytes);
    this.#segments.push(segment);
    return segment;
  }
}

type ByteSegment = { readonly bytes: Buffer; used: number };

/** Little for a session that says little; a long one is still few pieces. */
const firstSegmentBytes = 16 * 1024;
const maxSegmentBytes = 1024 * 1024;

// Not by an import statement, which would read every export of it at every start.
const crypto = () => process.getBuiltinModule("node:crypto");

/** The first 128 bits: enough to tell requests apart, and `sha256sum` of the same bytes starts so. */
const digestDigits = 32;

/**
 * Sums of what a request is made of. A digest that runs on keeps what was hashed before: a request that extends the one
 * before it costs what it adds, however long the conversation is.
 */
export class RunningDigest {
  readonly #hash: Hash = crypto().createHash("sha256");
  #bytes = 0;

  add(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
  }

  /** Of what was added so far and `rest` behind it, which is not added. */
  sumWith(rest: readonly Uint8Array[] = []): BytesSum {
    const hash = this.#hash.copy();
    let bytes = this.#bytes;
    for (const piece of rest) {
      hash.update(piece);
      bytes += piece.length;
    }
    return { digest: hash.digest("hex").slice(0, digestDigits), bytes };
  }
}

export function sumOf(pieces: readonly Uint8Array[]): BytesSum {
  return new RunningDigest().sumWith(pieces);
}

type ContentPart = Extract<Block, { type: "image" | "document" }> | ResultPart;

/** Whoever reads images reads the pages of a PDF too. */
export const isShown = (block: ContentPart, { images }: { readonly images: boolean }): boolean =>
  images &&
  ((block.type === "image" && isImageType(block.mediaType)) ||
    (block.type === "document" && block.mediaType === "application/pdf"));

/** One attachment that the model cannot read must not make every later request of the session fail. */
export function mediaText(block: ContentPart): string {
  if (block.type === "text") return block.text;
  const { mediaType, data } = block;
  if (block.type === "image") return `[An image (${mediaType}) was left out: this model cannot read it.]`;
  const name = block.name === undefined ? "" : ` ${block.name}`;
  if (!mediaType.startsWith("text/") && mediaType !== "application/json")
    return `[The document${name} (${mediaType}) was left out: this model cannot read it.]`;
  return `[The document${name}:]\n${Buffer.from(data, "base64").toString("utf8")}`;
}
