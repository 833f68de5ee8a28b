/**
 * What a question and its answers are called: the one table of these words for every screen, made from what the engine
 * offers. A permission is called by what would happen, never by the name of a tool; what comes from elsewhere is made
 * harmless here.
 */
import { visible } from "../kernel/text.ts";
import type { Ask, AskOption } from "../protocol/ask.ts";
import type { InquiryAnswer } from "../protocol/inquiry.ts";
import type { Claim } from "../protocol/tool.ts";

/** The files in which a rule can be kept beyond the session. */
export type RuleFile = "local" | "project" | "user";

type NamedAction = Exclude<Claim["action"], "use">;

export const askWords = {
  may: {
    execute: "Run a command?",
    write: "Change a file?",
    fetch: "Fetch a page?",
    read: "Read a file?",
    delegate: "Start an agent?",
  } satisfies Record<NamedAction, string>,
  mayUse: (tool: string) => `Use ${tool}?`,
  thisTool: "this tool",
  allowOnce: "Allow once",
  allow: (what: string) => `Allow ${what}`,
  allowHere: (what: string) => `Allow ${what} here`,
  edit: "Edit",
  sayNo: "Say no",
  sayNoMore: "Say no …",
  sayNoWith: "Say no with this",
  insteadLabel: "What should it do instead?",
  askedBy: (agent: string) => `agent ${agent}`,
  letsThrough: (what: string) => `Lets through ${what}`,
  keepRule: (what: string) => `Keep ${what} beyond this session`,
  forHowLong: "For how long?",
  fillIn: "Fill it in …",
  unanswerable: "It wants data that a person has no form for.",
  ownWords: "Or in your own words",
} as const;

/** For how long a rule counts, with the letter of each; without a file it ends with the session. */
export const keepings: readonly {
  readonly key: string;
  readonly keep: RuleFile | undefined;
  readonly label: string;
}[] = [
  { key: "s", keep: undefined, label: "for this session" },
  { key: "l", keep: "local", label: "in this project, for you" },
  { key: "p", keep: "project", label: "in this project, for everybody who trusts it" },
  { key: "u", keep: "user", label: "in all your projects" },
];

/** The weightiest of what would happen gives the name. */
const actionsByWeight: readonly NamedAction[] = ["execute", "write", "fetch", "read", "delegate"];

export function askTitle({ kind, title, claims = [], tool }: Ask): string {
  if (kind !== "permission") return oneLine(title);
  const action = actionsByWeight.find((one) => claims.some((claim) => claim.action === one));
  return action === undefined ? askWords.mayUse(oneLine(tool ?? askWords.thisTool)) : askWords.may[action];
}

/** Which agent asks; undefined for the session itself. */
export const askOrigin = ({ origin }: Ask): string | undefined =>
  origin && askWords.askedBy(oneLine(origin.description ?? origin.kind));

export function optionLabel(option: AskOption, kind: Ask["kind"]): string {
  if (option.rule !== undefined) return askWords.allowHere(ruleWords(option.rule));
  if (kind !== "permission") return oneLine(option.label);
  return option.verdict === "allow" ? askWords.allowOnce : askWords.sayNoMore;
}

/** What a rule lets through, without the tool, which the title of the question has said. */
export function ruleWords(rule: string): string {
  const [, what = rule] = /^[\w-]+\((?:domain:)?(.+)\)$/s.exec(rule) ?? [];
  return oneLine(what);
}

/** A no is one button, behind which words can be said: two that both mean no are one. */
export function offeredOptions({ options, kind }: Pick<Ask, "options" | "kind">): readonly AskOption[] {
  if (kind !== "permission") return options;
  const no =
    options.find(({ takesWords }) => takesWords) ?? options.find(({ verdict }) => verdict === "deny");
  return [...options.filter(({ verdict }) => verdict === "allow"), ...(no ? [no] : [])];
}

/** What the policy's own reading of a call found, in a line or two. */
export function sayExplanation({ programs, wrapped, flags }: InquiryAnswer<"explain">): string[] {
  const effects = [
    ...(flags.readOnly ? ["only reads"] : []),
    ...(flags.writesOutsideCwd ? ["writes outside the folder"] : []),
    ...(flags.network ? ["uses the network"] : []),
    ...(flags.destructive ? ["may destroy"] : []),
  ];
  const started = wrapped.length > 0 ? `, which start ${wrapped.map(oneLine).join(", ")}` : "";
  return [
    ...(programs.length > 0 ? [`runs ${programs.map(oneLine).join(", ")}${started}`] : []),
    ...(effects.length > 0 ? [effects.join(", ")] : []),
  ];
}

const oneLine = (text: string): string => visible(text).replace(/\s*\n\s*/g, " ");
