/**
 * The marks within a line of Markdown: code, emphasis, links. What comes out is data with words in it and nothing that
 * acts: tags stay words, a link leads to the web or to nothing, and an image is a link that loads nothing.
 */

export type Inline =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "strong" | "emphasis" | "deleted"; readonly children: readonly Inline[] }
  | { readonly kind: "link"; readonly href: string; readonly children: readonly Inline[] }
  | { readonly kind: "image"; readonly href: string; readonly text: string }
  | { readonly kind: "break" };

/** Deeper than anybody writes; beyond it marks are words. */
const maxDepth = 12;

export function parseInline(text: string, depth = 0): readonly Inline[] {
  const pieces: (Inline | Mark)[] = [];
  let words = "";
  const finish = (): void => {
    if (words !== "") pieces.push({ kind: "text", text: words });
    words = "";
  };
  const put = (piece: Inline | Mark): void => {
    finish();
    pieces.push(piece);
  };
  for (let at = 0; at < text.length; ) {
    const found = depth < maxDepth ? pieceAt(text, at, depth) : undefined;
    if (found) {
      if (typeof found.piece === "string") words += found.piece;
      else put(found.piece);
      at = found.end;
    } else {
      words += text[at];
      at += 1;
    }
  }
  finish();
  return joinMarks(pieces);
}

type Mark = {
  readonly kind: "mark";
  readonly sign: string;
  readonly length: number;
  readonly opens: boolean;
  readonly closes: boolean;
};
type Found = { readonly piece: Inline | Mark | string; readonly end: number };

function pieceAt(text: string, at: number, depth: number): Found | undefined {
  switch (text[at]) {
    case "\\":
      return escaped(text, at);
    case "`":
      return codeAt(text, at);
    case "*":
    case "_":
    case "~":
      return markAt(text, at);
    case "!":
      return text[at + 1] === "[" ? linkAt(text, at + 1, depth, "image") : undefined;
    case "[":
      return linkAt(text, at, depth, "link");
    case "<":
      return angleLink(text, at);
    case "h":
      return bareLink(text, at);
    case "\n":
      return { piece: { kind: "break" }, end: at + 1 };
    default:
      return undefined;
  }
}

