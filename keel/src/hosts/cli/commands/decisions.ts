/** `keel permissions explain --session`: what the decisions of a kept session rested on, from its log. Nothing runs. */

import { usage } from "../../../app/flags/arguments.ts";
import { openHome } from "../../../app/home.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { toLine } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import { type RecordedDecision, recordedDecisions } from "../../../protocol/recorded-decisions.ts";
import type { ClaimFound, PathFound, VerdictFacts } from "../../../protocol/verdict-facts.ts";
import type { Context } from "../context.ts";

export async function explainDecisions(
  { session, calls, json }: { session: string; calls: readonly string[]; json: boolean },
  context: Context,
): Promise<number> {
  if (calls.length > 1) throw usage("Name one call, or none for all of them.");
  const events = openHome(context).sessions.read(session, ({ text }) => context.err.line(`keel: ${text}`));
  const all = recordedDecisions(await Array.fromAsync(events));
  const [call] = calls;
  const wanted = all.filter(({ callId }) => call === undefined || callId === call);
  if (call !== undefined && wanted.length === 0)
    throw usage(`No call ${oneLine(call)} was decided about in this session.`);
  if (json) context.out.line(toLine(call === undefined ? wanted : wanted[0]));
  else for (const one of wanted) context.out.line(call === undefined ? sayShort(one) : sayWhole(one));
  return exitCodes.ended;
}

function sayShort({ callId, tool, by, facts }: RecordedDecision): string {
  const why = facts ? `${facts.verdict}: ${facts.reason}` : "nothing is on record";
  return oneLine(`${callId}  ${tool}  ${why}  (${sayBy(by)})`);
}

function sayWhole({ callId, tool, by, facts }: RecordedDecision): string {
  const head = `${tool} ${callId}, ${sayBy(by)}`;
  const lines = facts
    ? [`${facts.verdict}: ${facts.reason}`, head, ...factLines(facts)]
    : [head, "The log was written before decisions left their facts."];
  return lines.map(oneLine).join("\n");
}

const sayBy = (by: RecordedDecision["by"]): string => (by === undefined ? "not settled" : `settled by ${by}`);

function factLines(facts: VerdictFacts): string[] {
  const { rule, hook, review, expanded = [], place, trust, roots, cwd } = facts;
  return [
    `mode: ${facts.mode}`,
    ...(rule ? [`rule: ${rule.list} ${rule.text} (${rule.source})`] : []),
    ...(hook ? [`a hook said ${hook.verdict}: ${hook.reason}`] : []),
    ...(review ? [`the reviewer of auto mode said ${review.verdict}: ${review.reason}`] : []),
    ...facts.claims.map((claim) => `claim: ${claim.action} ${claim.target}${sayFound(claim)}`),
    ...more(facts.moreClaims, "claims"),
    ...(facts.paths ?? []).map((path) => `looked at: ${path.path}${sayFound(path)}`),
    ...more(facts.morePaths, "paths"),
    ...expanded.map((name) => `a pattern stood for: ${name}`),
    ...more(facts.moreExpanded, "names"),
    ...(place?.marks ?? []).map((mark) => `stood there: ${mark}`),
    ...(place?.repositories ?? []).map(
      ({ folder, kind, mark }) =>
        `repository of ${folder}: ${kind}${mark === undefined ? "" : `, found by ${mark}`}`,
    ),
    ...[...(place?.searched ?? []), ...(place?.variables ?? [])].map(
      (own) => `programs are found by: ${own}`,
    ),
    ...(trust === undefined ? [] : [`project: ${trust}`]),
    ...(cwd === undefined ? [] : [`folder: ${(roots ?? [cwd]).join(", ")}`]),
  ];
}

const more = (count: number | undefined, what: string): string[] =>
  count === undefined ? [] : [`and ${count} more ${what}`];

function sayFound({
  leadsTo,
  links,
  missing,
  outside,
  own,
  problem,
  cut,
}: Omit<ClaimFound | PathFound, "path">): string {
  const said = [
    cut ? "only its start is on record" : "",
    leadsTo === undefined ? "" : `leads to ${leadsTo}`,
    links ? `passes the link ${links.join(", ")}` : "",
    missing ? "was not there" : "",
    outside ? "lies outside the workspace" : "",
    own ? "is Keel's own" : "",
    problem ?? "",
  ].filter(Boolean);
  return said.length === 0 ? "" : ` (${said.join("; ")})`;
}

const oneLine = (text: string): string => visible(text).replaceAll("\n", "⟨line break⟩");
