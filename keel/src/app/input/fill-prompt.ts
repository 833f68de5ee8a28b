/**
 * The text of a command or skill with its arguments in their places: `$ARGUMENTS`, `$1` … `$9`, commands in `` !`…` ``
 * and the output of those. Arguments never become part of the text that is looked at: what a person types after a
 * command's name cannot add commands to it, and inside of a command each word is quoted.
 */

export type PromptPiece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "command"; readonly command: string };

/** More than a text needs; what is beyond stays text. */
const maxCommands = 20;
const maxCommandCharacters = 4_096;

/** Pure: the pieces of the text in their order, with arguments filled in. */
export function fillPrompt(body: string, args: string): PromptPiece[] {
  const words = splitWords(args);
  const pieces = splitPieces(body);
  const isUsed = pieces.some((piece) => placeholder.test(piece.kind === "text" ? piece.text : piece.command));
  const filled = pieces.map((piece): PromptPiece => {
    if (piece.kind === "text") return { kind: "text", text: fill(piece.text, { all: args, words }) };
    const quoted = words.map(quote);
    return { kind: "command", command: fill(piece.command, { all: quoted.join(" "), words: quoted }) };
  });
  if (isUsed || args.trim() === "") return filled;
  return [...filled, { kind: "text", text: `\n\nArguments: ${args.trim()}` }];
}

const placeholder = /\$(?:ARGUMENTS(?:\[\d\])?|[1-9])(?!\w)/;
const placeholders = /\$(?:ARGUMENTS(?:\[(\d)\])?|([1-9]))(?!\w)/g;

const fill = (text: string, { all, words }: { all: string; words: readonly string[] }): string =>
  text.replace(placeholders, (_, index: string | undefined, number: string | undefined) => {
    if (index !== undefined) return words[Number(index)] ?? "";
    return number === undefined ? all : (words[Number(number) - 1] ?? "");
  });

function splitPieces(body: string): PromptPiece[] {
  const pieces: PromptPiece[] = [];
  let start = 0;
  let commands = 0;
  for (let at = body.indexOf("!`"); at >= 0 && commands < maxCommands; at = body.indexOf("!`", at + 2)) {
    if (at < start) continue;
    const end = body.indexOf("`", at + 2);
    if (end < 0) break;
    const command = body.slice(at + 2, end);
    if (command.trim() === "" || command.length > maxCommandCharacters || command.includes("\n")) continue;
    pieces.push({ kind: "text", text: body.slice(start, at) }, { kind: "command", command });
    start = end + 1;
    commands += 1;
  }
  pieces.push({ kind: "text", text: body.slice(start) });
  return pieces;
}

/** More than a command takes; what is behind them is left out there, and stays in `$ARGUMENTS` of the text. */
const maxWords = 1_000;

/** Blanks part words, quotes hold them together. */
export function splitWords(args: string): string[] {
  const words: string[] = [];
  let word = "";
  let mark = "";
  let open = false;
  for (const sign of args) {
    if (words.length === maxWords) return words;
    if (mark !== "") {
      if (sign === mark) mark = "";
      else word += sign;
    } else if (sign === '"' || (sign === "'" && word === "")) {
      mark = sign;
      open = true;
    } else if (sign <= " " || sign === "\u00a0") {
      if (open || word !== "") words.push(word);
      word = "";
      open = false;
    } else word += sign;
  }
  if (open || word !== "") words.push(word);
  return words;
}

/** One word for the shell, whatever is in it. */
const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