function escaped(text: string, at: number): Found | undefined {
  const next = text[at + 1];
  if (next === undefined) return undefined;
  if (next === "\n") return { piece: { kind: "break" }, end: at + 2 };
  return /[!-/:-@[-`{-~]/.test(next) ? { piece: next, end: at + 2 } : undefined;
}

function codeAt(text: string, at: number): Found | undefined {
  let run = 1;
  while (text[at + run] === "`") run += 1;
  const close = closingRun(text, at + run, run);
  if (close === undefined) return { piece: text.slice(at, at + run), end: at + run };
  const inside = text.slice(at + run, close).replaceAll("\n", " ");
  const isPadded = inside.startsWith(" ") && inside.endsWith(" ") && inside.trim() !== "";
  return {
    piece: { kind: "code", text: isPadded ? inside.slice(1, -1) : inside },
    end: close + run,
  };
}

function closingRun(text: string, from: number, length: number): number | undefined {
  for (let at = text.indexOf("`", from); at !== -1; ) {
    let end = at;
    while (text[end] === "`") end += 1;
    if (end - at === length) return at;
    at = text.indexOf("`", end);
  }
  return undefined;
}

function markAt(text: string, at: number): Found | undefined {
  const sign = text[at] ?? "";
  let length = 1;
  while (text[at + length] === sign) length += 1;
  if (sign === "~" && length !== 2) return { piece: text.slice(at, at + length), end: at + length };
  const [before, after] = [text[at - 1] ?? " ", text[at + length] ?? " "];
  const isWord = (one: string): boolean => /[\p{L}\p{N}]/u.test(one);
  const opens = !/\s/.test(after) && (sign !== "_" || !isWord(before));
  const closes = !/\s/.test(before) && (sign !== "_" || !isWord(after));
  return { piece: { kind: "mark", sign, length, opens, closes }, end: at + length };
}

/** `[words](address "title")`; the title is left out. */
function linkAt(text: string, at: number, depth: number, kind: "link" | "image"): Found | undefined {
  const close = closingBracket(text, at);
  if (close === undefined || text[close + 1] !== "(") return undefined;
  const rest =
    /^\(\s*(?:<([^<>\n]*)>|([^\s()]*(?:\([^\s()]*\)[^\s()]*)*))(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/.exec(
      text.slice(close + 1, close + 1 + maxAddress),
    );
  if (!rest) return undefined;
  const inside = text.slice(at + 1, close);
  const href = safeAddress(rest[1] ?? rest[2] ?? "");
  const end = close + 1 + rest[0].length;
  if (kind === "image") return { piece: { kind, href, text: inside }, end };
  return { piece: { kind, href, children: parseInline(inside, depth + 1) }, end };
}

const maxAddress = 4_000;

function closingBracket(text: string, at: number): number | undefined {
  let open = 0;
  for (let index = at; index < Math.min(text.length, at + maxAddress); index += 1) {
    const sign = text[index];
    if (sign === "\\") index += 1;
    else if (sign === "[") open += 1;
    else if (sign === "]") {
      open -= 1;
      if (open === 0) return index;
    }
  }
  return undefined;
}

function angleLink(text: string, at: number): Found | undefined {
  const found = /^<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/i.exec(text.slice(at, at + 2_048));
  const href = found?.[1];
  if (!found || href === undefined) return undefined;
  return { piece: plainLink(href), end: at + found[0].length };
}

function bareLink(text: string, at: number): Found | undefined {
  if (/[\p{L}\p{N}]/u.test(text[at - 1] ?? " ")) return undefined;
  const found = /^https?:\/\/[^\s<>"'`]{1,2000}/.exec(text.slice(at, at + 2_048));
  if (!found) return undefined;
  let href = found[0].replace(/[.,:;!?*_~]+$/, "");
  // A bracket at the end belongs to the sentence unless the address opened it.
  while (href.endsWith(")") && href.split("(").length < href.split(")").length) href = href.slice(0, -1);
  return { piece: plainLink(href), end: at + href.length };
}

const plainLink = (href: string): Inline => ({
  kind: "link",
  href: safeAddress(href),
  children: [{ kind: "text", text: href }],
});

/** Empty for what is no address of the web: such a link is only its words. */
export function safeAddress(address: string): string {
  if (!/^(?:https?:\/\/|mailto:)/i.test(address)) return "";
  try {
    const url = new URL(address);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : "";
  } catch {
    return "";
  }
}

/** Each closing mark takes the nearest opening one of its kind; what finds no partner is words. */
function joinMarks(pieces: readonly (Inline | Mark)[]): readonly Inline[] {
  const done: (Inline | Mark)[] = [];
  for (const piece of pieces) {
    if (piece.kind !== "mark") {
      done.push(piece);
      continue;
    }
    let left = piece.length;
    while (piece.closes && left > 0) {
      const open = lastOpening(done, piece);
      const mark = done[open];
      if (mark?.kind !== "mark") break;
      const used = mark.length >= 2 && left >= 2 ? 2 : 1;
      const children = asWords(done.splice(open + 1));
      done.pop();
      if (mark.length > used) done.push({ ...mark, length: mark.length - used });
      done.push({ kind: piece.sign === "~" ? "deleted" : used === 2 ? "strong" : "emphasis", children });
      left -= used;
    }
    if (left > 0) done.push({ ...piece, length: left });
  }
  return asWords(done);
}

/** Looked for among the last marks only: a line of nothing but marks must not take for ever. */
function lastOpening(done: readonly (Inline | Mark)[], closing: Mark): number {
  for (let index = done.length - 1; index >= Math.max(0, done.length - 400); index -= 1) {
    const piece = done[index];
    if (piece?.kind === "mark" && piece.opens && piece.sign === closing.sign) return index;
  }
  return -1;
}

function asWords(pieces: readonly (Inline | Mark)[]): Inline[] {
  const joined: Inline[] = [];
  for (const piece of pieces) {
    const plain: Inline =
      piece.kind === "mark" ? { kind: "text", text: piece.sign.repeat(piece.length) } : piece;
    const last = joined.at(-1);
    if (plain.kind === "text" && last?.kind === "text")
      joined[joined.length - 1] = { kind: "text", text: last.text + plain.text };
    else joined.push(plain);
  }
  return joined;
}
