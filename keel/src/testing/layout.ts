/** What a model sees, one line per block: made to be read in a test, and to change only when the request does. */
import { never } from "../kernel/result.ts";
import { shorten } from "../kernel/text.ts";
import { viewOf } from "./read-request.ts";
import type { BlockView, CacheMark, SourceView } from "./request-view.ts";

const shownCharacters = 60;

/**
 * ```
 * tools Bash Edit Read
 * system "You are …"
 * user text "mend it"
 * assistant tool_use Read {"file_path":"a.ts"}
 * user tool_result ok "1  hello"
 * ```
 * Takes a `ModelRequest` or a body of a wire. Cache marks of a body are shown as `[cache 5m]`.
 */
export function layout(request: unknown): string {
  const view = viewOf(request);
  const tools = view.tools.map(({ name, cache }) => `${name}${marked(cache)}`);
  return [
    `tools ${tools.length > 0 ? tools.join(" ") : "none"}`,
    ...view.system.map(({ text, cache }) => `system ${shown(text)}${marked(cache)}`),
    ...view.messages.flatMap(({ role, blocks }) =>
      blocks.length === 0
        ? [`${role} nothing`]
        : blocks.map((block) => `${role} ${described(block)}${marked(block.cache)}`),
    ),
    ...view.problems.map((problem) => `unreadable: ${problem}`),
  ].join("\n");
}

function described(block: BlockView): string {
  switch (block.type) {
    case "text":
      return `text ${shown(block.text)}`;
    case "image":
    case "document":
      return `${block.type} ${sourceOf(block.source)}`;
    case "thinking":
      return block.hidden ? "thinking hidden" : `thinking ${shown(block.text)}`;
    case "tool_use":
      return `tool_use ${block.name} ${shortened(JSON.stringify(block.input) ?? "nothing")}`;
    case "tool_result":
      return `tool_result ${block.failed ? "failed" : "ok"} ${resultOf(block.content)}`;
    case "other":
      return `other ${block.name}`;
    default:
      return never(block);
  }
}

function resultOf(content: readonly BlockView[]): string {
  if (content.length === 0) return "nothing";
  return content.map((part) => (part.type === "text" ? shown(part.text) : described(part))).join(" + ");
}

function sourceOf(source: SourceView): string {
  if (source.kind === "reference") return "by reference";
  if (source.kind === "text") return shown(source.data);
  return `${source.mediaType} (${source.data.length} characters of base64)`;
}

const marked = (cache: CacheMark): string => (cache ? ` [cache ${cache}]` : "");

/** In quotes, on one line, with its length when something was left out. */
const shown = (text: string): string => withLength(JSON.stringify(shorten(text, shownCharacters)), text);

const shortened = (text: string): string => withLength(shorten(text, shownCharacters), text);

const withLength = (short: string, whole: string): string =>
  whole.length <= shownCharacters ? short : `${short} (${whole.length} characters)`;
