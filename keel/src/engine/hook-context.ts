/** Where a session calls its hooks, from what its steps work with. */

import type { HookContext } from "../ports/hooks.ts";
import { consultOf } from "./consult.ts";
import type { StepContext } from "./step-context.ts";

export function hookContextOf(work: StepContext): HookContext {
  const { parts, state, signal, show } = work;
  return {
    // An agent is a part of the session that the host opened.
    session: parts.above?.root ?? parts.log.session,
    cwd: parts.workspace.cwd,
    permissionMode: parts.above?.mode() ?? state.settings?.permissionMode ?? "default",
    inputId: state.turn?.inputIds[0],
    clock: parts.clock,
    hookMs: parts.limits.hookMs,
    agent: parts.above && { id: parts.above.origin.agentId, kind: parts.above.origin.kind },
    signal,
    show,
    newId: () => parts.ids.uuid(),
    consult: consultOf(work),
  };
}
