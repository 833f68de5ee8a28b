/** What a sed script does: read command by command, as sed reads it, up to the first thing that is not plain editing. */

export type SedFindings = {
  /** Nothing but editing the stream. */
  readonly isPlain: boolean;
  /** Shell texts that it runs. */
  readonly runs: readonly string[];
  /** It runs what it has made of its input. */
  readonly runsInput: boolean;
  readonly writes: readonly string[];
  readonly reads: readonly string[];
};

export function readSedScript(script: string): SedFindings {
  const reader = new SedReader(script);
  reader.readAll();
  return reader;
}

/** `s` and `y` may be followed by these; `e` and `w` are looked at on their own. */
const plainFlags = /^[gpiImM0-9]$/;
const withoutArgument = "dDgGhHnNpPxzF=";

/** A first `]` stands for itself, and classes such as `[:space:]` have brackets of their own. */
const bracketExpression = /^\[\^?\]?(?:\[([:.=])(?:(?!\1\]).)*\1\]|[^\]])*\]/s;

class SedReader implements SedFindings {
  isPlain = true;
  runsInput = false;
  readonly runs: string[] = [];
  readonly writes: string[] = [];
  readonly reads: string[] = [];
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readAll(): void {
    while (this.#at < this.#text.length && this.#command());
  }

  get #sign(): string {
    return this.#text[this.#at] ?? "";
  }

  /** False when nothing more can be understood. */
  #command(): boolean {
    this.#skip(/[\s;{}]/);
    if (this.#sign === "") return true;
    if (!this.#addresses()) return this.#giveUp();
    this.#skip(/[\s!]/);
    const name = this.#sign;
    this.#at += 1;
    if (name === "{" || name === "}") return true;
    if (name === "#") return this.#skipLine();
    if (withoutArgument.includes(name)) return this.#ended();
    if (name === "s") return this.#substitute();
    if (name === "y") return this.#delimited() && this.#ended();
    if (":btT".includes(name)) return this.#label();
    if ("qQlL".includes(name)) {
      this.#skip(/[\s\d]/);
      return this.#ended();
    }
    // The text of these goes on over lines that end in a backslash.
    if ("aic".includes(name)) return this.#textLines();
    return this.#toTheWorld(name);
  }

  #toTheWorld(name: string): boolean {
    this.isPlain = false;
    const argument = this.#restOfLine().trim();
    if (name === "e") {
      if (argument === "") this.runsInput = true;
      else this.runs.push(argument);
      return true;
    }
    if (name === "w" || name === "W") return this.writes.push(argument) > 0;
    if (name === "r" || name === "R") return this.reads.push(argument) > 0;
    return false;
  }

  #substitute(): boolean {
    const start = this.#at;
    if (!this.#delimited()) return this.#giveUp();
    const parts = this.#text.slice(start + 1, this.#at - 1).split(this.#text[start] ?? "/");
    for (;;) {
      const flag = this.#sign;
      if (plainFlags.test(flag)) this.#at += 1;
      else if (flag === "e") {
        this.isPlain = false;
        this.runs.push(parts[1] ?? "");
        this.#at += 1;
      } else if (flag === "w") {
        this.isPlain = false;
        this.#at += 1;
        this.writes.push(this.#restOfLine().trim());
        return true;
      } else return this.#ended();
    }
  }

  /** Two pieces between three equal signs. */
  #delimited(): boolean {
    const delimiter = this.#sign;
    if (delimiter === "" || /[\s\\]/.test(delimiter)) return this.#giveUp();
    this.#at += 1;
    return this.#piece(delimiter) && this.#piece(delimiter);
  }

  #piece(delimiter: string): boolean {
    for (; this.#sign !== delimiter; this.#at += 1) {
      if (this.#sign === "") return this.#giveUp();
      // Whether a bracket hides the delimiter depends on the version.
      if (this.#sign === "[" && this.#bracketHolds(delimiter)) return this.#giveUp();
      if (this.#sign === "\\") this.#at += 1;
    }
    this.#at += 1;
    return true;
  }

  /** Up to where the longest reading of the bracket goes; one that does not end holds everything. */
  #bracketHolds(delimiter: string): boolean {
    const [bracket] = bracketExpression.exec(this.#text.slice(this.#at)) ?? [];
    return bracket === undefined || bracket.includes(delimiter) || bracket.includes("\\");
  }

  #addresses(): boolean {
    if (!this.#address()) return false;
    this.#skip(/[ \t]/);
    if (this.#sign !== ",") return true;
    this.#at += 1;
    this.#skip(/[ \t]/);
    return this.#address();
  }

  #address(): boolean {
    const [number] = /^(?:\$|\d+(?:~\d+)?|[+~]\d+)/.exec(this.#text.slice(this.#at, this.#at + 32)) ?? [];
    if (number !== undefined) this.#at += number.length;
    else if (this.#sign === "/") {
      this.#at += 1;
      if (!this.#piece("/")) return false;
      this.#skip(/[IM]/);
    } else if (this.#sign === "\\") return false;
    return true;
  }

  #label(): boolean {
    const [label = ""] = /^[ \t]*[\w.-]*/.exec(this.#text.slice(this.#at)) ?? [];
    this.#at += label.length;
    return this.#ended();
  }

  #textLines(): boolean {
    // One line, and only text: what follows a backslash differs between versions.
    const line = this.#restOfLine();
    return line.includes("\\") && !/^\s*\\\s*$/.test(line)
      ? this.#giveUp()
      : line.trim() !== "\\" || this.#giveUp();
  }

  /** A command ends at a line end, a semicolon, a brace or a comment. */
  #ended(): boolean {
    this.#skip(/[ \t]/);
    return this.#sign === "" || /[\n;}#]/.test(this.#sign) ? true : this.#giveUp();
  }

  #giveUp(): false {
    this.isPlain = false;
    return false;
  }

  #skip(signs: RegExp): void {
    while (this.#sign !== "" && signs.test(this.#sign)) this.#at += 1;
  }

  #skipLine(): true {
    this.#restOfLine();
    return true;
  }

  #restOfLine(): string {
    const end = this.#text.indexOf("\n", this.#at);
    const line = this.#text.slice(this.#at, end < 0 ? undefined : end);
    this.#at = end < 0 ? this.#text.length : end + 1;
    return line;
  }
}
