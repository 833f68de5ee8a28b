/**
 * Whether an agent keeps to the Agent Client Protocol, version 1 or the draft of version 2: each requirement of a table,
 * each with an agent of its own, started by the command that is given.
 */
import { messageChecks } from "./checks.ts";
import { meetingChecksV2 } from "./meeting-checks-v2.ts";
import { type AcpRequirementId, type AcpTier, acpRequirements, type RequirementRow } from "./requirements.ts";
import { type AcpRequirementIdV2, acpRequirementsV2 } from "./requirements-v2.ts";
import { schemaCheck } from "./schema-check.ts";
import { sessionChecks } from "./session-checks.ts";
import { sessionChecksV2 } from "./session-checks-v2.ts";
import { type AcpKitOptions, type CheckOutcome, KitFinding } from "./stage.ts";
import { toldChecksV2 } from "./told-checks-v2.ts";
import { turnChecksV2 } from "./turn-checks-v2.ts";
import { wireChecksV2 } from "./wire-checks-v2.ts";

export type AcpVerdict<Id = AcpRequirementId> = {
  readonly id: Id;
  readonly tier: AcpTier;
  readonly says: string;
  /** `not-applicable`: the agent did not announce what it is about, or `why` it could not be tried. */
  readonly state: "holds" | "fails" | "not-applicable";
  /** Of a failure what came instead; of what is only recorded, what was seen. */
  readonly why?: string | undefined;
};

type AcpCheckOf = (options: AcpKitOptions) => Promise<CheckOutcome>;

const checks: Readonly<Record<AcpRequirementId, AcpCheckOf>> = { ...messageChecks, ...sessionChecks };
const checksV2: Readonly<Record<AcpRequirementIdV2, AcpCheckOf>> = {
  ...meetingChecksV2,
  ...sessionChecksV2,
  ...toldChecksV2,
  ...turnChecksV2,
  ...wireChecksV2,
};

/** Never throws: an agent that cannot be started fails. */
export const checkAcp = (id: AcpRequirementId, options: AcpKitOptions): Promise<AcpVerdict> =>
  verdictOf(id, acpRequirements[id], () => checks[id](options));

export const checkAcpV2 = (
  id: AcpRequirementIdV2,
  options: AcpKitOptions,
): Promise<AcpVerdict<AcpRequirementIdV2>> =>
  verdictOf(id, acpRequirementsV2[id], () => checksV2[id](options));

/** All of them, one after the other. */
export const runAcpKit = (options: AcpKitOptions): Promise<AcpVerdict[]> =>
  inTurn(acpRequirements, options, checkAcp);

export const runAcpKitV2 = (options: AcpKitOptions): Promise<AcpVerdict<AcpRequirementIdV2>[]> =>
  inTurn(acpRequirementsV2, options, checkAcpV2);

async function inTurn<Id extends string, T>(
  table: Readonly<Record<Id, unknown>>,
  given: AcpKitOptions,
  check: (id: Id, options: AcpKitOptions) => Promise<T>,
): Promise<T[]> {
  const options = { ...given, schemaCheck: given.schemaCheck ?? (await schemaCheck(given.schema)) };
  const verdicts: T[] = [];
  for (const id of Object.keys(table) as Id[]) verdicts.push(await check(id, options));
  return verdicts;
}

async function verdictOf<Id>(
  id: Id,
  { tier, says }: RequirementRow,
  check: () => Promise<CheckOutcome>,
): Promise<AcpVerdict<Id>> {
  const outcome = await check().catch((thrown: unknown): CheckOutcome => {
    if (thrown instanceof KitFinding) return thrown.sentence;
    return thrown instanceof Error ? thrown.message : String(thrown);
  });
  if (outcome === undefined) return { id, tier, says, state: "holds" };
  if (typeof outcome === "string") return { id, tier, says, state: "fails", why: outcome };
  if ("told" in outcome) return { id, tier, says, state: "holds", why: outcome.told };
  return { id, tier, says, state: "not-applicable", why: outcome.notApplicable };
}
