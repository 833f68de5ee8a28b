/**
 * What one hook said, read strictly: an answer that is none, or that is for another point, is a failure of the hook.
 * Several opinions become one, by one rule: the strictest verdict counts, all words are joined, one stop is enough.
 */
import { asList, asObject, isJson, isObject, type Json, present, sameJson } from "../kernel/json.ts";
import { failed, ok, type Result } from "../kernel/result.ts";
import type { Answer } from "../protocol/ask.ts";
import { type HookEvent, hookPointOf } from "../protocol/hook.ts";

export type Opinion = {
  readonly verdict?: "allow" | "ask" | "defer" | "deny" | undefined;
  readonly reason?: string | undefined;
  readonly input?: Json | undefined;
  readonly output?: Json | undefined;
  readonly context?: string | undefined;
  /** Ends the turn. */
  readonly stop?: string | undefined;
  /** An objection to what is about to happen, or to what has happened. */
  readonly block?: string | undefined;
  readonly answer?: Answer | undefined;
  readonly title?: string | undefined;
  /** For the person. */
  readonly say?: string | undefined;
};

/** Nothing at all is no opinion. */
export function readOpinion(event: HookEvent, output: unknown): Result<Opinion, string> {
  if (output === undefined || output === null) return ok({});
  if (!isObject(output)) return failed("it answered with something that is no object");
  if (output["async"] === true) return ok({});
  const own = output["hookSpecificOutput"];
  if (own !== undefined && !isObject(own)) return failed("its hookSpecificOutput is no object");
  const name = own?.["hookEventName"];
  if (name !== undefined && name !== event)
    return failed(`it answered for ${JSON.stringify(name)}, not for ${event}`);
  const common = readCommon(output);
  if (!common.ok) return common;
  const special = readSpecial(own ?? {}, event);
  if (!special.ok) return special;
  return ok(asVerdict(event, { ...common.value, ...special.value }));
}

function readCommon(output: Record<string, unknown>): Result<Opinion, string> {
  const decision = output["decision"];
  if (decision !== undefined && decision !== "approve" && decision !== "block")
    return failed(`its decision ${JSON.stringify(decision)} is none`);
  const reason = textIn(output, "reason");
  const isLast = output["continue"] === false;
  return ok({
    ...(decision === "approve" ? { verdict: "allow" as const, reason } : {}),
    ...present({
      stop: isLast ? (textIn(output, "stopReason") ?? reason ?? "A hook ended the turn.") : undefined,
      block: decision === "block" ? (reason ?? "A hook objected.") : undefined,
      say: textIn(output, "systemMessage"),
    }),
  });
}

const verdicts = ["allow", "ask", "defer", "deny"] as const;

function readSpecial(own: Record<string, unknown>, event: HookEvent): Result<Opinion, string> {
  const said = own["permissionDecision"];
  const verdict = verdicts.find((known) => known === said);
  if (said !== undefined && verdict === undefined)
    return failed(`its permissionDecision ${JSON.stringify(said)} is none`);
  const input = inputIn(own);
  if (!input.ok) return input;
  const output = own["updatedToolOutput"] ?? own["updatedMCPToolOutput"];
  if (output !== undefined && !isJson(output)) return failed("its updated output is no JSON");
  const answer = hookPointOf(event)?.opinion === "answer" ? readAnswer(own["decision"]) : ok(undefined);
  if (!answer.ok) return answer;
  return ok({
    ...(verdict ? { verdict, reason: textIn(own, "permissionDecisionReason") } : {}),
    ...present({
      input: input.value,
      output,
      answer: answer.value,
      context: textIn(own, "additionalContext") || undefined,
      title: textIn(own, "sessionTitle") || undefined,
    }),
  });
}

