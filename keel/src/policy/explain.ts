/**
 * What would be decided about a call, and why, without a session: for `keel permissions explain` and for tests of rules.
 * Paths are judged by their text; nothing is looked at and nothing runs.
 */

import { isInside, normalise } from "../kernel/path.ts";
import { carefulTraits } from "../ports/define-tool.ts";
import type { Grammar, SyntaxNode } from "../ports/shell.ts";
import type { PathFacts } from "../ports/workspace.ts";
import type { PermissionMode } from "../protocol/settings.ts";
import type { Claim } from "../protocol/tool.ts";
import { familyOf } from "../protocol/tool-families.ts";
import {
  type Analysis,
  analyseReading,
  onlyReads,
  programsOf,
  read,
  type ScriptReading,
  type ShellContext,
  wantsSecondReader,
  wrappedOf,
} from "../shell/meaning/analyse.ts";
import { type Decision, decide, type Rules } from "./decide.ts";
import { type ExplainedCommand, explainCommand } from "./explain-command.ts";
import { judgeCommand } from "./judge-command.ts";

export type ExplainRequest = {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly cwd: string;
  readonly home: string;
  readonly roots: readonly string[];
  readonly trusted: boolean;
  readonly mode: PermissionMode;
  readonly rules: Rules;
  /** Whether commands that only read go without a question. */
  readonly readOnlyAuto: boolean;
};

export type Explanation = {
  readonly verdict: Decision["verdict"];
  readonly because: string;
  /** The rule that it is by, where it is by one. */
  readonly rule?: string | undefined;
  /** The program of every simple command in the text. */
  readonly programs: readonly string[];
  /** Programs that those would start in turn, as far as the text shows. */
  readonly wrapped: readonly string[];
  readonly flags: {
    readonly readOnly: boolean;
    readonly writesOutsideCwd: boolean;
    readonly network: boolean;
    readonly destructive: boolean;
  };
};

/** The same for a person who is asked. */
export type ExplanationInWords = Explanation & {
  /** Where the call is a command that could be read: each of its simple commands, word by word. */
  readonly commands: readonly ExplainedCommand[];
};

/** With a grammar to ask, as a session has one. */
export const explainWith = async (grammar: Grammar, question: ExplainRequest): Promise<Explanation> =>
  (await weighedWith(grammar, question)).explanation;

/** Takes longer than the decision itself, and is no part of it. */
export async function explainInWords(
  grammar: Grammar,
  question: ExplainRequest,
): Promise<ExplanationInWords> {
  const { explanation, analysis, context } = await weighedWith(grammar, question);
  return { ...explanation, commands: explainCommand(analysis, context) };
}

async function weighedWith(grammar: Grammar, question: ExplainRequest): Promise<Weighed> {
  const reading = readingOf(question);
  const tree = reading && wantsSecondReader(reading) ? await grammar.parse(reading.text) : undefined;
  return weigh(question, tree, reading);
}

function readingOf(question: ExplainRequest): ScriptReading | undefined {
  const command = commandOf(question);
  return command === undefined ? undefined : read(command);
}

/** `tree` is the grammar's opinion of the command, where the call is one. */
export const explain = (question: ExplainRequest, tree: SyntaxNode | undefined): Explanation =>
  weigh(question, tree, readingOf(question)).explanation;

type Weighed = {
  readonly explanation: Explanation;
  readonly analysis: Analysis | undefined;
  readonly context: ShellContext;
};

function weigh(
  question: ExplainRequest,
  tree: SyntaxNode | undefined,
  reading: ScriptReading | undefined,
): Weighed {
  const { tool, mode, rules } = question;
  const { cwd, home, roots, trusted: isTrusted } = question;
  const context: ShellContext = { cwd, home, roots, isTrusted };
  const claims = claimsFor(question);
  const analysis = reading && analyseReading(reading, context, tree);
  const paths = pathsByText(claims, context);
  const decision = decide({
    tool,
    traits: {
      ...carefulTraits,
      readOnly: claims.length > 0 && claims.every(({ action }) => action === "read"),
    },
    claims,
    mode,
    rules,
    paths,
    commands:
      reading && analysis
        ? new Map([[reading.text, judgeCommand({ text: reading.text, analysis, world: context, paths })]])
        : undefined,
    world: context,
    readOnlyCommands: question.readOnlyAuto ? "allowed" : "asked",
  });
  const explanation = {
    verdict: decision.verdict,
    because: decision.because,
    ...(decision.rule ? { rule: decision.rule.text } : {}),
    programs: analysis ? programsOf(analysis) : [],
    wrapped: analysis ? wrappedOf(analysis) : [],
    flags: flagsOf(analysis, claims, context),
  };
  return { explanation, analysis, context };
}

/** Undefined when the call is no command. */
function commandOf({ tool, input }: Pick<ExplainRequest, "tool" | "input">): string | undefined {
  const { command } = input;
  return familyOf(tool) === "shell" ? (typeof command === "string" ? command : "") : undefined;
}

function claimsFor({ tool, input, cwd }: ExplainRequest): Claim[] {
  const command = commandOf({ tool, input });
  if (command !== undefined) return [{ action: "execute", target: command }];
  const path = [input["file_path"], input["notebook_path"], input["path"]].find(
    (value) => typeof value === "string",
  );
  const absolute = typeof path === "string" ? (path.startsWith("/") ? path : `${cwd}/${path}`) : cwd;
  if (/^(?:Read|Glob|Grep|LS|NotebookRead)$/.test(tool)) return [{ action: "read", target: absolute }];
  if (/^(?:Edit|Write|MultiEdit|NotebookEdit)$/.test(tool)) return [{ action: "write", target: absolute }];
  const url = input["url"];
  if (typeof url === "string") return [{ action: "fetch", target: url }];
  const kind = input["subagent_type"] ?? input["skill"];
  return [{ action: "use", target: typeof kind === "string" ? kind : tool }];
}

function pathsByText(claims: readonly Claim[], { roots }: ShellContext): Map<string, PathFacts> {
  const named = claims.filter(({ action }) => action === "read" || action === "write");
  return new Map(
    named.map(({ target }) => {
      const path = normalise(target);
      const root = roots.find((each) => isInside(path, [each]));
      return [target, { path, exists: false, kind: "missing", root, links: false }];
    }),
  );
}

function flagsOf(
  analysis: Analysis | undefined,
  claims: readonly Claim[],
  { roots }: ShellContext,
): Explanation["flags"] {
  if (analysis?.kind === "read") {
    const { writesOutside, network, destructive } = analysis.effects();
    const readOnly = onlyReads(analysis);
    return {
      readOnly,
      writesOutsideCwd: !readOnly && writesOutside,
      network: !readOnly && network,
      destructive: !readOnly && destructive,
    };
  }
  return {
    readOnly: claims.every(({ action }) => action === "read"),
    writesOutsideCwd: claims.some(({ action, target }) => action === "write" && !isInside(target, roots)),
    network: claims.some(({ action }) => action === "fetch"),
    destructive: false,
  };
}
