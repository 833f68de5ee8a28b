/** `keel what-if`: a recorded session once more from one of its messages, with one change. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { amount, oneOf, oneWord, usage, wholeNumber } from "../../../app/flags/arguments.ts";
import { openHome } from "../../../app/home.ts";
import { ruleListsOf } from "../../../app/maintenance/backtest.ts";
import {
  planWhatIf,
  runWhatIf,
  type WhatIfChange,
  type WhatIfPlan,
  type WhatIfResult,
  type WhatIfWish,
  whatIfPage,
  whatIfTable,
} from "../../../app/time/what-if.ts";
import { fault } from "../../../kernel/fault.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { toLine } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import { permissionModes } from "../../../protocol/settings.ts";
import { sayTable } from "../../../view/say.ts";
import type { CommandRun } from "../command.ts";
import type { Context } from "../context.ts";
import { hasPerson } from "../terminal/answer-asks.ts";
import { confirms } from "../terminal/terminal.ts";

type WhatIfValues = {
  json: boolean;
  yes: boolean;
  anyway: boolean;
  at: string | undefined;
  model: string | undefined;
  prompt: string | undefined;
  instructions: string | undefined;
  rules: string | undefined;
  message: string | undefined;
  result: string | undefined;
  samples: string | undefined;
  messages: string | undefined;
  "permission-mode": string | undefined;
  "max-budget-usd": string | undefined;
  timeout: string | undefined;
  output: string | undefined;
};

export const whatIf: CommandRun<WhatIfValues> = async ({ values, positionals }, context) => {
  const [id = "", ...command] = positionals;
  oneWord(
    [id].filter((word) => word !== ""),
    "Name a session by its id.",
  );
  await using home = openHome(context);
  const stored = await home.sessions.find(id);
  if (!stored) throw fault("session_unknown", { session: id });
  const events = await Array.fromAsync(
    home.sessions.read(id, ({ text }) => context.err.line(`keel: ${visible(text)}`)),
  );
  const stop = new AbortController();
  // The copies have to be gone before the process is.
  const release = context.signals.take(() => stop.abort());
  try {
    const place = {
      env: context.env,
      cwd: stored.cwd,
      home: home.path,
      version: context.version,
      ids: home.ids,
    };
    const asked: WhatIfWish = {
      events,
      cwd: stored.cwd,
      at: values.at ?? needed(),
      change: await changeOf(values, context),
      samples: wholeNumber("samples", values.samples, 1) ?? 1,
      messages: wholeNumber("messages", values.messages, 1) ?? 1,
      mode: oneOf("permission-mode", values["permission-mode"], modes) ?? "acceptEdits",
      command: command.length === 0 ? undefined : lineOf(command),
      timeoutMs: (wholeNumber("timeout", values.timeout, 1) ?? 600) * 1000,
      anyway: values.anyway,
      signal: stop.signal,
    };
    const plan = await planWhatIf(place, asked);
    const given = amount("max-budget-usd", values["max-budget-usd"]);
    const wish = { ...asked, budgetUsd: given ?? usualBudget(plan) };
    for (const line of sayPlan(plan, wish)) context.err.line(visible(line));
    if (!values.yes && !(await isWanted(context))) return exitCodes.turnFailed;
    const result = await runWhatIf(place, wish, plan, (row) =>
      context.err.line(
        visible(`${row.name}: ${row.stopped ? `stopped: ${row.stopped}` : row.outcome.reason}`),
      ),
    );
    await show(result, { id, values, wish, plan }, context);
    return result.rows.slice(1).every(({ outcome }) => outcome.isGood)
      ? exitCodes.ended
      : exitCodes.turnFailed;
  } finally {
    release();
  }
};

const modes = permissionModes.filter((mode) => mode !== "bypassPermissions");

const needed = (): never => {
  throw usage("Say where with --at: the id of a message (keel sessions rewind ID lists them), or an event.");
};

/** A single word is a line for the shell; several are a program with its arguments. */
const lineOf = (command: readonly string[]): string =>
  command.length === 1
    ? (command[0] ?? "")
    : command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");

async function changeOf(values: WhatIfValues, { cwd }: Context): Promise<WhatIfChange> {
  const file = async (name: string | undefined): Promise<string | undefined> => {
    if (name === undefined) return undefined;
    return readFile(path.resolve(cwd, name), "utf8").catch(() => {
      throw usage(`${name} cannot be read.`);
    });
  };
  return {
    model: values.model,
    prompt: (await file(values.prompt))?.trim(),
    instructions: await file(values.instructions),
    permissions: values.rules === undefined ? undefined : await ruleListsOf(path.resolve(cwd, values.rules)),
    message: values.message,
    result: await file(values.result),
  };
}

/** A sample that runs away must not cost many times what was expected. */
const usualBudget = ({ estimateUsd }: WhatIfPlan): number | undefined =>
  estimateUsd === undefined || estimateUsd === 0 ? undefined : estimateUsd * 3;

function sayPlan({ point, recorded, estimateUsd, lost, lacks }: WhatIfPlan, wish: WhatIfWish): string[] {
  const about = estimateUsd === undefined ? "a sum that nobody knows" : `about ${usd(estimateUsd)}`;
  const limit = wish.budgetUsd === undefined ? "no budget" : `a budget of ${usd(wish.budgetUsd)}`;
  return [
    `${point.within ? `Behind event ${point.seq} of` : "Before"} "${point.said.replaceAll("\n", " ").slice(0, 60)}"; it cost ${usd(recorded.costUsd)} then.`,
    `${wish.samples === 1 ? "One sample" : `${wish.samples} samples`}: ${about}, with ${limit}.`,
    ...lost.map((file) => `Cannot be had back as it was: ${file}`),
    ...(lacks.length > 0 ? [`The log does not hold: ${lacks.join("; ")}`] : []),
  ];
}

const usd = (sum: number): string => `${sum.toFixed(4)} USD`;

async function isWanted(context: Context): Promise<boolean> {
  if (hasPerson(context)) return confirms(context, "Run it? [no] > ");
  context.err.line("--yes runs it.");
  return false;
}

async function show(
  { rows, spentUsd }: WhatIfResult,
  { id, values, wish, plan }: { id: string; values: WhatIfValues; wish: WhatIfWish; plan: WhatIfPlan },
  { out, err, cwd }: Context,
): Promise<void> {
  if (values.json) out.line(toLine({ session: id, message: plan.point.message, spentUsd, rows }));
  else out.line(visible(sayTable(whatIfTable(rows), "left")));
  if (values.output === undefined) return;
  await writeFile(path.resolve(cwd, values.output), whatIfPage(id, { rows, spentUsd }, { wish, plan }));
  err.line(`Written: ${visible(values.output)}`);
}
