/** Lines of Markdown as they are written from left to right: blanks collapsed, breaks joined, lists and quotes indented. */

/** Deeper ones look the same: a page must not make its text long by nesting. */
const maxDepth = 8;
const maxColumns = 50;

type MarkdownList = { number: number | undefined; items: number };

export class MarkdownLines {
  readonly #parts: string[] = [];
  /** Line ends that stand before whatever comes next. */
  #breaks: 0 | 1 | 2 = 0;
  /** A blank that comes next says nothing: one stands there already, or a line begins. */
  #atBlank = true;
  /** The line holds nothing yet but the mark of an item or a heading: no need to break it. */
  #onlyMarks = false;
  readonly #lists: MarkdownList[] = [];
  #quotes = 0;
  /** How deep in quotes the newest line stands. */
  #lineQuotes = 0;
  #code = 0;
  #row: { cells: number } | undefined;
  #rows = 0;

  text(): string {
    this.closeRow();
    return this.#parts.join("").trim();
  }

  write(text: string): void {
    if (this.#code > 0) return this.#verbatim(text);
    const collapsed = text.replace(/[ \t\n\r\f\u00a0\u200b]+/g, " ");
    const shown = this.#atBlank || this.#breaks > 0 ? collapsed.replace(/^ /, "") : collapsed;
    if (shown !== "") this.#put(shown);
  }

  /** At least this many line ends before what follows. Inside a row there are none. */
  break(lines: 1 | 2): void {
    if (this.#code > 0) return this.#verbatim("\n");
    if (this.#row) return this.write(" ");
    if (this.#parts.length === 0 || this.#onlyMarks) return;
    this.#breaks = this.#breaks === 2 ? 2 : lines;
  }

  heading(level: number): void {
    if (!this.#row) this.#mark(`${"#".repeat(level)} `);
  }

  rule(): void {
    if (this.#row) return;
    this.break(2);
    this.#put("---");
    this.break(2);
  }

  /** Numbered from `start`, or with dashes. */
  openList(start?: number): void {
    this.#lists.push({ number: start, items: 0 });
  }

  closeList(): void {
    this.#lists.pop();
  }

  item(): void {
    if (this.#row) return this.write(" - ");
    const list = this.#lists.at(-1);
    if (this.#parts.length > 0 && !(this.#breaks === 2 && list?.items === 0 && this.#lists.length === 1))
      this.#breaks = 1;
    const mark = list?.number === undefined ? "- " : `${list.number + list.items}. `;
    if (list) list.items += 1;
    this.#flush(this.#lists.length - 1);
    this.#mark(mark);
  }

  openQuote(): void {
    this.#quotes += 1;
  }

  closeQuote(): void {
    this.#quotes = Math.max(0, this.#quotes - 1);
  }

  openCode(): void {
    if (this.#row) return;
    this.#code += 1;
    if (this.#code === 1) this.#put("```\n");
  }

  closeCode(): void {
    if (this.#code === 0) return;
    this.#code -= 1;
    if (this.#code === 0) this.#put(this.#parts.at(-1)?.endsWith("\n") ? "```" : "\n```");
  }

  /** The mark around a piece of code inside a line. */
  tick(): void {
    if (this.#code === 0) this.#put("`");
  }

  openTable(): void {
    this.#rows = 0;
  }

  openRow(): void {
    this.closeRow();
    this.break(1);
    this.#row = { cells: 0 };
  }

  cell(): void {
    if (!this.#row) return this.break(1);
    this.#row.cells += 1;
    this.#put(this.#row.cells > 1 && !this.#atBlank ? " | " : "| ");
  }

  closeRow(): void {
    const row = this.#row;
    this.#row = undefined;
    if (!row || row.cells === 0) return;
    this.#put(this.#atBlank ? "|" : " |");
    this.#rows += 1;
    if (this.#rows > 1) return;
    this.break(1);
    this.#put(`|${" --- |".repeat(Math.min(row.cells, maxColumns))}`);
  }

  /** A place to come back to with `link`. */
  place(): number {
    if (this.#breaks > 0) {
      this.#flush(this.#lists.length);
      this.#onlyMarks = true;
    }
    return this.#parts.length;
  }

  /** What was written since then leads to a place. Around whole paragraphs the place stands behind them. */
  link(from: number, url: string): void {
    const said = this.#parts.splice(from).join("");
    const words = said.trim();
    if (words === "") return;
    const lead = said.slice(0, said.length - said.trimStart().length);
    const trail = said.slice(said.trimEnd().length);
    const linked = words.includes("\n") ? `${words}\n<${url}>` : `[${words}](${url})`;
    this.#parts.push(`${lead}${linked}${trail}`);
  }

  #put(text: string): void {
    this.#flush(this.#lists.length);
    this.#parts.push(text);
    this.#lineQuotes = this.#quotes;
    this.#onlyMarks = false;
    this.#atBlank = text.endsWith(" ");
  }

  #mark(text: string): void {
    this.#put(text);
    this.#onlyMarks = true;
  }

  /** Ends the line, if that is due, and begins the next one with its quote marks and indent. */
  #flush(indent: number): void {
    if (this.#breaks === 0) return;
    const quote = quoteMarks(this.#quotes);
    // The blank line before and after a quote belongs to what is around it.
    const around = quoteMarks(Math.min(this.#quotes, this.#lineQuotes)).trimEnd();
    const blankLine = this.#breaks === 2 ? `${around}\n` : "";
    const last = this.#parts.length - 1;
    this.#parts[last] = (this.#parts[last] ?? "").trimEnd();
    this.#parts.push(`\n${blankLine}${quote}${"  ".repeat(Math.min(indent, maxDepth))}`);
    this.#breaks = 0;
    this.#atBlank = true;
  }

  #verbatim(text: string): void {
    const lines = text.replaceAll("\r\n", "\n");
    const isFirst = this.#parts.at(-1) === "```\n";
    this.#parts.push(isFirst && lines.startsWith("\n") ? lines.slice(1) : lines);
  }
}

const quoteMarks = (depth: number): string => "> ".repeat(Math.min(depth, maxDepth));
