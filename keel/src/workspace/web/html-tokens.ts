/**
 * HTML in pieces, as tokens. Forgiving as a browser is, but without its tree: what is never closed ends with the page.
 * The time is linear in the text, wherever it is cut into pieces: nothing is kept but an unfinished tag.
 */

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

/** Character references of HTML: numbers, and the names that pages really use. An unknown one stays as it is written. */
function decodeEntities(text: string): string {
  return text.includes("&")
    ? text.replace(reference, (whole, body: string) => characterOf(body) ?? whole)
    : text;
}

const reference = /&(#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{1,31});?/g;

function characterOf(body: string): string | undefined {
  if (!body.startsWith("#")) return names.get(body);
  const hex = body[1] === "x" || body[1] === "X";
  const code = hex ? Number.parseInt(body.slice(2), 16) : Number.parseInt(body.slice(1), 10);
  // What is no character, and half of a pair, becomes the mark for such things.
  return code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)
    ? "\ufffd"
    : String.fromCodePoint(code);
}

/** Name and code point, so that the source stays readable without its characters. */
const table = [
  "amp=26 lt=3c gt=3e quot=22 apos=27 nbsp=20 ensp=20 emsp=20 thinsp=20 shy=ad copy=a9 reg=ae trade=2122",
  "hellip=2026 mdash=2014 ndash=2013 lsquo=2018 rsquo=2019 sbquo=201a ldquo=201c rdquo=201d bdquo=201e",
  "laquo=ab raquo=bb lsaquo=2039 rsaquo=203a bull=2022 middot=b7 dagger=2020 Dagger=2021 prime=2032 Prime=2033",
  "times=d7 divide=f7 minus=2212 plusmn=b1 deg=b0 micro=b5 para=b6 sect=a7 frac12=bd frac14=bc frac34=be",
  "sup1=b9 sup2=b2 sup3=b3 ordf=aa ordm=ba iexcl=a1 iquest=bf not=ac cent=a2 pound=a3 yen=a5 euro=20ac curren=a4",
  "larr=2190 uarr=2191 rarr=2192 darr=2193 harr=2194 rArr=21d2 lArr=21d0 le=2264 ge=2265 ne=2260 asymp=2248",
  "infin=221e radic=221a sum=2211 prod=220f part=2202 int=222b isin=2208 forall=2200 exist=2203 empty=2205",
  "and=2227 or=2228 cap=2229 cup=222a sub=2282 sup=2283 check=2713 star=2606 phone=260e num=23 lowbar=5f",
  "alpha=3b1 beta=3b2 gamma=3b3 delta=3b4 epsilon=3b5 theta=3b8 lambda=3bb mu=3bc pi=3c0 rho=3c1 sigma=3c3",
  "tau=3c4 phi=3c6 chi=3c7 psi=3c8 omega=3c9 Delta=394 Sigma=3a3 Omega=3a9 Pi=3a0 Phi=3a6",
  "Agrave=c0 Aacute=c1 Acirc=c2 Atilde=c3 Auml=c4 Aring=c5 AElig=c6 Ccedil=c7 Egrave=c8 Eacute=c9 Ecirc=ca",
  "Euml=cb Igrave=cc Iacute=cd Icirc=ce Iuml=cf Ntilde=d1 Ograve=d2 Oacute=d3 Ocirc=d4 Otilde=d5 Ouml=d6",
  "Oslash=d8 Ugrave=d9 Uacute=da Ucirc=db Uuml=dc Yacute=dd szlig=df agrave=e0 aacute=e1 acirc=e2 atilde=e3",
  "auml=e4 aring=e5 aelig=e6 ccedil=e7 egrave=e8 eacute=e9 ecirc=ea euml=eb igrave=ec iacute=ed icirc=ee",
  "iuml=ef ntilde=f1 ograve=f2 oacute=f3 ocirc=f4 otilde=f5 ouml=f6 oslash=f8 ugrave=f9 uacute=fa ucirc=fb",
  "uuml=fc yacute=fd yuml=ff oelig=153 OElig=152 scaron=161 Scaron=160 colon=3a comma=2c period=2e lpar=28",
  "rpar=29 lsqb=5b rsqb=5d lbrack=5b rbrack=5d lcub=7b rcub=7d sol=2f bsol=5c vert=7c excl=21 quest=3f equals=3d",
].join(" ");

const names: ReadonlyMap<string, string> = new Map(
  table.split(" ").map((entry) => {
    const [name = "", code = ""] = entry.split("=");
    return [name, String.fromCodePoint(Number.parseInt(code, 16))];
  }),
);
