/**
 * Policy about what is read and run for a person's own words: files that they mention, commands in texts that they call.
 * The same rules, mode and roots hold as for the model's calls; what would be asked is refused. Whoever can ask about
 * a command puts his own way in the place of `mayRun`.
 */
import type { SessionState } from "../../core/state/state.ts";
import type { SessionPorts } from "../../engine/step-context.ts";
import { rulesInForce } from "../../policy/changes.ts";
import { type Decision, decide } from "../../policy/decide.ts";
import { lookAt } from "../../policy/look.ts";
import { parseRule } from "../../policy/rules.ts";
import { carefulTraits } from "../../ports/define-tool.ts";
import type { PermissionMode } from "../../protocol/settings.ts";
import type { Claim } from "../../protocol/tool.ts";

export type PolicyVerdict =
  /** `command`: what may run, where it is not what was asked about. */
  | { readonly ok: true; readonly command?: string }
  /** `isStopped`: the person wants nothing more of the whole text. */
  | { readonly ok: false; readonly because: string; readonly isStopped?: boolean };

export type SessionPolicy = {
  /** The path as `describe` gave it. */
  mayRead(path: string): Promise<PolicyVerdict>;
  /** For files of a person's own, which lie outside of the workspace: whatever no rule denies. */
  mayReadOwn(path: string): Promise<PolicyVerdict>;
  /** `allow`: rules of the text that holds the command. */
  mayRun(command: string, allow: readonly string[]): Promise<PolicyVerdict>;
};

/** About a tool as a whole, when a host wants to call it. */
export async function mayUse(
  tool: string,
  { rules, workspace, mode }: Pick<SessionPorts, "rules" | "workspace"> & { mode: PermissionMode },
): Promise<Decision> {
  const claims: Claim[] = [{ action: "use", target: tool }];
  return decide({ tool, traits: carefulTraits, claims, mode, rules, ...(await lookAt(claims, workspace)) });
}

export function sessionPolicy(
  { rules: given, workspace }: Pick<SessionPorts, "rules" | "workspace">,
  state: () => SessionState | undefined,
): SessionPolicy {
  const decisionAbout = async (tool: string, claim: Claim, allow: readonly string[]): Promise<Decision> => {
    const now = state();
    const rules = now ? rulesInForce(given, () => now.learnt) : given;
    const own = allow.flatMap((words) => parseRule(words) ?? []);
    return decide({
      tool,
      traits: tool === "Read" ? { ...carefulTraits, readOnly: true } : carefulTraits,
      claims: [claim],
      mode: now?.settings?.permissionMode ?? "default",
      ...(await lookAt([claim], workspace)),
      rules: { ...rules, allow: [...rules.allow, ...own] },
    });
  };
  const about = async (
    [tool, claim]: readonly [string, Claim],
    { needs, allow = [] }: { needs: "leave" | "no denial"; allow?: readonly string[] },
  ): Promise<PolicyVerdict> => {
    const { verdict, because } = await decisionAbout(tool, claim, allow);
    const isAllowed = needs === "leave" ? verdict === "allow" : verdict !== "deny";
    return isAllowed ? { ok: true } : { ok: false, because };
  };
  const reading = (path: string) => ["Read", { action: "read", target: path }] as const;
  return {
    mayRead: (path) => about(reading(path), { needs: "leave" }),
    mayReadOwn: (path) => about(reading(path), { needs: "no denial" }),
    mayRun: (command, allow) =>
      about(["Bash", { action: "execute", target: command }], { needs: "leave", allow }),
  };
}
