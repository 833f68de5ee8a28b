/** Markdown as blocks: paragraphs, headings, lists, quotes, code, tables. Each top-level part is read by itself. */
import { type Inline, parseInline } from "./inline.ts";

export type Block =
  | { readonly kind: "paragraph"; readonly content: readonly Inline[] }
  | { readonly kind: "heading"; readonly level: number; readonly content: readonly Inline[] }
  | { readonly kind: "code"; readonly language: string; readonly text: string; readonly isClosed: boolean }
  | { readonly kind: "quote"; readonly blocks: readonly Block[] }
  | { readonly kind: "list"; readonly start: number | null; readonly items: readonly ListItem[] }
  | {
      readonly kind: "table";
      readonly aligns: readonly ("left" | "center" | "right" | null)[];
      readonly head: readonly (readonly Inline[])[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
    }
  | { readonly kind: "rule" };

type ListItem = { readonly checked: boolean | null; readonly blocks: readonly Block[] };

const maxDepth = 8;

export const parseBlocks = (text: string): readonly Block[] => blocksIn(text.split("\n"), 0);

function blocksIn(lines: readonly string[], depth: number): Block[] {
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    const [block, next] = blockAt(lines, at, depth);
    if (block) blocks.push(block);
    at = next;
  }
  return blocks;
}

type Taken = readonly [block: Block | undefined, next: number];

function blockAt(lines: readonly string[], at: number, depth: number): Taken {
  const line = lines[at] ?? "";
  if (line.trim() === "") return [undefined, at + 1];
  if (fenceOf(line)) return codeBlock(lines, at);
  const heading = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#*)?$/.exec(line);
  if (heading)
    return [
      { kind: "heading", level: heading[1]?.length ?? 1, content: parseInline(heading[2] ?? "") },
      at + 1,
    ];
  if (/^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/.test(line))
    return [{ kind: "rule" }, at + 1];
  if (depth < maxDepth && /^ {0,3}>/.test(line)) return quote(lines, at, depth);
  if (depth < maxDepth && itemOf(line)) return list(lines, at, depth);
  if (isTable(lines, at)) return table(lines, at);
  return paragraph(lines, at);
}

type Fence = { readonly mark: string; readonly indent: number; readonly language: string };

