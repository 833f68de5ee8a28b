/** Hooks at every point, by a seed: they take their time, fail, and have all the opinions that a hook may have. */

import { defaultLimits } from "../../keel/src/core/limits.ts";
import type { Hook } from "../../keel/src/hooks/run.ts";
import { hooksFrom } from "../../keel/src/hooks/run-hooks.ts";
import type { Hooks } from "../../keel/src/ports/hooks.ts";
import { type HookEvent, type HookInput, hookEvents } from "../../keel/src/protocol/hook.ts";
import { forbidden, senseless } from "./tools.ts";
import type { World } from "./world.ts";

/** What a hook last said about a call: `deny` binds until it is asked again. */
export type HookWords = Map<string, "deny" | "other">;

export function simulatedHooks(world: World, said: HookWords): Hooks {
  const hook = (event: HookEvent): Hook => ({
    event,
    name: "simulated",
    async call(input, { callId, signal }) {
      const startedAt = world.monotonicMs;
      if (callId !== undefined && event === "PreToolUse") said.delete(callId);
      // Some hear the signal, some do not, and some take longer than they may.
      if (world.goesWrong("slow-hook"))
        await world.sleep(world.between(100, 100_000), world.draw() < 0.5 ? signal : undefined);
      else await world.sleep(world.between(0, 20), signal);
      if (world.goesWrong("failing-hook")) throw new Error("a hook broke");
      const output = opinionAt(world, input);
      const isInTime = !signal.aborted && world.monotonicMs - startedAt < defaultLimits.hookMs;
      if (callId !== undefined && event === "PreToolUse" && isInTime)
        said.set(callId, isDenial(output) ? "deny" : "other");
      return output;
    },
  });
  return hooksFrom({ hooks: hookEvents.map(hook), transcript: async () => undefined });
}

type Output = { [name: string]: unknown } | undefined;

function opinionAt(world: World, { hook_event_name: event }: HookInput): Output {
  const own = (more: object): Output => ({ hookSpecificOutput: { hookEventName: event, ...more } });
  const dice = world.draw();
  switch (event) {
    case "PreToolUse":
      if (dice < 0.06) return own({ permissionDecision: "deny", permissionDecisionReason: "no" });
      if (dice < 0.1) return own({ permissionDecision: "ask" });
      if (dice < 0.18) return own({ permissionDecision: "allow" });
      if (dice < 0.26) return own({ updatedInput: changedInput(world), permissionDecision: "allow" });
      if (dice < 0.28) return { continue: false, stopReason: "enough" };
      if (dice < 0.29) return own({ permissionDecision: "defer" });
      return dice < 0.33 ? own({ additionalContext: "before" }) : undefined;
    case "PermissionRequest":
      if (dice < 0.1) return own({ decision: { behavior: "deny", message: "no" } });
      if (dice < 0.2) return own({ decision: { behavior: "allow" } });
      return dice < 0.3
        ? own({ decision: { behavior: "allow", updatedInput: changedInput(world) } })
        : undefined;
    case "PostToolUse":
      if (dice < 0.05) return own({ updatedToolOutput: "replaced" });
      return dice < 0.1 ? own({ additionalContext: "a note" }) : undefined;
    case "PostToolBatch":
      if (dice < 0.02) return { continue: false, stopReason: "enough" };
      return dice < 0.1 ? own({ additionalContext: "a note" }) : undefined;
    case "UserPromptSubmit":
      if (dice < 0.05) return { decision: "block", reason: "not this" };
      return dice < 0.15 ? own({ additionalContext: "at the input" }) : undefined;
    case "SubagentStart":
      return dice < 0.1 ? own({ additionalContext: "at its start" }) : undefined;
    case "Stop":
    case "SubagentStop":
      return dice < 0.15 ? { decision: "block", reason: "not yet" } : undefined;
    case "SessionStart":
      return dice < 0.3 ? own({ additionalContext: "at the start" }) : undefined;
    default:
      return undefined;
  }
}

export const changedInput = (world: World): { at: string } => ({
  at: world.pick([forbidden, senseless, "changed"]),
});

function isDenial(output: Output): boolean {
  const own = output?.["hookSpecificOutput"] as { permissionDecision?: string } | undefined;
  return own?.permissionDecision === "deny" || output?.["continue"] === false;
}
