/** What a question offers: once, from now on for this kind of call, or no. A kind is shown with what else it means. */
import type { AskOption } from "../../protocol/ask.ts";
import type { Claim } from "../../protocol/tool.ts";
import { parseRule } from "./rules.ts";
import type { Analysis, Surroundings } from "./shell/analyse.ts";
import type { Command } from "./shell/commands.ts";
import { writingRedirections } from "./shell/effects.ts";
import { programName } from "./shell/inside.ts";
import { destroys } from "./shell/programs/destroys.ts";
import { interpreters, shells, wrappers } from "./shell/programs/wrappers.ts";
import { coversCommand } from "./shell-rules.ts";

/** What a suggestion is made from. */
export type Asked = {
  readonly tool: string;
  readonly claims: readonly Claim[];
  readonly commands?: ReadonlyMap<string, Analysis> | undefined;
  readonly world?: Surroundings | undefined;
};

export type Suggestion = {
  /** As it would stand in the settings. */
  readonly rule: string;
  /** What else it would let through, for a person. */
  readonly preview: string;
};

export function optionsFor(asked: Asked, reach: "once" | "session"): AskOption[] {
  const once: AskOption = { id: "once", label: "Yes, once", verdict: "allow" };
  const no: AskOption = { id: "no", label: "No", verdict: "deny" };
  // What is asked every time cannot be answered for good.
  const suggestion = reach === "once" ? undefined : suggestRule(asked);
  if (!suggestion) return [once, no];
  const { rule, preview } = suggestion;
  return [
    once,
    { id: "always", label: `Yes, and for the rest of the session: ${rule}`, verdict: "allow", rule, preview },
    no,
  ];
}

/** Undefined when no rule could stand for it. */
export function suggestRule({ tool, claims, commands, world }: Asked): Suggestion | undefined {
  const command = claims.find(({ action }) => action === "execute")?.target;
  if (command !== undefined) {
    const analysis = commands?.get(command);
    return analysis && world ? commandRule(tool, command, analysis, world) : undefined;
  }
  const page = URL.parse(claims.find(({ action }) => action === "fetch")?.target ?? "");
  if (page) return { rule: `${tool}(domain:${page.hostname})`, preview: `every page of ${page.hostname}` };
  return { rule: tool, preview: `every use of ${tool}` };
}

function commandRule(
  tool: string,
  text: string,
  analysis: Analysis,
  world: Surroundings,
): Suggestion | undefined {
  if (analysis.kind === "unread" || analysis.doubts.some(({ kind }) => kind !== "flow")) return undefined;
  // Where output goes is asked each time.
  if (analysis.steps.some((step) => writingRedirections(step).length > 0)) return undefined;
  const open = analysis.commands.filter((command) => {
    const proof = analysis.proofs[analysis.steps.indexOf(command.step)];
    return !proof?.ok || proof.concerns.length > 0;
  });
  const [only, ...more] = open;
  if (!only || more.length > 0) return exactRule(tool, text);
  const words = kindOf(only);
  if (!words) return exactRule(tool, text);
  const rule = `${tool}(${words.join(" ")}:*)`;
  const pattern = parseRule(rule)?.pattern;
  const isCovering = pattern?.kind === "shell" && coversCommand(pattern.shell, only, world);
  return isCovering
    ? { rule, preview: `every command that starts with the words "${words.join(" ")}", whatever follows` }
    : exactRule(tool, text);
}

/** The same text and nothing else. Signs that mean something in a rule cannot stand in one. */
function exactRule(tool: string, text: string): Suggestion | undefined {
  const trimmed = text.trim();
  if (/[*\n]/.test(trimmed) || trimmed.length > mostExact || trimmed.endsWith(":")) return undefined;
  return { rule: `${tool}(${trimmed})`, preview: "exactly this command" };
}

/** A longer rule could not be read by anyone. */
const mostExact = 200;

/** Programs whose first words say what is done; of others the program alone says it. */
const withVerbs: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    "git npm pnpm yarn bun cargo go docker podman kubectl helm gh make pip pip3 uv poetry bundle rails dotnet mvn gradle terraform systemctl brew apt apt-get composer deno"
      .split(" ")
      .map((name) => [name, 1]),
  ),
};
const twoVerbs =
  /^(?:(?:npm|pnpm|yarn|bun) (?:run|exec)|docker (?:compose|image|container|volume|network|system)|gh (?:pr|issue|repo|run|release|api)|git (?:remote|stash|worktree|submodule|config)|uv (?:run|pip)|poetry run|bundle exec|deno (?:task|run)|cargo (?:nextest))$/;

/** Undefined for what should be allowed word by word only: what destroys, and what runs anything. */
function kindOf({ step, inner, hides }: Command): readonly string[] | undefined {
  const [program, ...rest] = step.words;
  if (program?.kind !== "fixed" || hides || inner.length > 0) return undefined;
  const name = programName(program);
  const texts = rest.map(({ text }) => text);
  if (
    shells.has(name) ||
    Object.hasOwn(wrappers, name) ||
    Object.hasOwn(interpreters, name) ||
    destroys(name, texts)
  )
    return undefined;
  const isPlain = (word: string | undefined): word is string =>
    word !== undefined && /^[\w@./:+-]+$/.test(word) && !word.startsWith("-");
  const words = [program.text];
  const [first, second] = texts;
  if (Object.hasOwn(withVerbs, name)) {
    if (!isPlain(first) || rest[0]?.kind !== "fixed") return undefined;
    words.push(first);
    if (twoVerbs.test(`${name} ${first}`)) {
      if (!isPlain(second) || rest[1]?.kind !== "fixed") return undefined;
      words.push(second);
    }
  }
  return words.every(isPlain) ? words : undefined;
}