function readAnswer(decision: unknown): Result<Answer | undefined, string> {
  if (decision === undefined) return ok(undefined);
  if (!isObject(decision)) return failed("its decision is no object");
  const input = inputIn(decision);
  if (!input.ok) return input;
  switch (decision["behavior"]) {
    case "allow":
      return ok({
        verdict: "allow",
        ...present({ input: input.value, rules: rulesIn(decision["updatedPermissions"]) }),
      });
    case "deny":
      return ok({
        verdict: "deny",
        reason: textIn(decision, "message") ?? "A hook refused it.",
        ...(decision["interrupt"] === true ? { interrupt: true } : {}),
      });
    default:
      return failed(`its decision ${JSON.stringify(decision["behavior"])} is none`);
  }
}

function inputIn({ updatedInput: input }: Record<string, unknown>): Result<Json | undefined> {
  if (input === undefined) return ok(undefined);
  return isObject(input) && isJson(input) ? ok(input) : failed("its updatedInput is no object of JSON");
}

/** Of what it wants to change, only what allows more in this session counts: files and denials are not for a hook. */
function rulesIn(updates: unknown): string[] | undefined {
  const rules = asList(updates).flatMap((update) => {
    const { type, behavior, rules: added } = asObject(update);
    return type === "addRules" && behavior === "allow" ? asList(added).flatMap(ruleOf) : [];
  });
  return rules.length > 0 ? rules : undefined;
}

function ruleOf(value: unknown): string[] {
  const tool = textIn(asObject(value), "toolName");
  const content = textIn(asObject(value), "ruleContent");
  if (tool === undefined) return [];
  return [content === undefined ? tool : `${tool}(${content})`];
}

/** Where something waits for leave, an objection is a refusal. */
function asVerdict(event: HookEvent, opinion: Opinion): Opinion {
  const refused = opinion.block ?? opinion.stop;
  if (refused === undefined) return opinion;
  const kind = hookPointOf(event)?.opinion;
  if (kind === "verdict" || kind === "refusal") return { ...opinion, verdict: "deny", reason: refused };
  if (kind === "answer")
    return { ...opinion, answer: opinion.answer ?? { verdict: "deny", reason: refused } };
  return opinion;
}

function textIn(object: Record<string, unknown>, name: string): string | undefined {
  const value = object[name];
  return typeof value === "string" ? value : undefined;
}

/** What was said for the person has been told by then. */
export type Merged = Omit<Opinion, "reason" | "context" | "say"> & {
  readonly reason: string;
  readonly context: readonly string[];
};

const strictestFirst = ["deny", "defer", "ask", "allow"] as const;

/** Pure, and in the order in which the hooks are declared. */
export function merge(opinions: readonly Opinion[]): Merged {
  const input = opinions.findLast((opinion) => opinion.input !== undefined)?.input;
  const counted = opinions.filter((opinion) => opinion.verdict !== "allow" || sawInput(opinion, input));
  const verdict = strictestFirst.find((known) => counted.some((opinion) => opinion.verdict === known));
  const reasons = counted.filter((opinion) => opinion.verdict === verdict && verdict !== undefined);
  const blocks = opinions.flatMap(({ block }) => block ?? []);
  const answers = opinions.flatMap(({ answer }) => answer ?? []);
  return {
    verdict,
    reason: reasons.flatMap(({ reason }) => reason ?? []).join("\n") || "A hook decided so.",
    input,
    output: opinions.findLast(({ output }) => output !== undefined)?.output,
    context: opinions.flatMap(({ context }) => context ?? []),
    stop: opinions.find(({ stop }) => stop !== undefined)?.stop,
    block: blocks.length > 0 ? blocks.join("\n") : undefined,
    answer: answers.find((answer) => answer.verdict === "deny") ?? answers.at(-1),
    title: opinions.findLast(({ title }) => title !== undefined)?.title,
  };
}

/** Who allowed one input has not allowed what another hook made of it. */
function sawInput(opinion: Opinion, input: Json | undefined): boolean {
  return input === undefined || (opinion.input !== undefined && sameJson(opinion.input, input));
}
