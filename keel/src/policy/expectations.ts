/**
 * What a team expects of its rules, in lines that stand beside them: a verdict and a call. Pure.
 *
 *     allow $ npm test
 *     not allow $ git push --force
 *     deny by Bash(npm publish:*): $ npm publish
 *     deny Read secrets/key
 */
import type { PermissionMode, RuleList } from "../protocol/settings.ts";
import { permissionModes } from "../protocol/settings.ts";
import { familyOf } from "../protocol/tool-families.ts";

export type Expectation = {
  readonly line: number;
  /** As it stands in the file. */
  readonly text: string;
  readonly verdict: RuleList;
  /** Anything but this verdict. */
  readonly isNot: boolean;
  /** The rule that it is to be by. */
  readonly by?: string | undefined;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Each of them is tried. */
  readonly modes: readonly PermissionMode[];
  /** From the root of the project. */
  readonly folder?: string | undefined;
  readonly isTrusted: boolean;
};

export type Expectations = {
  /** Whether the rules of the project count too. */
  readonly base: "project" | "none";
  readonly rules: Readonly<Record<RuleList, readonly string[]>>;
  readonly expectations: readonly Expectation[];
};

export type ExpectationProblem = { readonly line: number; readonly problem: string };

/** What was said above a line, and holds until it is said otherwise. */
type Ground = Pick<Expectation, "modes" | "folder" | "isTrusted">;

const expected =
  /^(not )?(allow|ask|deny)(?: by ([A-Za-z_][\w-]*\*?(?:\(.*?\))?):)? (?:\$ ([\s\S]+)|([A-Za-z_][\w-]*)(?: ([\s\S]+))?)$/;

/** Every line that is wrong is told; then nothing else is. */
export function parseExpectations(
  text: string,
): { readonly ok: true; readonly value: Expectations } | { ok: false; problems: ExpectationProblem[] } {
  const problems: ExpectationProblem[] = [];
  const rules: Record<RuleList, string[]> = { allow: [], ask: [], deny: [] };
  const expectations: Expectation[] = [];
  let base: Expectations["base"] = "project";
  let ground: Ground = { modes: ["default"], isTrusted: true };
  for (const { line, text: words } of linesOf(text)) {
    const rule = /^rule (allow|ask|deny) (.+)$/.exec(words);
    const said = /^(mode|folder) (.+)$/.exec(words);
    const found = expected.exec(words);
    if (words === "rules none") base = "none";
    else if (words === "trusted" || words === "untrusted")
      ground = { ...ground, isTrusted: words === "trusted" };
    else if (rule) rules[listIn(rule[1])].push(rule[2] ?? "");
    else if (said?.[1] === "folder") ground = { ...ground, folder: said[2] };
    else if (said) {
      const modes = (said[2] ?? "").split(/[ ,]+/).filter(Boolean);
      const known = permissionModes.filter((mode) => modes.includes(mode));
      if (known.length !== new Set(modes).size || known.length === 0)
        problems.push({ line, problem: `the modes are ${permissionModes.join(", ")}` });
      ground = { ...ground, modes: known };
    } else if (found) {
      const [, not, verdict, by, command, tool = "Bash", target] = found;
      const call = command === undefined ? inputOf(tool, target) : { command: command.trim() };
      if (call === undefined)
        problems.push({ line, problem: `${tool} has to be followed by what it is about` });
      else
        expectations.push({
          ...ground,
          line,
          text: words,
          verdict: listIn(verdict),
          isNot: not !== undefined,
          by,
          tool,
          input: call,
        });
    } else problems.push({ line, problem: forms });
  }
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, value: { base, rules, expectations } };
}

const forms =
  'it is none of "allow $ COMMAND", "deny Read PATH", "not allow …", "deny by RULE: …", "rule allow RULE", "rules none", "mode MODE", "folder FOLDER", "trusted" and "untrusted"';

const listIn = (word: string | undefined): RuleList => (word === "ask" || word === "deny" ? word : "allow");

/** Lines without comments and empty ones; what is indented belongs to the line above. */
function linesOf(text: string): { line: number; text: string }[] {
  const found: { line: number; text: string }[] = [];
  for (const [at, raw] of text.split(/\r?\n/).entries()) {
    const last = found.at(-1);
    if (/^ {2,}\S/.test(raw) && last) last.text += `\n${raw.replace(/^ {2}/, "")}`;
    else if (raw.trim() !== "" && !raw.startsWith("#")) found.push({ line: at + 1, text: raw.trim() });
  }
  return found;
}

/** What a tool is about, under the name that its input has for it. Undefined where that is missing. */
function inputOf(tool: string, target: string | undefined): Expectation["input"] | undefined {
  const family = familyOf(tool);
  if (family === "shell") return undefined;
  if (family === "reads" || family === "edits")
    return target === undefined ? undefined : { file_path: target };
  if (target === undefined) return {};
  if (tool === "Agent" || tool === "Task") return { subagent_type: target };
  if (tool === "Skill") return { skill: target };
  return /^https?:/.test(target) ? { url: target } : undefined;
}
