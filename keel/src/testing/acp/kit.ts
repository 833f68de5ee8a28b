/**
 * Whether an agent keeps to version 1 of the Agent Client Protocol: each requirement of the table, each with an agent of
 * its own, started by the command that is given.
 */
import { messageChecks } from "./checks.ts";
import { type AcpRequirementId, type AcpTier, acpRequirements } from "./requirements.ts";
import { sessionChecks } from "./session-checks.ts";
import { type AcpKitOptions, type CheckOutcome, KitFinding } from "./stage.ts";

export type AcpVerdict = {
  readonly id: AcpRequirementId;
  readonly tier: AcpTier;
  readonly says: string;
  /** `not-applicable`: the agent did not announce what it is about, or `why` it could not be tried. */
  readonly state: "holds" | "fails" | "not-applicable";
  /** Of a failure what came instead; of what is only recorded, what was seen. */
  readonly why?: string | undefined;
};

const checks = { ...messageChecks, ...sessionChecks };

/** Never throws: an agent that cannot be started fails. */
export async function checkAcp(id: AcpRequirementId, options: AcpKitOptions): Promise<AcpVerdict> {
  const { tier, says } = acpRequirements[id];
  const outcome = await checks[id](options).catch((thrown: unknown): CheckOutcome => {
    if (thrown instanceof KitFinding) return thrown.sentence;
    return thrown instanceof Error ? thrown.message : String(thrown);
  });
  if (outcome === undefined) return { id, tier, says, state: "holds" };
  if (typeof outcome === "string") return { id, tier, says, state: "fails", why: outcome };
  if ("told" in outcome) return { id, tier, says, state: "holds", why: outcome.told };
  return { id, tier, says, state: "not-applicable", why: outcome.notApplicable };
}

/** All of them, one after the other. */
export async function runAcpKit(options: AcpKitOptions): Promise<AcpVerdict[]> {
  const verdicts: AcpVerdict[] = [];
  for (const id of Object.keys(acpRequirements))
    verdicts.push(await checkAcp(id as AcpRequirementId, options));
  return verdicts;
}
