/** Where a session calls its hooks, from what its steps work with. */
import type { Work } from "../work.ts";
import type { HookSite } from "./points.ts";

export const siteOf = ({ parts, state, signal, show }: Work): HookSite => ({
  session: parts.log.session,
  cwd: parts.workspace.cwd,
  permissionMode: state.settings?.permissionMode ?? "default",
  inputId: state.turn?.inputIds[0],
  clock: parts.clock,
  hookMs: parts.limits.hookMs,
  signal,
  show,
  newId: () => parts.ids.uuid(),
});
