/**
 * HTML in pieces, as tokens. Forgiving as a browser is, but without its tree: what is never closed ends with the page.
 * The time is linear in the text, wherever it is cut into pieces: nothing is kept but an unfinished tag.
 */
import { decodeEntities } from "./html-entities.ts";

export type HtmlToken =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "open"; readonly name: string; readonly attributes: Readonly<Record<string, string>> }
  | { readonly type: "close"; readonly name: string };

/** Elements whose content is no markup. */
const rawElements = new Set(["script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes"]);
/** A longer tag is none: somebody forgot to close it. */
const maxTagCharacters = 100_000;
/** Longer than any name of a character. */
const maxEntityCharacters = 40;

type Mode = { readonly kind: "data" } | { readonly kind: "comment"; readonly end: string } | RawMode;
type RawMode = { readonly kind: "raw"; readonly name: string };
type Pieces = "more" | "last";

export class HtmlTokens {
  readonly #emit: (token: HtmlToken) => void;
  #buffer = "";
  #at = 0;
  /** Text that is not told yet: what stands between two tags is one token. */
  #said = "";
  #mode: Mode = { kind: "data" };

  constructor(emit: (token: HtmlToken) => void) {
    this.#emit = emit;
  }

  write(text: string): void {
    this.#buffer = this.#buffer.slice(this.#at) + text;
    this.#at = 0;
    while (this.#step("more"));
  }

  end(): void {
    while (this.#step("last"));
    if (this.#mode.kind === "data") this.#keep(this.#buffer.length);
    this.#tell();
  }

  /** False when more text is needed. */
  #step(pieces: Pieces): boolean {
    switch (this.#mode.kind) {
      case "data":
        return this.#data(pieces);
      case "comment":
        return this.#comment(this.#mode.end);
      case "raw":
        return this.#raw(this.#mode);
    }
  }

  #data(pieces: Pieces): boolean {
    const at = this.#buffer.indexOf("<", this.#at);
    if (at < 0) return this.#onlyText(pieces);
    this.#keep(at);
    const next = this.#buffer[at + 1];
    if (next === undefined) return false;
    if (next === "!" || next === "?") return this.#declaration(pieces);
    if (!/[A-Za-z/]/.test(next)) return this.#keep(at + 1);
    const end = tagEnd(this.#buffer, at);
    if (end.kind === "whole") return this.#tag(end.at);
    const isOpen = end.kind === "open" && pieces === "more" && this.#buffer.length - at < maxTagCharacters;
    return isOpen ? false : this.#keep(end.kind === "broken" ? end.at : at + 1);
  }

  #onlyText(pieces: Pieces): false {
    const { length } = this.#buffer;
    // A name of a character may be cut in two: its start waits for its end.
    const cut = pieces === "more" ? this.#buffer.lastIndexOf("&") : -1;
    this.#keep(cut >= this.#at && length - cut < maxEntityCharacters ? cut : length);
    return false;
  }

  #declaration(pieces: Pieces): boolean {
    if (this.#buffer.length - this.#at < 4 && pieces === "more") return false;
    const isComment = this.#buffer.startsWith("<!--", this.#at);
    this.#at += isComment ? 4 : 2;
    this.#mode = { kind: "comment", end: isComment ? "-->" : ">" };
    return true;
  }

  #comment(end: string): boolean {
    const at = this.#buffer.indexOf(end, this.#at);
    // What was looked at is dropped, but for the first half of an end.
    this.#at = at < 0 ? Math.max(this.#at, this.#buffer.length - end.length + 1) : at + end.length;
    if (at >= 0) this.#mode = { kind: "data" };
    return at >= 0;
  }

  #raw({ name }: RawMode): boolean {
    const rest = this.#buffer.slice(this.#at);
    const at = rest.toLowerCase().indexOf(`</${name}`);
    const length = at < 0 ? Math.max(0, rest.length - name.length - 2) : at;
    if (name === "title") this.#said += rest.slice(0, length);
    this.#at += length;
    if (at >= 0) this.#mode = { kind: "data" };
    return at >= 0;
  }

  #tag(end: number): true {
    const isClose = this.#buffer[this.#at + 1] === "/";
    const inner = this.#buffer.slice(this.#at + (isClose ? 2 : 1), end);
    this.#at = end + 1;
    const name = /^[A-Za-z][^\s/]{0,60}/.exec(inner)?.[0].toLowerCase();
    if (name === undefined) return true;
    this.#tell();
    if (isClose) {
      this.#emit({ type: "close", name });
      return true;
    }
    this.#emit({ type: "open", name, attributes: attributesOf(inner.slice(name.length)) });
    if (rawElements.has(name)) this.#mode = { kind: "raw", name };
    return true;
  }

  /** Everything up to `end` is text. */
  #keep(end: number): true {
    if (end > this.#at) this.#said += this.#buffer.slice(this.#at, end);
    this.#at = end;
    return true;
  }

  #tell(): void {
    if (this.#said !== "") this.#emit({ type: "text", text: decodeEntities(this.#said) });
    this.#said = "";
  }
}

type TagEnd =
  | { readonly kind: "whole"; readonly at: number }
  | { readonly kind: "broken"; readonly at: number }
  | { readonly kind: "open" };

/**
 * The place of the `>` that ends the tag, quotes passed over. It is broken where another tag begins first: otherwise a
 * page of nothing but beginnings would be read again from each of them.
 */
function tagEnd(text: string, start: number): TagEnd {
  const most = Math.min(text.length, start + maxTagCharacters);
  let quote = "";
  for (let at = start + 1; at < most; at++) {
    const character = text[at] ?? "";
    if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === ">") return { kind: "whole", at };
    else if (character === "<") return { kind: "broken", at };
    // A quote counts only where a value begins: one that was left over in a tag must not swallow the page.
    else if ((character === '"' || character === "'") && text[at - 1] === "=") quote = character;
  }
  return { kind: "open" };
}

/** What we need of an element. */
const knownAttributes = new Set(["href", "alt", "start", "hidden", "aria-hidden"]);
const none: Readonly<Record<string, string>> = {};

function attributesOf(text: string): Readonly<Record<string, string>> {
  if (text.length < 4) return none;
  const found: Record<string, string> = {};
  for (const [, name = "", double, single, bare] of text.matchAll(attribute)) {
    const key = name.toLowerCase();
    if (knownAttributes.has(key) && !Object.hasOwn(found, key))
      found[key] = decodeEntities(double ?? single ?? bare ?? "");
  }
  return found;
}

const attribute = /([^\s=/>"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g;
