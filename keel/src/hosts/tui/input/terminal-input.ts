/** What a terminal sends, once it is read: keys, what is pasted, and its answers to questions. */

export type Key = {
  readonly kind: "key";
  /** The key with what was held, as in the key map: `a`, `ctrl+a`, `alt+enter`, `shift+tab`, `up`. */
  readonly name: string;
  /** What it writes; empty for keys that write nothing. */
  readonly text: string;
};

export type TerminalInput =
  | Key
  | { readonly kind: "paste"; readonly text: string }
  | { readonly kind: "focus"; readonly isHere: boolean }
  /** The terminal's answer to a question of ours. */
  | { readonly kind: "cursor"; readonly row: number; readonly column: number }
  | { readonly kind: "background"; readonly colour: string }
  | { readonly kind: "version"; readonly name: string }
  | { readonly kind: "attributes"; readonly values: readonly number[] }
  | { readonly kind: "graphics"; readonly isOk: boolean };
