/**
 * Reads what a program sends to its terminal just well enough to know where its control sequences begin and end: so that
 * a screen is never taken in the middle of one, and so that questions to the terminal are answered once, by the one that
 * the server keeps, and by none of those who only look on.
 */

export type ScannedOutput = {
  /** All that is whole, as the terminal of the server gets it. */
  readonly whole: string;
  /** The same without questions, for those who look on. */
  readonly shown: string;
};

/** A sequence that is longer is passed on in pieces: pictures and clipboards have no end in sight. */
const maxHeld = 64 * 1024;

const esc = "\u001b";
const csiStart = String.raw`(?:\u001b\[|\u009b)`;
const csiBody = String.raw`[\u0020-\u003f]*`;
const oscStart = String.raw`(?:\u001b\]|\u009d)`;
const oscBody = String.raw`[^\u0007\u001b\u009c]*`;
const textStart = String.raw`(?:\u001b[PX^_]|[\u0090\u0098\u009e\u009f])`;
const textBody = String.raw`[^\u001b\u009c]*`;
const textEnd = String.raw`(?:\u001b\\|\u009c)`;
const shortBody = String.raw`\u001b[\u0020-\u002f]*`;
/** One whole sequence: CSI, OSC, another string, or an escape of two or more characters. */
const wholes = [
  `${csiStart}${csiBody}${String.raw`[\u0040-\u007e]`}`,
  `${oscStart}${oscBody}(?:${String.raw`\u0007`}|${textEnd})`,
  `${textStart}${textBody}${textEnd}`,
  `${shortBody}${String.raw`[\u0030-\u004f\u0051-\u0057\u0059\u005a\u005c\u0060-\u007e]`}`,
];
/** What could still become one of them. */
const begunText = [`${oscStart}${oscBody}`, `${textStart}${textBody}`].map((text) => `${text}${esc}?`);
const begun = new RegExp(`^(?:${[`${csiStart}${csiBody}`, shortBody, ...begunText].join("|")})$`);
const starts = String.raw`[\u001b\u0090\u0098\u009b\u009d-\u009f]`;
const begunString = new RegExp(`^(?:${begunText.join("|")})$`);
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const stringEnds = /[\u0007\u001b\u009c]/;

/** Attributes, states, positions, modes, versions, sizes, colours: whatever a terminal replies to. */
const question = new RegExp(
  `^(?:${[
    `${csiStart}${String.raw`(?:[>=]?\d*c|\??[56]n|\??996n|\??[\d;]*\$p|>\d*q|\?u|1[1-9]t|2[01]t)$`}`,
    `${oscStart}${String.raw`(?:4;.*\?|1\d;\?)`}(?:${String.raw`\u0007`}|${textEnd})$`,
    String.raw`(?:\u001bP|\u0090)[$+]q`,
  ].join("|")})`,
);

export class EscapeScanner {
  // They remember where they are.
  readonly #wholes = wholes.map((pattern) => new RegExp(pattern, "y"));
  readonly #starts = new RegExp(starts, "g");
  #held = "";
  /** In a string that was too long to be held: what ends it is awaited. */
  #inString = false;

  push(text: string): ScannedOutput {
    const given = this.#held + text;
    this.#held = "";
    // Most output has none at all.
    if (!this.#inString && given.search(this.#starts) === -1) return { whole: given, shown: given };
    return this.#scan(given);
  }

  /** What was begun and never ended. */
  end(): ScannedOutput {
    const rest = this.#held;
    this.#held = "";
    return { whole: rest, shown: rest };
  }

  #scan(given: string): ScannedOutput {
    let at = this.#inString ? this.#leaveString(given) : 0;
    let shown = given.slice(0, at);
    while (at < given.length) {
      this.#starts.lastIndex = at;
      const found = this.#starts.exec(given);
      const next = found?.index ?? given.length;
      shown += given.slice(at, next);
      at = next;
      if (!found) break;
      const sequence = this.#sequenceAt(given, at);
      if (sequence !== undefined) {
        if (!question.test(sequence)) shown += sequence;
        at += sequence.length;
        continue;
      }
      const rest = given.slice(at);
      if (begun.test(rest) && rest.length <= maxHeld) {
        this.#held = rest;
        return { whole: given.slice(0, at), shown };
      }
      if (begun.test(rest) && begunString.test(rest)) {
        this.#inString = true;
        return { whole: given, shown: shown + rest };
      }
      // No sequence after all: the terminal makes of it what it does.
      shown += given.charAt(at);
      at += 1;
    }
    return { whole: given, shown };
  }

  /** Where what follows the string begins. */
  #leaveString(given: string): number {
    const end = given.search(stringEnds);
    if (end === -1) return given.length;
    this.#inString = false;
    return given.startsWith(`${esc}\\`, end) ? end + 2 : given.charAt(end) === esc ? end : end + 1;
  }

  #sequenceAt(text: string, at: number): string | undefined {
    for (const kind of this.#wholes) {
      kind.lastIndex = at;
      const found = kind.exec(text);
      if (found) return found[0];
    }
    return undefined;
  }
}
