/** Messages as language servers frame them: a header with the length in bytes, an empty line, JSON. Pure and bounded. */
import type { Refused } from "../../kernel/result.ts";
export function encodeFrame(message: object): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
}

/** What came: a message, or why nothing after this can be understood any more. */
export type LspFrame = { readonly ok: true; readonly message: unknown } | Refused;

const headerEnd = "\r\n\r\n";
/** Headers are two short lines; who sends more is no language server. */
const maxHeaderBytes = 4_096;

/** `maxBytes` counts a body. After a failed frame nothing more comes out: where the next one starts is unknown. */
export function frameReader({ maxBytes }: { maxBytes: number }): { push(chunk: Uint8Array): LspFrame[] } {
  let parts: Uint8Array[] = [];
  let held = 0;
  /** Bytes that are needed before it is worth to look again. */
  let wanted = 0;
  let isBroken = false;

  const fail = (why: string): LspFrame => {
    isBroken = true;
    parts = [];
    return { ok: false, why };
  };

  /** The first whole message of the bytes, with where it ends; or how many bytes that takes. */
  const next = (bytes: Buffer): { frame: LspFrame; end: number } | { needs: number } => {
    const end = bytes.indexOf(headerEnd);
    if (end < 0)
      return bytes.length > maxHeaderBytes
        ? { frame: fail("a header without end"), end: 0 }
        : { needs: bytes.length + 1 };
    const length = /(?:^|\r\n)content-length: *(\d{1,12}) *(?:\r\n|$)/i.exec(
      bytes.toString("latin1", 0, end),
    )?.[1];
    if (length === undefined) return { frame: fail("a header without a length"), end: 0 };
    if (Number(length) > maxBytes) return { frame: fail(`a message of ${length} bytes`), end: 0 };
    const start = end + headerEnd.length;
    const stop = start + Number(length);
    if (bytes.length < stop) return { needs: stop };
    return { frame: parse(bytes.toString("utf8", start, stop)), end: stop };
  };

  const parse = (text: string): LspFrame => {
    try {
      return { ok: true, message: JSON.parse(text) };
    } catch {
      return fail("a message that is not JSON");
    }
  };

  return {
    push(chunk) {
      if (isBroken) return [];
      parts.push(Uint8Array.from(chunk));
      held += chunk.length;
      const frames: LspFrame[] = [];
      while (!isBroken && held > 0 && held >= wanted) {
        const bytes = Buffer.concat(parts);
        const found = next(bytes);
        if ("needs" in found) {
          wanted = found.needs;
          parts = [bytes];
          break;
        }
        frames.push(found.frame);
        const rest = bytes.subarray(found.end);
        parts = [rest];
        held = rest.length;
        wanted = 0;
      }
      return frames;
    },
  };
}
