/** `keel trust`: shows exactly what trusting a project would enable, and asks. */

import path from "node:path";
import { usage } from "../../../app/flags/arguments.ts";
import {
  type TrustOffer,
  type TrustReport,
  trustedRoots,
  trustProject,
  trustReport,
  untrustProject,
} from "../../../app/maintenance/trust.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { toLine } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import { isoTime } from "../../../view/say.ts";
import type { CommandRun } from "../command.ts";
import type { Context } from "../context.ts";
import { hasPerson } from "../terminal/answer-asks.ts";
import { confirms, indented } from "../terminal/terminal.ts";

/** `keel trust`: asks the person at the terminal; without one it only shows. */
export const trust: CommandRun<{ yes: boolean }> = async (given, context) => {
  const place = placeOf(given, context);
  const report = await trustReport(place);
  if (!given.values.yes && !hasPerson(context)) {
    context.out.write(sayReport(report));
    if (isOpen(report)) context.out.line("`keel trust add` trusts it.");
    return exitCodes.ended;
  }
  return (await add(given, context)) ?? exitCodes.ended;
};

/** `keel trust add`: the command itself is the person's word; at a terminal they see first what it means. */
export const add: CommandRun<{ yes: boolean }> = async (given, context) => {
  const place = placeOf(given, context);
  const report = await trustReport(place);
  context.out.write(sayReport(report));
  if (!isOpen(report)) return exitCodes.ended;
  const isAsked = !given.values.yes && hasPerson(context);
  if (isAsked && !(await confirms(context, "Trust this project? [no] > "))) {
    context.err.line("Not trusted.");
    return exitCodes.turnFailed;
  }
  await trustProject(place, report);
  context.err.line(`Trusted: ${visible(report.root)}`);
  return exitCodes.ended;
};

export const status: CommandRun<{ json: boolean }> = async ({ values, ...given }, context) => {
  const report = await trustReport(placeOf(given, context));
  if (!values.json) context.out.write(sayReport(report));
  else {
    const offers = report.offers.map(({ mark: _, ...offer }) => offer);
    context.out.line(toLine({ ...report, offers }));
  }
};

export const list: CommandRun<{ json: boolean }> = async ({ values }, context) => {
  const roots = await trustedRoots(context);
  if (values.json) context.out.line(toLine(roots));
  else
    for (const { root, at } of roots)
      context.out.line(`${isoTime(at)?.slice(0, 10) ?? "?"}  ${visible(root)}`);
};

export const remove: CommandRun = async (given, context) => {
  const { cwd } = placeOf(given, context);
  const root = await untrustProject(context, given.positionals.length === 0 ? undefined : cwd);
  context.err.line(`Not trusted any more: ${visible(root)}`);
};

function placeOf(
  { positionals }: Pick<Parameters<CommandRun>[0], "positionals">,
  { cwd, env }: Context,
): Pick<Context, "cwd" | "env"> {
  const [folder, ...more] = positionals;
  if (more.length > 0) throw usage("Give one folder, or none for this one.");
  return { env, cwd: folder === undefined ? cwd : path.resolve(cwd, folder) };
}

const isOpen = ({ state, offers }: TrustReport): boolean =>
  state === "untrusted" || offers.some((offer) => offer.state === "waiting");

const titles: Readonly<Record<TrustOffer["kind"], string>> = {
  hook: "Hooks, which run programs",
  server: "MCP servers, which run programs or are connected to",
  rule: "Rules that allow without a question",
  variable: "Variables that commands see",
  mode: "The permission mode in which sessions start",
  folder: "Further folders to work in",
  file: "Skills, commands and agents, which may name programs and tools",
};

function sayReport({ root, state, offers, forbidden }: TrustReport): string {
  const kinds = [...new Set(offers.map(({ kind }) => kind))];
  const parts = kinds.flatMap((kind) => [
    `  ${titles[kind]}:`,
    ...offers.filter((offer) => offer.kind === kind).flatMap((offer) => sayOffer(offer, root)),
  ]);
  const head = state === "trusted" ? "is trusted" : "is not trusted";
  const what = offers.length === 0 ? ["It has nothing that would need trust."] : ["Trust enables:", ...parts];
  const never =
    forbidden.length === 0
      ? []
      : ["Left out, trusted or not:", ...forbidden.map((text) => `  ${visible(text).replaceAll("\n", " ")}`)];
  return `${[`${visible(root)} ${head}.`, ...what, ...never].join("\n")}\n`;
}

/** Every line of a text is marked, so that none can pass for a line of ours. */
function sayOffer({ text, file, state, danger }: TrustOffer, root: string): string[] {
  const waits = state === "waiting" ? "not enabled, " : "";
  return [
    ...indented(text, "    "),
    ...(danger === undefined ? [] : [`      mind that ${visible(danger)}`]),
    `      (${waits}${visible(path.relative(root, file))})`,
  ];
}
