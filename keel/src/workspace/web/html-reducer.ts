/**
 * HTML to the Markdown that a model needs: headings, lists, links, code, tables and quotes. Scripts, styles and what is
 * hidden are left out; pictures become their description, since nothing is loaded. Emphasis is not kept.
 */
import { type HtmlToken, HtmlTokens } from "./html-tokens.ts";
import { MarkdownLines } from "./markdown-lines.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** With everything inside of them. */
const dropped = words("template svg math object canvas audio video select datalist map");
const voidElements = words("br hr img input meta link base area col wbr embed source track");
const blocks = words(
  "address article aside body center dd details dialog div dl dt fieldset figcaption figure footer form header legend main nav section summary caption",
);
const paragraphs = words("p blockquote ul ol pre table h1 h2 h3 h4 h5 h6");

export class HtmlReducer {
  readonly #tokens = new HtmlTokens((token) => this.#take(token));
  readonly #lines = new MarkdownLines();
  #base: URL;
  #title = "";
  #inTitle = false;
  /** What is left out at the moment: until as many elements of this name are closed as were opened. */
  #skipping: { name: string; depth: number } | undefined;
  #link: { url: string | undefined; from: number } | undefined;
  #tables = 0;

  constructor(url: URL) {
    this.#base = url;
  }

  write(text: string): void {
    this.#tokens.write(text);
  }

  end(): { title: string; text: string } {
    this.#tokens.end();
    this.#closeLink();
    return { title: this.#title.replace(/\s+/g, " ").trim(), text: this.#lines.text() };
  }

  #take(token: HtmlToken): void {
    if (this.#skipping) return this.#skip(token, this.#skipping);
    switch (token.type) {
      case "text":
        if (this.#inTitle) this.#title += token.text;
        else this.#lines.write(token.text);
        return;
      case "open":
        return this.#open(token);
      case "close":
        return this.#close(token.name);
    }
  }

  #skip(token: HtmlToken, skipping: { name: string; depth: number }): void {
    if (token.type === "text" || token.name !== skipping.name) return;
    skipping.depth += token.type === "open" ? 1 : -1;
    if (skipping.depth === 0) this.#skipping = undefined;
  }

  #open({ name, attributes }: Extract<HtmlToken, { type: "open" }>): void {
    const isHidden = Object.hasOwn(attributes, "hidden") || attributes["aria-hidden"] === "true";
    if (dropped.has(name) || (isHidden && !voidElements.has(name))) {
      this.#skipping = { name, depth: 1 };
      return;
    }
    this.#breakAt(name);
    const lines = this.#lines;
    switch (name) {
      case "title":
        // Only the page's own, which stands first; pictures have titles too.
        this.#inTitle = this.#title === "";
        return;
      case "base":
        this.#base = URL.parse(attributes["href"] ?? "", this.#base.href) ?? this.#base;
        return;
      case "a":
        this.#closeLink();
        this.#link = { url: this.#target(attributes["href"]), from: lines.place() };
        return;
      case "img":
        if (attributes["alt"]?.trim()) lines.write(`[image: ${attributes["alt"].trim()}]`);
        return;
      case "br":
        return lines.break(1);
      case "hr":
        return lines.rule();
      case "ul":
        return lines.openList();
      case "ol":
        return lines.openList(Number.parseInt(attributes["start"] ?? "1", 10) || 1);
      case "li":
        return lines.item();
      case "blockquote":
        return lines.openQuote();
      case "pre":
        return lines.openCode();
      case "code":
      case "kbd":
      case "samp":
        return lines.tick();
      case "table":
        this.#tables += 1;
        if (this.#tables === 1) lines.openTable();
        return;
      case "tr":
        if (this.#tables === 1) lines.openRow();
        return;
      case "td":
      case "th":
        return this.#tables > 1 ? lines.break(1) : lines.cell();
      default:
        if (/^h[1-6]$/.test(name)) lines.heading(Number(name[1]));
    }
  }

  #close(name: string): void {
    const lines = this.#lines;
    switch (name) {
      case "title":
        this.#inTitle = false;
        return;
      case "a":
        return this.#closeLink();
      case "ul":
      case "ol":
        lines.closeList();
        break;
      case "blockquote":
        lines.closeQuote();
        break;
      case "pre":
        lines.closeCode();
        break;
      case "code":
      case "kbd":
      case "samp":
        return lines.tick();
      case "tr":
        if (this.#tables === 1) lines.closeRow();
        return;
      case "table":
        if (this.#tables === 1) lines.closeRow();
        this.#tables = Math.max(0, this.#tables - 1);
        break;
    }
    this.#breakAt(name);
  }

  #breakAt(name: string): void {
    if (paragraphs.has(name)) this.#lines.break(2);
    else if (blocks.has(name)) this.#lines.break(1);
  }

  /** A link that says nothing is left out; one around whole paragraphs stands behind them. */
  #closeLink(): void {
    const link = this.#link;
    this.#link = undefined;
    if (link?.url !== undefined) this.#lines.link(link.from, link.url);
  }

  /** Only what can be fetched again, and not the page itself. */
  #target(href: string | undefined): string | undefined {
    const text = href?.trim() ?? "";
    if (text === "" || text.startsWith("#")) return undefined;
    const url = URL.parse(text, this.#base.href);
    return url && ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : undefined;
  }
}
