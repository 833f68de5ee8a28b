/**
 * What one hook said, read strictly: an answer that is none, or that is for another point, is a failure of the hook.
 * Several opinions become one, by one rule: the strictest verdict counts, all words are joined, one stop is enough.
 */
import { isJson, isObject, type Json, sameJson } from "../kernel/json.ts";
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
  return ok({
    ...(output["continue"] === false
      ? { stop: textIn(output, "stopReason") ?? reason ?? "A hook ended the turn." }
      : {}),
    ...(decision === "block" ? { block: reason ?? "A hook objected." } : {}),
    ...(decision === "approve" ? { verdict: "allow" as const, reason } : {}),
    ...optional("say", textIn(output, "systemMessage")),
  });
}

const verdicts = ["allow", "ask", "defer", "deny"] as const;

function readSpecial(own: Record<string, unknown>, event: HookEvent): Result<Opinion, string> {
  const said = own["permissionDecision"];
  const verdict = verdicts.find((known) => known === said);
  if (said !== undefined && verdict === undefined)
    return failed(`its permissionDecision ${JSON.stringify(said)} is none`);
  const input = own["updatedInput"];
  if (input !== undefined && !(isObject(input) && isJson(input)))
    return failed("its updatedInput is no object of JSON");
  const output = own["updatedToolOutput"] ?? own["updatedMCPToolOutput"];
  if (output !== undefined && !isJson(output)) return failed("its updated output is no JSON");
  const answer = hookPointOf(event)?.opinion === "answer" ? readAnswer(own["decision"]) : ok(undefined);
  if (!answer.ok) return answer;
  return ok({
    ...(verdict ? { verdict, reason: textIn(own, "permissionDecisionReason") } : {}),
    ...optional("input", input as Json | undefined),
    ...optional("output", output as Json | undefined),
    ...optional("answer", answer.value),
    ...optional("context", textIn(own, "additionalContext") || undefined),
    ...optional("title", textIn(own, "sessionTitle") || undefined),
  });
}

function readAnswer(decision: unknown): Result<Answer | undefined, string> {
  if (decision === undefined) return ok(undefined);
  if (!isObject(decision)) return failed("its decision is no object");
  const input = decision["updatedInput"];
  if (input !== undefined && !(isObject(input) && isJson(input)))
    return failed("its updatedInput is no object of JSON");
  switch (decision["behavior"]) {
    case "allow":
      return ok({
        verdict: "allow",
        ...optional("input", input as Json | undefined),
        ...optional("rules", rulesIn(decision["updatedPermissions"])),
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

/** Of what it wants to change, only what allows more in this session counts: files and denials are not for a hook. */
function rulesIn(updates: unknown): string[] | undefined {
  if (!Array.isArray(updates)) return undefined;
  const rules = updates.flatMap((update) => {
    if (!isObject(update) || update["type"] !== "addRules" || update["behavior"] !== "allow") return [];
    return Array.isArray(update["rules"]) ? update["rules"].flatMap(ruleOf) : [];
  });
  return rules.length > 0 ? rules : undefined;
}

function ruleOf(value: unknown): string[] {
  if (!isObject(value)) return [];
  const tool = textIn(value, "toolName");
  const content = textIn(value, "ruleContent");
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

const optional = <K extends string, V>(name: K, value: V | undefined): { [name in K]?: V } =>
  value === undefined ? {} : ({ [name]: value } as { [name in K]: V });

export type Merged = {
  readonly verdict?: Opinion["verdict"];
  readonly reason: string;
  readonly input?: Json | undefined;
  readonly output?: Json | undefined;
  readonly context: readonly string[];
  readonly stop?: string | undefined;
  readonly block?: string | undefined;
  readonly answer?: Answer | undefined;
  readonly title?: string | undefined;
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
