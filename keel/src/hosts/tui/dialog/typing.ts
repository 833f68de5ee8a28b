/** A key in a panel of the screen, and how a line is written there. */
import { type EditAction, type Editor, edit, editActions } from "../input/editor.ts";
import type { Action } from "../input/key-map.ts";

/** What it means here, what it is called, and what it writes; `paste` for what is pasted. */
export type DialogKey = { readonly action: Action | undefined; readonly name: string; readonly text: string };

/** Letters are written, and the keys of an input move and delete. */
export function typed(editor: Editor, { action, text, name }: DialogKey): Editor {
  if (text !== "" || name === "paste") return edit(editor, { type: "insert", text });
  return isEdit(action) ? edit(editor, { type: action }) : editor;
}

const edits: ReadonlySet<string> = new Set(editActions);
const isEdit = (action: Action | undefined): action is EditAction =>
  action !== undefined && edits.has(action);
