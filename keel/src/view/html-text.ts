/** From text to HTML: the only place where foreign words enter the page, and they enter as words. */
import { readable } from "../kernel/text.ts";
import { partsOf } from "./inert-markdown.ts";

/** HTML that was built here: a text cannot be taken for it. */
export type Html = { readonly html: string };

export const nothing: Html = { html: "" };

/**
 * A tag of ours with its content. Names and classes are ours too, written in the source; what is foreign goes through
 * `words` or `attribute`.
 */
export function tag(name: TagName, className: string, ...content: Html[]): Html {
  const inner = content.map(({ html }) => html).join("");
  return { html: `<${name}${className === "" ? "" : ` class="${className}"`}>${inner}</${name}>` };
}

type TagName =
  | "article"
  | "details"
  | "div"
  | "figure"
  | "h1"
  | "h2"
  | "header"
  | "li"
  | "main"
  | "p"
  | "pre"
  | "section"
  | "span"
  | "summary"
  | "table"
  | "td"
  | "th"
  | "time"
  | "tr"
  | "ul";

/** Foreign text as text. */
export const escapedText = (text: string): Html => ({ html: escaped(readable(text)) });

/** Text that is fit to be shown already, as it comes from `plainTerminal`. */
export const escapedPlainText = (text: string): Html => ({ html: escaped(text) });

/** Prose, with the code blocks of Markdown set apart. Anything else of Markdown is left as it was written. */
export function prose(text: string): Html[] {
  return partsOf(text).flatMap((part) => {
    if (part.kind === "code") return [tag("pre", "code", escapedText(part.text))];
    const trimmed = part.text.trim();
    return trimmed === "" ? [] : [tag("div", "prose", escapedText(trimmed))];
  });
}

/** A picture inside the page; undefined for what a browser might run or would have to fetch. */
export function picture({ mediaType, data }: { mediaType: string; data: string }): Html | undefined {
  if (!pictureTypes.has(mediaType) || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) return undefined;
  return { html: `<img alt="" src="data:${mediaType};base64,${data}">` };
}

/** No SVG: it is a document that can hold scripts. */
const pictureTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

function escaped(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}