function fenceOf(line: string): Fence | undefined {
  const [, indent = "", mark = "", info = ""] = /^( {0,3})(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
  if (mark === "" || (mark.startsWith("`") && info.includes("`"))) return undefined;
  return { mark, indent: indent.length, language: /^\s*([\w+#.-]*)/.exec(info)?.[1] ?? "" };
}

function codeBlock(lines: readonly string[], at: number): Taken {
  const fence = fenceOf(lines[at] ?? "");
  const { mark, indent, language } = fence ?? { mark: "```", indent: 0, language: "" };
  const closes = (line: string): boolean => {
    const run = line.trim();
    return run.length >= mark.length && run === (mark[0] ?? "").repeat(run.length);
  };
  const end = lines.findIndex((line, index) => index > at && closes(line));
  const inside = lines.slice(at + 1, end === -1 ? undefined : end);
  const text = inside
    .map((line) => line.slice(Math.min(indent, line.length - line.trimStart().length)))
    .join("\n");
  return [{ kind: "code", language, text, isClosed: end !== -1 }, end === -1 ? lines.length : end + 1];
}

function quote(lines: readonly string[], at: number, depth: number): Taken {
  let end = at;
  while (end < lines.length && /^ {0,3}>/.test(lines[end] ?? "")) end += 1;
  const inside = lines.slice(at, end).map((line) => line.replace(/^ {0,3}> ?/, ""));
  return [{ kind: "quote", blocks: blocksIn(inside, depth + 1) }, end];
}

type ItemHead = { readonly indent: number; readonly width: number; readonly number: number | null };

function itemOf(line: string): ItemHead | undefined {
  const [whole, indent = "", bullet = "", digits, space = ""] =
    /^( *)(?:([-*+])|(\d{1,9})[.)])( +|$)/.exec(line) ?? [];
  if (whole === undefined) return undefined;
  const mark = whole.length - indent.length - space.length;
  const number = bullet === "" && digits !== undefined ? Number(digits) : null;
  return {
    indent: indent.length,
    width: indent.length + mark + Math.min(Math.max(1, space.length), 4),
    number,
  };
}

function list(lines: readonly string[], at: number, depth: number): Taken {
  const first = itemOf(lines[at] ?? "");
  const isOrdered = first?.number !== null;
  const items: ListItem[] = [];
  let next = at;
  while (next < lines.length) {
    const head = itemOf(lines[next] ?? "");
    if (!head || head.indent > (first?.indent ?? 0) + 3 || (head.number !== null) !== isOrdered) break;
    if (head.indent < (first?.indent ?? 0)) break;
    const end = endOfItem(lines, next + 1, head);
    const inside = lines
      .slice(next, end)
      .map((line, index) => (index === 0 ? line.slice(head.width) : outdent(line, head.width)));
    const check = /^\[([ xX])\] +/.exec(inside[0] ?? "");
    if (check) inside[0] = (inside[0] ?? "").slice(check[0].length);
    items.push({
      checked: check ? check[1] !== " " : null,
      blocks: blocksIn(inside, depth + 1),
    });
    next = end;
  }
  return [{ kind: "list", start: isOrdered ? (first?.number ?? 1) : null, items }, Math.max(next, at + 1)];
}

/** What is indented belongs to the item; so does a line that goes on with its paragraph. */
function endOfItem(lines: readonly string[], from: number, head: ItemHead): number {
  let end = from;
  while (end < lines.length) {
    const line = lines[end] ?? "";
    const indent = line.length - line.trimStart().length;
    if (line.trim() === "") {
      const next = lines.slice(end + 1).find((later) => later.trim() !== "");
      if (next === undefined) return end;
      const item = itemOf(next);
      const nextIndent = next.length - next.trimStart().length;
      if (nextIndent < head.width && !(item && item.indent >= head.indent + 2)) return end + 1;
    } else if (itemOf(line) ? indent <= head.indent + 1 : indent < head.width && startsBlock(line))
      return end;
    end += 1;
  }
  return end;
}

const outdent = (line: string, width: number): string =>
  line.slice(Math.min(width, line.length - line.trimStart().length));

const startsBlock = (line: string): boolean =>
  fenceOf(line) !== undefined || /^ {0,3}(?:#{1,6}(?:\s|$)|>)/.test(line) || itemOf(line) !== undefined;

const isTable = (lines: readonly string[], at: number): boolean =>
  (lines[at] ?? "").includes("|") &&
  /^ {0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/.test(lines[at + 1] ?? "") &&
  (lines[at + 1] ?? "").includes("-");

function table(lines: readonly string[], at: number): Taken {
  const head = cellsOf(lines[at] ?? "");
  const aligns = cellsOf(lines[at + 1] ?? "").map((cell) => {
    const [left, right] = [cell.startsWith(":"), cell.endsWith(":")];
    return left && right ? "center" : right ? "right" : left ? "left" : null;
  });
  let end = at + 2;
  while (end < lines.length && (lines[end] ?? "").trim() !== "" && (lines[end] ?? "").includes("|")) end += 1;
  const rows = lines.slice(at + 2, end).map((line) => {
    const cells = cellsOf(line);
    return head.map((_, column) => parseInline(cells[column] ?? ""));
  });
  return [{ kind: "table", aligns, head: head.map((cell) => parseInline(cell)), rows }, end];
}

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));

function paragraph(lines: readonly string[], at: number): Taken {
  let end = at + 1;
  while (end < lines.length && (lines[end] ?? "").trim() !== "" && !startsBlock(lines[end] ?? "")) end += 1;
  const text = lines
    .slice(at, end)
    .map((line) => line.trim())
    .join("\n");
  return [{ kind: "paragraph", content: parseInline(text) }, end];
}
