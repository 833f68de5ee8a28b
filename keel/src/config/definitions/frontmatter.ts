/**
 * The header of a Markdown file: a small, strict part of YAML (texts, lists, maps, blocks of lines) read in one pass.
 * There are no anchors, tags or expansions in it, so nothing in a header can grow or loop. What it does not understand
 * is told and left out; the rest of the file counts all the same.
 */

/** Numbers and yes-or-no words stay texts: whoever asks for a field says what it must be. */
export type FrontValue = string | readonly FrontValue[] | { readonly [key: string]: FrontValue };

export type Frontmatter = {
  readonly fields: ReadonlyMap<string, FrontValue>;
  /** What follows the header: all of the text where there is none. */
  readonly body: string;
  /** Sentences for a person. */
  readonly problems: readonly string[];
};

/** A header is a few lines; a longer one is no header. */
const maxHeaderCharacters = 64 * 1024;
const maxDepth = 8;
const maxValues = 2_000;

export function parseFrontmatter(text: string): Frontmatter {
  const source = text.replaceAll("\r\n", "\n");
  const [whole = "", header] = withHeader.exec(source) ?? [];
  if (header === undefined) return { fields: new Map(), body: source, problems: [] };
  const body = source.slice(whole.length);
  if (header.length > maxHeaderCharacters)
    return { fields: new Map(), body, problems: ["the header is too long"] };
  const reader = new FrontmatterReader(header);
  const fields = reader.read();
  return { fields, body, problems: reader.problems };
}

/** A text field, without blanks around it; undefined when it is missing, empty or something else. */
export function textField({ fields }: Frontmatter, ...names: string[]): string | undefined {
  for (const name of names) {
    const value = fields.get(name);
    if (typeof value === "string" && value.trim() !== "") return value.trim();
  }
  return undefined;
}

/** A list, or a text with commas between the names; commas inside of brackets belong to a name. */
export function listField({ fields }: Frontmatter, ...names: string[]): readonly string[] | undefined {
  for (const name of names) {
    const value = fields.get(name);
    if (Array.isArray(value)) return value.filter((item) => typeof item === "string");
    if (typeof value === "string") return splitNames(value);
  }
  return undefined;
}

export function flagField(front: Frontmatter, ...names: string[]): boolean | undefined {
  const word = textField(front, ...names)?.toLowerCase();
  if (word === "true" || word === "yes" || word === "on") return true;
  return word === "false" || word === "no" || word === "off" ? false : undefined;
}

export function countField(front: Frontmatter, ...names: string[]): number | undefined {
  const word = textField(front, ...names);
  const value = word !== undefined && /^\d{1,9}$/.test(word) ? Number(word) : 0;
  return value > 0 ? value : undefined;
}

function splitNames(words: string): string[] {
  const names: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at <= words.length; at++) {
    const sign = words[at];
    if (sign === "(") depth++;
    if (sign === ")") depth = Math.max(0, depth - 1);
    if (at < words.length && !(sign === "," && depth === 0)) continue;
    const name = words.slice(start, at).trim();
    if (name !== "") names.push(name);
    start = at + 1;
  }
  return names;
}

/** Between two lines of dashes. Each line is looked at once. */
const withHeader = /^---[^\S\n]*\n((?:[^\n]*\n)*?)---[^\S\n]*(?:\n|$)/;

type FrontmatterLine = { readonly indent: number; readonly text: string; readonly raw: string };

class FrontmatterReader {
  readonly problems: string[] = [];
  readonly #lines: readonly FrontmatterLine[];
  #at = 0;
  #values = 0;

