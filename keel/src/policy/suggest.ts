/**
 * What a question offers: once, from now on for this kind of call, no, or no with words. A kind is shown with what else
 * it means.
 */

import type { PathFacts } from "../ports/workspace.ts";
import type { AskOption } from "../protocol/ask.ts";
import type { Claim } from "../protocol/tool.ts";
import type { ShellContext } from "../shell/meaning/analyse.ts";
import type { CommandJudge, Suggestion } from "./command-judge.ts";
import { covers, parseRule } from "./rules.ts";

/** What a suggestion is made from. */
export type SuggestionContext = {
  readonly tool: string;
  readonly claims: readonly Claim[];
  /** What a command was found to be, by its text. One that is missing counts as not understood. */
  readonly commands?: ReadonlyMap<string, CommandJudge> | undefined;
  /** What paths in rules and commands are relative to. */
  readonly world?: ShellContext | undefined;
  /** What the path of a read or write claim is, by the claim's target; also of what commands name. */
  readonly paths?: ReadonlyMap<string, PathFacts> | undefined;
};

const once: AskOption = { id: "once", label: "Yes, once", verdict: "allow" };
const no: AskOption = { id: "no", label: "No", verdict: "deny" };
const say: AskOption = { id: "say", label: "No, and tell the model why", verdict: "deny", takesWords: true };

/** For what cannot be answered for good. */
export const onceOrNot: readonly AskOption[] = [once, no, say];

export function optionsFor(asked: SuggestionContext, reach: "once" | "session"): AskOption[] {
  // What is asked every time cannot be answered for good.
  const suggestion = reach === "once" ? undefined : suggestRule(asked);
  if (!suggestion) return [...onceOrNot];
  const { rule, preview } = suggestion;
  return [
    once,
    { id: "always", label: `Yes, and for the rest of the session: ${rule}`, verdict: "allow", rule, preview },
    no,
    say,
  ];
}

/** Undefined when no rule could stand for it. */
export function suggestRule(asked: SuggestionContext): Suggestion | undefined {
  const { tool, claims, commands } = asked;
  const command = claims.find(({ action }) => action === "execute")?.target;
  if (command !== undefined) return commands?.get(command)?.suggest(tool);
  const page = URL.parse(claims.find(({ action }) => action === "fetch")?.target ?? "");
  if (page) return { rule: `${tool}(domain:${page.hostname})`, preview: `every page of ${page.hostname}` };
  if (claims.some(({ action }) => action === "read" || action === "write")) return pathRule(asked);
  return { rule: tool, preview: `every use of ${tool}` };
}

/** The folder of a file inside, with all that is in it; outside the file alone. */
function pathRule({ tool, claims, world, paths }: SuggestionContext): Suggestion | undefined {
  const places = claims.flatMap(({ action, target }) =>
    action === "read" || action === "write" ? [paths?.get(target) ?? { path: target, root: undefined }] : [],
  );
  const [first] = places;
  if (!first || !world || places.length < claims.length || /[\\*?[\]{},()!]/.test(first.path))
    return undefined;
  const { path, root } = first;
  const verb = claims.some(({ action }) => action === "write") ? "Edit" : "Read";
  const what = verb === "Edit" ? "every change of a file" : "every reading";
  const folder = root === undefined ? undefined : path.slice(root.length + 1).replace(/\/?[^/]*$/, "");
  const suggestion: Suggestion =
    folder === undefined
      ? { rule: `${verb}(/${path})`, preview: `exactly ${path}` }
      : folder === ""
        ? { rule: `${verb}(./*)`, preview: `${what} that stands directly in ${root}` }
        : { rule: `${verb}(./${folder}/**)`, preview: `${what} below ${folder}, at any depth` };
  const rule = parseRule(suggestion.rule);
  const isCovering =
    rule &&
    places.every((place) => covers(rule, tool, { action: actionOf(verb), target: place.path }, world));
  return isCovering ? suggestion : undefined;
}

const actionOf = (verb: "Edit" | "Read"): Claim["action"] => (verb === "Edit" ? "write" : "read");
