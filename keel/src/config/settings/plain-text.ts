/** Reads a small text file that others may have written: a pipe does not hang it, a device does not fill the memory. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { codeOf } from "../../kernel/fault.ts";
import { own } from "../../kernel/json.ts";

/** Written by hand, or by a few programs: far below this. */
export const maxBytes = 2 * 1024 * 1024;

export type PlainText =
  | { readonly kind: "text"; readonly text: string; readonly mode: number }
  | { readonly kind: "missing" }
  | { readonly kind: "refused"; readonly why: string };

/** `refuse` is for files of a project: a link may lead to what is not the project's. Never throws. */
export async function readPlainText(
  file: string,
  { links }: { links: "follow" | "refuse" },
): Promise<PlainText> {
  try {
    const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;
    // Without O_NONBLOCK, opening a pipe waits for its writer.
    const flags = O_RDONLY | O_NONBLOCK | (links === "refuse" ? O_NOFOLLOW : 0);
    await using handle = await open(file, flags);
    const stat = await handle.stat();
    if (!stat.isFile()) return refused("it is not a plain file");
    if (stat.size > maxBytes) return refused(`it is longer than ${maxBytes} bytes`);
    // One byte more than allowed: a file that grows meanwhile, or that lies about its size, is noticed.
    const buffer = Buffer.alloc(Math.min(stat.size, maxBytes) + 1);
    let filled = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, null);
      filled += bytesRead;
      if (bytesRead === 0) break;
      if (filled === buffer.length) return refused("it changed while it was read");
    }
    return { kind: "text", text: decode(buffer.subarray(0, filled)), mode: stat.mode & 0o7777 };
  } catch (thrown) {
    return explain(thrown);
  }
}

const byteOrderMark = "\ufeff";

function decode(bytes: Uint8Array): string {
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  return text.startsWith(byteOrderMark) ? text.slice(1) : text;
}

function explain(thrown: unknown): PlainText {
  const code = codeOf(thrown) ?? "unknown error";
  if (code === "ENOENT" || code === "ENOTDIR") return { kind: "missing" };
  return refused(own(words, code) ?? code);
}

const words: Readonly<Record<string, string>> = {
  ELOOP: "it is a link",
  EMLINK: "it is a link",
  ENXIO: "it is not a plain file",
  ERR_ENCODING_INVALID_ENCODED_DATA: "it is not text in UTF-8",
};

const refused = (why: string): PlainText => ({ kind: "refused", why });
