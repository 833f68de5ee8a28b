/** Text of a server, as text and nothing else: no codes for a terminal, no characters that hide. */

const start = "\u001b";
const bell = "\u0007";
/** Escape sequences as a whole, so that no rest of one is left to read. */
const sequences = new RegExp(
  [
    String.raw`${start}\[[0-?]*[ -/]*[@-~]`,
    String.raw`${start}\][^${bell}${start}]*(?:${bell}|${start}\\)`,
    String.raw`${start}[PX^_][^${start}]*${start}\\`,
    String.raw`${start}[ -/]*[0-~]`,
  ].join("|"),
  "g",
);
const controls = /[^\P{Cc}\t\n]/gu;
/** Characters that turn the direction of text, or stand in it unseen to carry words for a model only. */
const hidden = /[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/gu;

export const plainText = (words: string): string =>
  words.replace(/\r\n?/g, "\n").replace(sequences, "").replace(controls, "").replace(hidden, "");
