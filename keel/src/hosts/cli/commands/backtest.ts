/** `keel permissions backtest`: what other rules would have meant for what has happened. Nothing runs. */
import path from "node:path";
import { oneOf, usage } from "../../../app/flags/arguments.ts";
import { openHome } from "../../../app/home.ts";
import { backtestSessions, type SessionsBacktest } from "../../../app/maintenance/backtest.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { toLine } from "../../../kernel/json.ts";
import { shorten, visible } from "../../../kernel/text.ts";
import { permissionModes } from "../../../protocol/settings.ts";
import type { CommandRun } from "../command.ts";

type TriedCall = SessionsBacktest["changed"][number];
type TriedRule = SessionsBacktest["rules"][number];

type BacktestValues = {
  json: boolean;
  all: boolean;
  rules: string | undefined;
  mode: string | undefined;
  sessions: string | undefined;
};

export const backtest: CommandRun<BacktestValues> = async ({ values, positionals }, context) => {
  if (positionals.length > 0) throw usage("Name sessions with --sessions.");
  if (values.all && values.sessions !== undefined) throw usage("Name one of --all and --sessions.");
  const tell = (text: string) => context.err.line(`keel: ${oneLine(text)}`);
  const { sessions } = openHome(context);
  const report = await backtestSessions(
    { ...context, sessions },
    {
      file: values.rules === undefined ? undefined : path.resolve(context.cwd, values.rules),
      mode: oneOf("mode", values.mode, permissionModes),
      ids: values.sessions?.split(",").map((id) => id.trim()),
      folders: values.all ? "all" : "this",
    },
    tell,
  );
  if (values.json) context.out.line(toLine(report));
  else for (const line of sayReport(report)) context.out.line(line);
  return exitCodes.ended;
};

export function sayReport(report: SessionsBacktest): string[] {
  const { sessions, agents, calls, same, changed, unknown, questions, rules } = report;
  if (calls === 0) return [`${plural(sessions, "session")}, and no call in them. --all looks everywhere.`];
  const within = agents === 0 ? "" : ` and ${plural(agents, "agent")}`;
  const counts = `${same} as then, ${changed.length} otherwise, ${unknown.length} unknown`;
  return [
    `${plural(calls, "call")} of ${plural(sessions, "session")}${within}: ${counts}.`,
    `Questions: ${questions.recorded} then, ${questions.replayed} under these rules.`,
    ...sayChanged(changed),
    ...sayUnknown(unknown),
    ...sayRules(rules),
  ];
}

/** As many commands of one group as a person reads; all of them are in the JSON. */
const maxCommands = 10;
const maxCharacters = 100;

function sayChanged(changed: readonly TriedCall[]): string[] {
  const kinds = Map.groupBy(
    changed,
    ({ recorded, replayed }) => `${said[recorded]} then, ${said[replayed]} now`,
  );
  return [...kinds].flatMap(([kind, calls]) => {
    const byRule = Map.groupBy(calls, ({ rule }) => (rule === undefined ? "no rule" : rule));
    return [
      "",
      `${kind}: ${calls.length}`,
      ...[...byRule].flatMap(([rule, each]) => [`  ${oneLine(rule)}: ${each.length}`, ...sayCommands(each)]),
    ];
  });
}

const said = { allow: "allowed", ask: "asked", deny: "denied", unknown: "unknown" } as const;

function sayCommands(calls: readonly TriedCall[]): string[] {
  const byText = [...Map.groupBy(calls, ({ tool, about }) => `${tool} ${about}`)].sort(
    ([, one], [, other]) => other.length - one.length,
  );
  const lines = byText.slice(0, maxCommands).map(([text, [first, ...others]]) => {
    const place = first ? `${first.session.slice(0, 8)} ${first.callId}` : "";
    const more = others.length === 0 ? "" : ` and ${others.length} more`;
    return `    ${shorten(oneLine(text), maxCharacters)}  (${oneLine(place)}${more}: ${oneLine(first?.because ?? "")})`;
  });
  const left = byText.length - lines.length;
  return left > 0 ? [...lines, `    and ${left} others; --json has all of them`] : lines;
}

function sayUnknown(unknown: readonly TriedCall[]): string[] {
  if (unknown.length === 0) return [];
  const reasons = Map.groupBy(unknown, ({ because }) => because);
  return [
    "",
    `unknown: ${unknown.length}`,
    ...[...reasons].map(([because, calls]) => `  ${calls.length}: ${oneLine(because)}`),
  ];
}

function sayRules(rules: readonly TriedRule[]): string[] {
  const part = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : ["", title, ...lines]);
  const name = ({ list, rule, source }: TriedRule) => `  ${list} ${oneLine(rule)} (${source})`;
  return [
    ...part(
      "Rules that save questions:",
      rules.filter(({ saves }) => saves > 0).map((use) => `${name(use)}: ${use.saves}`),
    ),
    ...part("Rules that decided no call:", rules.filter(({ calls }) => calls === 0).map(name)),
    ...part(
      "Rules wider than what ran; these would have done:",
      rules.flatMap((use) => (use.narrower ? [`${name(use)}: ${oneLine(use.narrower.join(", "))}`] : [])),
    ),
  ];
}

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
const oneLine = (text: string): string => visible(text).replaceAll("\n", "⟨line break⟩");
