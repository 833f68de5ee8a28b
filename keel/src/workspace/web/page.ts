/** A body on its way to text: bytes in, in pieces, and out comes Markdown for HTML and the text itself for the rest. */
import { TextDecoder } from "node:util";
import { HtmlReducer } from "./html-reducer.ts";

export type PageReader = {
  /** False when the bytes are no text: the rest need not be read. */
  write(bytes: Uint8Array): boolean;
  /** Undefined when it was no text. */
  end(): { readonly title: string; readonly text: string } | undefined;
};

/** How far into a page its own word about its character set may stand, by the standard. */
const prescanBytes = 1_024;

export function pageReader({ url, contentType }: { url: URL; contentType: string }): PageReader {
  const declared = mediaTypeOf(contentType);
  const reducer = new HtmlReducer(url);
  let waiting: Uint8Array = new Uint8Array();
  let open: { decoder: TextDecoder; isHtml: boolean } | undefined;
  let plain = "";

  const take = (text: string): void => {
    if (open?.isHtml) reducer.write(text);
    else plain += text;
  };
  const begin = (): void => {
    const isHtml = htmlTypes.includes(declared) || (declared === "" && looksLikeHtml(waiting));
    const label = charsetOf({ contentType, start: waiting, isHtml });
    open = { decoder: decoderFor(label), isHtml };
    take(open.decoder.decode(waiting, { stream: true }));
  };

  return {
    write(bytes) {
      if (open) {
        take(open.decoder.decode(bytes, { stream: true }));
        return true;
      }
      waiting = Buffer.concat([waiting, bytes]);
      if (waiting.length < prescanBytes) return true;
      if (isBinary(waiting)) return false;
      begin();
      return true;
    },
    end() {
      if (!open && isBinary(waiting)) return undefined;
      if (!open) begin();
      take(open?.decoder.decode() ?? "");
      return open?.isHtml ? reducer.end() : { title: "", text: plain };
    },
  };
}

/** Whether a declared type can be shown as text; one that declares none is looked at. */
export function isText(contentType: string): boolean {
  const type = mediaTypeOf(contentType);
  return type === "" || type.startsWith("text/") || textTypes.test(type);
}

const textTypes =
  /^(?:application\/(?:json|xml|xhtml\+xml|javascript|x-javascript|ecmascript|x-ndjson|jsonl|yaml|x-yaml|toml|graphql|sql|x-sh|x-httpd-php|rtf|[\w.-]+\+(?:json|xml|yaml))|image\/svg\+xml)$/;
const htmlTypes = ["text/html", "application/xhtml+xml"];

export const mediaTypeOf = (contentType: string): string =>
  (contentType.split(";")[0] ?? "").trim().toLowerCase();

const looksLikeHtml = (start: Uint8Array): boolean =>
  /^\s*(?:<!--|<!doctype html|<html|<head|<body)/i.test(asciiOf(start));

/** Text has no NUL, unless it is written in two bytes a character, which its mark or its type says. */
const isBinary = (start: Uint8Array): boolean =>
  markOf(start) === undefined && start.subarray(0, prescanBytes).includes(0);

type PageStart = { readonly contentType: string; readonly start: Uint8Array; readonly isHtml: boolean };

/** A mark at its start outranks what the server says, and that what the page says itself. */
function charsetOf({ contentType, start, isHtml }: PageStart): string {
  const named = /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1];
  const inPage = isHtml
    ? /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(asciiOf(start.subarray(0, prescanBytes)))?.[1]
    : undefined;
  return markOf(start) ?? named ?? inPage ?? "utf-8";
}

function markOf([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return first === 0xff && second === 0xfe ? "utf-16le" : undefined;
}

/** A set that nobody knows is read as the usual one: most of it will be legible. */
function decoderFor(label: string): TextDecoder {
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}

const asciiOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.subarray(0, prescanBytes)).toString("latin1");
