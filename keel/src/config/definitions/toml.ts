/** The part of TOML that settings of other programs are written in: tables, texts, numbers, lists. One pass, bounded. */

export type TomlValue =
  | string
  | number
  | boolean
  | readonly TomlValue[]
  | { readonly [key: string]: TomlValue };

const maxLines = 5_000;
const maxDepth = 8;

/** What it does not understand is left out. Never throws. */
export function readToml(text: string): { readonly [key: string]: TomlValue } {
  const root = new Map<string, Tree>();
  let table = root;
  for (const raw of joinLists(text.split(/\r?\n/, maxLines))) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const named = /^\[\[?([^[\]]{1,500})\]\]?\s*(?:#.*)?$/.exec(line)?.[1];
    if (named !== undefined) table = tableAt(root, keysOf(named)) ?? new Map();
    else addPair(table, line);
  }
  return plain(root);
}

type Tree = TomlValue | Map<string, Tree>;

function addPair(table: Map<string, Tree>, line: string): void {
  const equals = line.indexOf("=");
  if (equals < 1) return;
  const keys = keysOf(line.slice(0, equals));
  const last = keys.pop();
  const value = readValue(line.slice(equals + 1).trim(), 0);
  if (last !== undefined && value !== undefined) tableAt(table, keys)?.set(last, value);
}

function tableAt(from: Map<string, Tree>, keys: readonly string[]): Map<string, Tree> | undefined {
  if (keys.length > maxDepth) return undefined;
  let at = from;
  for (const key of keys) {
    const next = at.get(key) ?? new Map<string, Tree>();
    if (!(next instanceof Map)) return undefined;
    at.set(key, next);
    at = next;
  }
  return at;
}

const keysOf = (dotted: string): string[] =>
  (dotted.match(/"[^"]*"|'[^']*'|[^.\s"']+/g) ?? []).map((key) => key.replace(/^["']|["']$/g, ""));

function readValue(text: string, depth: number): TomlValue | undefined {
  const bare = withoutComment(text);
  if (bare === "true" || bare === "false") return bare === "true";
  if (/^[+-]?\d[\d_]*(?:\.\d+)?$/.test(bare)) return Number(bare.replaceAll("_", ""));
  if (bare.startsWith('"') && bare.endsWith('"') && bare.length > 1) return unescaped(bare.slice(1, -1));
  if (bare.startsWith("'") && bare.endsWith("'") && bare.length > 1) return bare.slice(1, -1);
  if (depth > maxDepth) return undefined;
  if (bare.startsWith("[") && bare.endsWith("]"))
    return splitList(bare.slice(1, -1)).flatMap((part) => readValue(part, depth + 1) ?? []);
  if (!bare.startsWith("{") || !bare.endsWith("}")) return undefined;
  const inner = new Map<string, Tree>();
  for (const part of splitList(bare.slice(1, -1))) addPair(inner, part);
  return plain(inner);
}

/** At commas that stand in no text and no bracket. */
function splitList(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  scan(text, (sign, at, depth) => {
    if (sign !== "," || depth > 0) return;
    parts.push(text.slice(start, at).trim());
    start = at + 1;
  });
  return [...parts, text.slice(start).trim()].filter((part) => part !== "");
}

function withoutComment(text: string): string {
  let end = text.length;
  scan(text, (sign, at) => {
    if (sign === "#") end = Math.min(end, at);
  });
  return text.slice(0, end).trim();
}

/** Visits each sign outside of texts, with the number of brackets around it. Returns that number at the end. */
function scan(text: string, visit: (sign: string, at: number, depth: number) => void): number {
  let mark = "";
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? "";
    if (mark !== "") {
      if (sign === "\\" && mark === '"') at++;
      else if (sign === mark) mark = "";
      continue;
    }
    if (sign === '"' || sign === "'") mark = sign;
    if (sign === "]" || sign === "}") depth--;
    visit(sign, at, depth);
    if (sign === "[" || sign === "{") depth++;
  }
  return depth;
}

/** A list may go over several lines: each is looked at once. */
function joinLists(lines: readonly string[]): string[] {
  const joined: string[] = [];
  let open: string[] = [];
  let depth = 0;
  for (const line of lines) {
    if (open.length === 0 && !line.includes("=")) {
      joined.push(line);
      continue;
    }
    const bare = withoutComment(line);
    depth += scan(bare, () => undefined);
    open.push(bare);
    if (depth > 0 && open.length < maxLines) continue;
    joined.push(open.join(" "));
    open = [];
    depth = 0;
  }
  return [...joined, open.join(" ")];
}

const unescaped = (text: string): string =>
  text.replace(/\\(["\\ntr])/g, (_, sign: string) =>
    sign === "n" ? "\n" : sign === "t" ? "\t" : sign === "r" ? "\r" : sign,
  );

const plain = (tree: ReadonlyMap<string, Tree>): { [key: string]: TomlValue } =>
  Object.fromEntries([...tree].map(([key, value]) => [key, value instanceof Map ? plain(value) : value]));
