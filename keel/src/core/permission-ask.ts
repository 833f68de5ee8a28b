/** The question whether a call may run, and what was said to it before. Pure. */

import { canonicalJson, type Json } from "../kernel/json.ts";
import { fingerprint, oneLine, undisguised } from "../kernel/text.ts";

import type { Above } from "../ports/agents.ts";
import type { Ask } from "../protocol/ask.ts";
import type { Claim, Display } from "../protocol/tool.ts";
import type { VerdictFacts } from "../protocol/verdict-facts.ts";
import type { SessionState } from "./state/state.ts";

/** Ids of calls are a provider's, and one of an agent may be one of its parent's; whom a host answers must be clear. */
export const askKey = ({ above }: { readonly above?: Above | undefined }, callId: string): string =>
  above ? `${above.origin.agentId}:${callId}` : callId;

export type PermissionQuestion = {
  readonly key: string;
  /** Undefined for what belongs to no call. */
  readonly callId: string | undefined;
  readonly tool: string;
  readonly input: Json;
  readonly claims: readonly Claim[];
  /** Where a command would run, if not in the session's folder. */
  readonly folder: string | undefined;
  readonly reason: string;
  readonly options: Readonly<Ask["options"]>;
  readonly facts: VerdictFacts;
  /** What the call would do, where its tool can say it. */
  readonly preview?: Display | undefined;
};

export function permissionAsk({
  key,
  callId,
  tool,
  input,
  claims,
  folder,
  ...rest
}: PermissionQuestion): Ask {
  const asked = [input, claims, ...(folder === undefined ? [] : [folder])];
  return {
    // The input, its claims and its folder are part of the id: an approval holds for these and no others.
    id: `${key}:permission:${fingerprint(canonicalJson(asked))}`,
    kind: "permission",
    title: `Allow ${tool}?`,
    body: plainDiff(rest.preview) ?? bodyOf(claims, input),
    ...(callId === undefined ? {} : { callId }),
    tool,
    input,
    claims: [...claims],
    reason: rest.reason,
    options: [...rest.options],
    facts: rest.facts,
  };
}

function bodyOf(claims: readonly Claim[], input: Json): Display {
  const command = claims.find(({ action }) => action === "execute");
  // Nothing in it may hide from whoever is asked; what runs is the input, to the last sign.
  if (command) return { kind: "terminal", command: undisguised(command.target), output: "", exitCode: null };
  // A line feed in a name must not make two claims of one.
  const lines = claims.map(({ action, target }) => `${action} ${oneLine(target)}`);
  return { kind: "text", text: undisguised([...lines, JSON.stringify(input)].join("\n")) };
}

/** Nothing in it hides either. */
function plainDiff(preview: Display | undefined): Display | undefined {
  if (preview?.kind !== "diff") return undefined;
  const hunks = preview.hunks.map((hunk) => ({ ...hunk, lines: hunk.lines.map(undisguised) }));
  return { ...preview, path: oneLine(preview.path), hunks };
}

/** A person or a hook has said no to this call already: nothing that is said later takes that back. */
export const refusalOf = ({ answers }: SessionState, key: string) =>
  answers
    .entries()
    .find(
      ([id, { answer, by }]) =>
        id.startsWith(`${key}:permission:`) && answer.verdict === "deny" && by !== "rule",
    )?.[1];
