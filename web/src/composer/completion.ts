/** What somebody is about to name: a command at the start, a file or an agent behind an `@`. Pure. */

export type Completing = {
  readonly kind: "command" | "mention";
  /** What was typed of it so far, without its sign. */
  readonly typed: string;
  /** What a choice takes the place of. */
  readonly from: number;
  readonly to: number;
};

export function completingAt(text: string, caret: number): Completing | undefined {
  const before = text.slice(0, caret);
  const command = /^\/([\w:.-]*)$/.exec(before);
  if (command) return { kind: "command", typed: command[1] ?? "", from: 0, to: caret };
  const mention = /(?:^|\s)@([^\s@]*)$/.exec(before);
  if (!mention) return undefined;
  const typed = mention[1] ?? "";
  return { kind: "mention", typed, from: caret - typed.length - 1, to: caret };
}

/** The text with the choice in it, and where the caret is then. */
export function complete(
  text: string,
  { kind, from, to }: Completing,
  chosen: string,
): { readonly text: string; readonly caret: number } {
  const word = `${kind === "command" ? "/" : "@"}${chosen} `;
  const rest = text.slice(to).replace(/^ /, "");
  return { text: `${text.slice(0, from)}${word}${rest}`, caret: from + word.length };
}

/** Those that fit what was typed: from the start first, then anywhere. */
export function fitting<T>(all: readonly T[], typed: string, nameOf: (one: T) => string): readonly T[] {
  const wanted = typed.toLowerCase();
  const starts = all.filter((one) => nameOf(one).toLowerCase().startsWith(wanted));
  const holds = all.filter((one) => !starts.includes(one) && nameOf(one).toLowerCase().includes(wanted));
  return [...starts, ...holds];
}
