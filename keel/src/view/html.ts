/**
 * A session as one HTML page that needs nothing else: the style is inside, there is no script, nothing is loaded, and
 * every word of the session stands on it as a word. A policy in its head forbids the rest to the browser as well.
 */
import { never } from "../kernel/never.ts";
import type { InputBlock, ResultPart } from "../protocol/message.ts";
import type { SessionDocument } from "./document.ts";
import { display } from "./html-display.ts";
import { pageStyle } from "./html-style.ts";
import { type Html, nothing, picture, prose, tag, words } from "./html-text.ts";
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
  textOfParts,
} from "./say-row.ts";

const policy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

export function toHtml(document: SessionDocument): string {
  const title = document.title ?? "Session";
  const facts = sayFacts(document).map(([name, value]) =>
    tag("tr", "", tag("th", "", words(name)), tag("td", "", words(value))),
  );
  const body = [
    tag("header", "", tag("h1", "", words(title)), tag("table", "", ...facts)),
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
    `<title>${words(title).html}</title>`,
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
      const reason = row.reason === undefined ? nothing : tag("p", "notice", words(row.reason));
      const heading = tag("h2", "", words(saySender(row)), time(row.at));
      return tag(
        "article",
        "user",
        heading,
        ...prose(textOfParts(row.content)),
        ...attachments(row.content),
        reason,
      );
    }
    case "text":
      return tag("article", "text", ...prose(row.text));
    case "thinking": {
      const text = row.hidden ? "(not shown by the provider)" : row.text;
      return tag(
        "article",
        "thinking",
        tag("details", "", tag("summary", "", words("Thinking")), ...prose(text)),
      );
    }
    case "tool":
      return toolArticle(row);
    case "notice":
      return tag("p", row.level === "warning" ? "notice warning" : "notice", words(row.text));
    case "ask":
      return tag("p", "ask", words(`${row.ask.title} ${sayAnswer(row)}`));
    case "compaction":
      return tag(
        "article",
        "compaction",
        tag("details", "", tag("summary", "", words(sayCompaction(row))), ...prose(row.summary)),
      );
    case "turn-end":
      return tag("p", "end", words(sayTurnEnd(row)));
    default:
      return never(row);
  }
}

function toolArticle(row: ToolRow): Html {
  const input = row.inputText ?? JSON.stringify(row.input, null, 2);
  const state = tag("span", `state ${row.status}`, words(sayOutcome(row)));
  const spilled =
    row.spilledTo === undefined
      ? nothing
      : tag("p", "notice", words(`The whole output is in ${row.spilledTo}.`));
  return tag(
    "article",
    "tool",
    tag(
      "details",
      "",
      tag("summary", "", words(row.tool), state),
      tag("pre", "code", words(input)),
      ...(row.display === null ? [] : display(row.display)),
      ...attachments(row.result),
      spilled,
    ),
  );
}

/** Pictures are shown; anything else is named. */
function attachments(parts: readonly (InputBlock | ResultPart)[]): Html[] {
  return parts.flatMap((part) => {
    if (part.type === "text") return [];
    const shown = part.type === "image" ? picture(part) : undefined;
    return shown ? [shown] : sayAttachments([part]).map((name) => tag("p", "notice", words(name)));
  });
}

function time(at: number): Html {
  const iso = isoTime(at);
  return iso === undefined ? nothing : tag("time", "", words(` ${iso}`));
}
