/** `keel replay`: what today's Keel would have sent in place of what was sent. Nothing runs and nothing is sent. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { usage, wholeNumber } from "../../../app/flags/arguments.ts";
import { openHome } from "../../../app/home.ts";
import {
  isFileName,
  type ReplayedLog,
  type ReplayWish,
  replaySessions,
} from "../../../app/time/replay-sessions.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { toLine } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import type { CommandRun } from "../command.ts";
import { junit } from "./junit.ts";

type ReplayValues = {
  json: boolean;
  all: boolean;
  to: string | undefined;
  check: string | undefined;
  prompt: string | undefined;
  junit: string | undefined;
  environment: boolean;
  "as-answered": boolean;
  "permission-mode": string | undefined;
  timeout: string | undefined;
};

export const replay: CommandRun<ReplayValues> = async ({ values, positionals }, context) => {
  if (values.environment) {
    const { all, check, prompt, to, junit: file } = values;
    if ([all || undefined, check, prompt, to, file].some((wish) => wish !== undefined))
      throw usage("--environment is about one session, from its start to its end.");
    return (await import("./replay-environment.ts")).replayInFolder({ values, positionals }, context);
  }
  const { cwd, out } = context;
  const { sessions, clock } = openHome(context);
  const prompt =
    values.prompt === undefined ? undefined : await readFile(path.resolve(cwd, values.prompt), "utf8");
  const place = { ...context, sessions, nowMs: () => clock.monotonicMs() };
  const logs: ReplayedLog[] = [];
  for await (const log of replaySessions(place, {
    from: wishOf(values, positionals, cwd),
    prompt: prompt?.trim(),
  })) {
    logs.push(log);
    if (!values.json) for (const line of sayLog(log)) out.line(line);
  }
  const failed = logs.filter(isFailed);
  if (values.json) out.line(toLine(logs));
  else out.line(sayAll(logs, failed.length));
  if (values.junit !== undefined)
    await writeFile(path.resolve(cwd, values.junit), junit("keel replay", logs.map(asCase)));
  return failed.length > 0 ? exitCodes.turnFailed : exitCodes.ended;
};

function wishOf(values: ReplayValues, [id, ...more]: readonly string[], cwd: string): ReplayWish["from"] {
  if (more.length > 0) throw usage("Name one session; --all takes every one.");
  if ([id, values.check, values.all || undefined].filter((wish) => wish !== undefined).length > 1)
    throw usage("Name a session, --all or --check.");
  if (values.to !== undefined && id === undefined) throw usage("--to is about one session.");
  const to = wholeNumber("to", values.to, 1);
  if (values.check !== undefined) return { kind: "files", folder: path.resolve(cwd, values.check) };
  if (id === undefined) return { kind: "folder", cwd: values.all ? undefined : cwd };
  if (isFileName(id)) return { kind: "file", file: path.resolve(cwd, id), to };
  return { kind: "session", id, to };
}

const isFailed = ({ difference, problems }: ReplayedLog): boolean =>
  difference !== undefined || problems.length > 0;

function sayLog(log: ReplayedLog): string[] {
  const { name, difference, lacks, problems, requests, equalRequests, events, ms } = log;
  const counts = `${equalRequests} of ${requests} requests equal by their bytes, ${events} events, ${ms} ms`;
  return [
    `${isFailed(log) ? "differs" : "equal"}  ${visible(name)}  ${counts}`,
    ...(difference ? sayDifference(difference) : []),
    ...problems.map((problem) => `  damaged: ${visible(problem)}`),
    ...(lacks.length > 0 ? [`  the log does not hold: ${lacks.map(visible).join("; ")}`] : []),
    ...sayBill(log),
  ];
}

function sayDifference({
  seq,
  request,
  cause,
  what,
  recorded,
  today,
}: NonNullable<ReplayedLog["difference"]>): string[] {
  return [
    `  at event ${seq}, request ${request}: ${cause}: ${visible(what)}`,
    `    recorded: ${oneLine(recorded)}`,
    `    today:    ${oneLine(today)}`,
  ];
}

function sayBill({ bill: { recordedUsd, todayUsd } }: ReplayedLog): string[] {
  const change = todayUsd - recordedUsd;
  if (Math.abs(change) < 0.000001) return [];
  return [
    `  the bill: ${usd(recordedUsd)} then, about ${usd(todayUsd)} today (${change > 0 ? "+" : ""}${usd(change)})`,
  ];
}

const usd = (sum: number): string => `${sum.toFixed(4)} USD`;
const oneLine = (text: string): string => visible(text).replaceAll("\n", "⟨line break⟩");

function sayAll(logs: readonly ReplayedLog[], failed: number): string {
  const requests = logs.reduce((sum, log) => sum + log.requests, 0);
  const [then, now] = [sum(logs, "recordedUsd"), sum(logs, "todayUsd")];
  return `${logs.length} logs with ${requests} requests: ${logs.length - failed} equal, ${failed} otherwise. The bill: ${usd(then)} then, ${usd(now)} today.`;
}

const sum = (logs: readonly ReplayedLog[], which: keyof ReplayedLog["bill"]): number =>
  logs.reduce((total, { bill }) => total + bill[which], 0);

function asCase(log: ReplayedLog): Parameters<typeof junit>[1][number] {
  const { name, ms, difference, problems } = log;
  const words = [...(difference ? sayDifference(difference) : []), ...problems];
  return { name, ms, failure: isFailed(log) ? words.join("\n") : undefined };
}
