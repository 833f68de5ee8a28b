/**
 * A session as one HTML page that needs nothing else: the style is inside, there is no script, nothing is loaded, and
 * every word of the session stands on it as a word. A policy in its head forbids the rest to the browser as well.
 */
import { never } from "../kernel/result.ts";
import { plainTerminal, readable } from "../kernel/text.ts";
import type { InputBlock, ResultPart } from "../protocol/message.ts";
import type { DiffHunk, Display } from "../protocol/tool.ts";
import { displayText, hunkHead } from "./display-text.ts";
import type { SessionDocument } from "./document.ts";
import { partsOf } from "./inert-markdown.ts";
import type { ConversationRow, ToolRow } from "./rows.ts";
import { isoTime } from "./say.ts";
import {
  sayAnswer,
  sayAttachments,
  sayCompaction,
  sayFacts,
  sayOutcome,
  saySender,
  sayTurnEnd,
} from "./say-row.ts";
import { textOfParts } from "./shown.ts";

const policy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

export function toHtml(document: SessionDocument): string {
  const title = document.title ?? "Session";
  const facts = sayFacts(document).map(([name, value]) =>
    tag("tr", "", tag("th", "", name), tag("td", "", value)),
  );
  const body = [
    tag("header", "", tag("h1", "", title), tag("table", "", ...facts)),
    tag("main", "", ...document.rows.map(article)),
  ];
  return [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="referrer" content="no-referrer">',
    '<meta name="viewport" content="width=device-width">',
    `<title>${escaped(readable(title))}</title>`,
    `<style>${pageStyle}</style>`,
    "</head>",
    "<body>",
    ...body.map(({ html }) => html),
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

function article(row: ConversationRow): Html {
  switch (row.kind) {
    case "user": {
      const heading = tag("h2", "", saySender(row), ...time(row.at));
      const words = [...prose(textOfParts(row.content)), ...attachments(row.content)];
      return tag(
        "article",
        "user",
        heading,
        ...words,
        ...(row.reason === undefined ? [] : [note(row.reason)]),
      );
    }
    case "text":
      return tag("article", "text", ...prose(row.text));
    case "thinking": {
      const text = row.hidden ? "(not shown by the provider)" : row.text;
      return tag("article", "thinking", details(["Thinking"], prose(text)));
    }
    case "tool":
      return toolArticle(row);
    case "notice":
      return tag("p", row.level === "warning" ? "notice warning" : "notice", row.text);
    case "ask":
      return tag("p", "ask", `${row.ask.title} ${sayAnswer(row)}`);
    case "compaction":
      return tag("article", "compaction", details([sayCompaction(row)], prose(row.summary)));
    case "turn-end":
      return tag("p", "end", sayTurnEnd(row));
    default:
      return never(row);
  }
}

function toolArticle(row: ToolRow): Html {
  const state = tag("span", `state ${row.status}`, sayOutcome(row));
  const parts = [
    tag("pre", "code", row.inputText ?? JSON.stringify(row.input, null, 2)),
    ...(row.display === null ? [] : display(row.display)),
    ...attachments(row.result),
    ...(row.spilledTo === undefined ? [] : [note(`The whole output is in ${row.spilledTo}.`)]),
  ];
  return tag("article", "tool", details([row.tool, state], parts));
}

/** Pictures are shown; anything else is named. */
function attachments(parts: readonly (InputBlock | ResultPart)[]): Html[] {
  return parts.flatMap((part) => {
    if (part.type === "text") return [];
    const shown = part.type === "image" ? picture(part) : undefined;
    return shown ? [shown] : sayAttachments([part]).map(note);
  });
}

function time(at: number): Html[] {
  const iso = isoTime(at);
  return iso === undefined ? [] : [tag("time", "", ` ${iso}`)];
}

const note = (text: string): Html => tag("p", "notice", text);

const details = (summary: (Html | string)[], content: Html[]): Html =>
  tag("details", "", tag("summary", "", ...summary), ...content);

const list = (items: readonly string[]): Html => tag("ul", "", ...items.map((item) => tag("li", "", item)));

/** The style of an exported page: light and dark, readable on paper, nothing loaded. */
const pageStyle = `
:root { color-scheme: light dark; --ink: #1c1c1e; --paper: #fdfdfc; --quiet: #6b6b70; --line: #d9d9de; --block: #f2f2f0; --user: #eef4ff; --good: #1a7f37; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e8; --paper: #161618; --quiet: #9a9aa0; --line: #37373c; --block: #202024; --user: #1b2536; --good: #4ac26b; --bad: #ff7b72; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
header, main { max-width: 56rem; margin: 0 auto; padding: 1rem 1.25rem; }
h1 { font-size: 1.5rem; margin: .5rem 0; }
h2 { font-size: .8rem; margin: 0 0 .25rem; color: var(--quiet); font-weight: 600; }
table { border-collapse: collapse; font-size: .875rem; }
th { text-align: left; color: var(--quiet); font-weight: 500; padding: .1rem 1rem .1rem 0; vertical-align: top; }
article { margin: 1rem 0; }
article.user { background: var(--user); border-radius: .5rem; padding: .75rem 1rem; }
.prose { white-space: pre-wrap; overflow-wrap: anywhere; margin: .5rem 0; }
pre { background: var(--block); border-radius: .375rem; padding: .625rem .75rem; margin: .5rem 0; overflow-x: auto; font: .8125rem/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
details { border: 1px solid var(--line); border-radius: .5rem; padding: .25rem .75rem; }
summary { cursor: pointer; }
summary .state { color: var(--quiet); font-size: .875rem; margin-left: .5rem; }
.thinking { color: var(--quiet); }
.failed, .denied, .interrupted { color: var(--bad); }
.added { color: var(--good); }
.removed { color: var(--bad); }
.notice, .ask, .end, .compaction { color: var(--quiet); font-size: .875rem; }
.warning { color: var(--bad); }
.end { border-top: 1px solid var(--line); padding-top: .5rem; }
img { max-width: 100%; border-radius: .375rem; }
`;

/** What a tool shows of its work. */
function display(shown: Display): Html[] {
  const { title, text, end } = displayText(shown);
  const below = end === "" ? [] : [end];
  switch (shown.kind) {
    case "text":
      return [tag("pre", "", text)];
    case "markdown":
      return prose(text);
    case "diff":
      return [note(title), tag("pre", "diff", ...shown.hunks.flatMap(hunk))];
    case "terminal": {
      // It is fit to be shown already.
      const output = { html: escaped(plainTerminal(text)) };
      return [tag("pre", "command", `$ ${title}`), tag("pre", "terminal", output), ...below.map(note)];
    }
    case "files":
      return [list([...shown.paths, ...below])];
    case "todo":
      return [list(shown.items.map((item) => `${marks[item.status]} ${item.text}`))];
    case "agent":
      return [note(title), ...prose(text)];
    case "table": {
      const row = (cell: "td" | "th") => (cells: readonly string[]) =>
        tag("tr", "", ...cells.map((words) => tag(cell, "", words)));
      return [tag("table", "", row("th")(shown.columns), ...shown.rows.map(row("td")))];
    }
    default:
      return never(shown);
  }
}

const marks = { pending: "☐", in_progress: "◐", completed: "☑" } as const;

const hunk = (shown: DiffHunk): (Html | string)[] => [
  `${hunkHead(shown)}\n`,
  ...shown.lines.map((line) => tag("span", classOf(line), `${line}\n`)),
];

function classOf(line: string): string {
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "";
}

/** HTML that was built here: a text cannot be taken for it. */
type Html = { readonly html: string };

/**
 * A tag of ours with its content. Names and classes are ours too, written in the source. The only place where foreign
 * words enter the page, and they enter as words.
 */
function tag(name: TagName, className: string, ...content: (Html | string)[]): Html {
  const inner = content
    .map((part) => (typeof part === "string" ? escaped(readable(part)) : part.html))
    .join("");
  return { html: `<${name}${className === "" ? "" : ` class="${className}"`}>${inner}</${name}>` };
}

type TagName =
  | "article"
  | "details"
  | "div"
  | "h1"
  | "h2"
  | "header"
  | "li"
  | "main"
  | "p"
  | "pre"
  | "span"
  | "summary"
  | "table"
  | "td"
  | "th"
  | "time"
  | "tr"
  | "ul";

/** Prose, with the code blocks of Markdown set apart. Anything else of Markdown is left as it was written. */
function prose(text: string): Html[] {
  return partsOf(text).flatMap((part) => {
    if (part.kind === "code") return [tag("pre", "code", part.text)];
    const trimmed = part.text.trim();
    return trimmed === "" ? [] : [tag("div", "prose", trimmed)];
  });
}

/** A picture inside the page; undefined for what a browser might run or would have to fetch. */
function picture({ mediaType, data }: { mediaType: string; data: string }): Html | undefined {
  if (!pictureTypes.has(mediaType) || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) return undefined;
  return { html: `<img alt="" src="data:${mediaType};base64,${data}">` };
}

/** No SVG: it is a document that can hold scripts. */
const pictureTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

function escaped(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}