  constructor(header: string) {
    this.#lines = header.split("\n").map((raw) => {
      const text = raw.trim();
      return { indent: raw.length - raw.trimStart().length, text, raw };
    });
  }

  read(): Map<string, FrontValue> {
    const fields = new Map<string, FrontValue>();
    while (this.#skipBlank()) {
      const line = this.#line();
      const pair = pairOf(line.text);
      this.#at++;
      if (!pair) this.#complain(line);
      else fields.set(pair.key, this.#value(pair.rest, { indent: line.indent, depth: 1 }));
    }
    return fields;
  }

  /** What stands behind a key: on its line, or below it and farther in. */
  #value(rest: string, { indent, depth }: { indent: number; depth: number }): FrontValue {
    if (++this.#values > maxValues || depth > maxDepth) {
      if (this.#values === maxValues + 1 || depth === maxDepth + 1)
        this.problems.push("the header holds too much");
      this.#deeper(indent, "with blank lines");
      return "";
    }
    const block = /^[|>][+-]?$/.exec(rest);
    if (block) return this.#block(indent, rest.startsWith("|") ? "\n" : " ");
    if (rest !== "") return this.#inline(rest, indent);
    if (!this.#skipBlank()) return "";
    const next = this.#line();
    if (isItem(next.text) && next.indent >= indent) return this.#list({ indent: next.indent, depth });
    if (next.indent <= indent) return "";
    return pairOf(next.text) ? this.#map({ indent: next.indent, depth }) : this.#folded("", indent);
  }

  #list({ indent, depth }: { indent: number; depth: number }): FrontValue[] {
    const items: FrontValue[] = [];
    while (this.#skipBlank()) {
      const line = this.#line();
      if (line.indent !== indent || !isItem(line.text)) break;
      this.#at++;
      items.push(this.#value(line.text.slice(1).trim(), { indent, depth: depth + 1 }));
    }
    return items;
  }

  #map({ indent, depth }: { indent: number; depth: number }): { [key: string]: FrontValue } {
    const entries: [string, FrontValue][] = [];
    while (this.#skipBlank()) {
      const line = this.#line();
      if (line.indent < indent) break;
      const pair = line.indent === indent ? pairOf(line.text) : undefined;
      this.#at++;
      if (!pair) this.#complain(line);
      else entries.push([pair.key, this.#value(pair.rest, { indent, depth: depth + 1 })]);
    }
    return Object.fromEntries(entries);
  }

  #inline(rest: string, indent: number): FrontValue {
    if (rest.startsWith("[") && rest.endsWith("]"))
      return splitNames(rest.slice(1, -1)).map((item) => scalar(item));
    return rest.startsWith('"') || rest.startsWith("'") ? scalar(rest) : this.#folded(rest, indent);
  }

  /** A text that goes on in the lines below it, farther in. */
  #folded(first: string, indent: number): string {
    const below = this.#deeper(indent, "up to a blank line").map(({ text }) => text);
    return [...(first === "" ? [] : [first]), ...below].map(scalar).join(" ");
  }

  #block(indent: number, joint: "\n" | " "): string {
    const lines = this.#deeper(indent, "with blank lines");
    const inner = lines.find(({ text }) => text !== "")?.indent ?? 0;
    return lines
      .map((line) => line.raw.slice(Math.min(inner, line.indent)))
      .join(joint)
      .trim();
  }

  /** Takes the lines that stand farther in. */
  #deeper(indent: number, how: "with blank lines" | "up to a blank line"): FrontmatterLine[] {
    const start = this.#at;
    const isDeeper = ({ text, indent: own }: FrontmatterLine): boolean =>
      text === "" ? how === "with blank lines" : own > indent;
    while (this.#at < this.#lines.length && isDeeper(this.#line())) this.#at++;
    return this.#lines.slice(start, this.#at);
  }

  /** False at the end. */
  #skipBlank(): boolean {
    while (this.#at < this.#lines.length && isBlank(this.#line())) this.#at++;
    return this.#at < this.#lines.length;
  }

  #line(): FrontmatterLine {
    return this.#lines[this.#at] ?? { indent: 0, text: "", raw: "" };
  }

  #complain({ text }: FrontmatterLine): void {
    if (this.problems.length < 3)
      this.problems.push(`a line of the header is not understood: ${text.slice(0, 60)}`);
  }
}

const isBlank = ({ text }: FrontmatterLine): boolean => text === "" || text.startsWith("#");
const isItem = (text: string): boolean => text === "-" || text.startsWith("- ");

/** A key is a plain word: anything after its colon is the value, also further colons. */
function pairOf(text: string): { key: string; rest: string } | undefined {
  const colon = text.indexOf(":");
  if (colon < 1 || colon > 100) return undefined;
  const after = text[colon + 1];
  if (after !== undefined && after !== " " && after !== "\t") return undefined;
  const key = unquoted(text.slice(0, colon).trim());
  return /^[\w.\-/@]+$/.test(key) ? { key, rest: text.slice(colon + 1).trim() } : undefined;
}

function scalar(text: string): string {
  if (isQuoted(text)) return unquoted(text);
  const comment = text.indexOf(" #");
  return comment < 0 ? text : text.slice(0, comment).trimEnd();
}

const isQuoted = (text: string): boolean =>
  text.length >= 2 && (text[0] === '"' || text[0] === "'") && text.at(-1) === text[0];

function unquoted(text: string): string {
  if (!isQuoted(text)) return text;
  const inner = text.slice(1, -1);
  if (text[0] === "'") return inner.replaceAll("''", "'");
  return inner.replace(/\\(["\\nt])/g, (_, sign: string) =>
    sign === "n" ? "\n" : sign === "t" ? "\t" : sign,
  );
}
