/** Permission modes as a table: what is done about a call that no rule decides. */

import type { ToolTraits } from "../ports/tool.ts";
import type { PermissionMode } from "../protocol/settings.ts";

export type ModeRow = {
  /** Reading inside the workspace, and commands that are proved to do nothing else. */
  readonly reading: "allow";
  /** Writing files inside the workspace. */
  readonly editing: "allow" | "open" | "deny";
  /** Everything else. */
  readonly other: "allow" | "open" | "deny";
  /** What is still open is asked, or refused where nobody is to be asked. */
  readonly open: "ask" | "deny";
  /** How the mode is told in a reason. */
  readonly says: string;
};

/** No row lifts a deny, a rule that asks, or the question about a protected path. */
export const modes: Readonly<Record<PermissionMode, ModeRow>> = {
  default: { reading: "allow", editing: "open", other: "open", open: "ask", says: "nothing allows it yet" },
  acceptEdits: {
    reading: "allow",
    editing: "allow",
    other: "open",
    open: "ask",
    says: "edits inside the workspace are accepted",
  },
  plan: { reading: "allow", editing: "deny", other: "deny", open: "ask", says: "plan mode changes nothing" },
  dontAsk: { reading: "allow", editing: "open", other: "open", open: "deny", says: "this mode does not ask" },
  bypassPermissions: {
    reading: "allow",
    editing: "allow",
    other: "allow",
    open: "ask",
    says: "permissions are bypassed",
  },
  // Until its classifier comes it asks as the default does.
  auto: { reading: "allow", editing: "open", other: "open", open: "ask", says: "nothing allows it yet" },
};

/** Fail closed: what a tool does not say is read as "changes things, runs alone, never again, ask first". */
export const carefulTraits: ToolTraits = { readOnly: false, concurrent: false, replay: "never" };
