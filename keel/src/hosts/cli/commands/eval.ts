/** `keel eval`: cases with checks, repeated over models and prompts. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { readCases } from "../../../app/evals/read-cases.ts";
import {
  type EvalModel,
  type EvalPorts,
  type EvalResult,
  type EvalRun,
  runEvals,
} from "../../../app/evals/run-evals.ts";
import { type EvalReport, evalTable, rowsOf } from "../../../app/evals/summary.ts";
import { amount, oneWord, usage, wholeNumber } from "../../../app/flags/arguments.ts";
import { openHome } from "../../../app/home.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { toLine } from "../../../kernel/json.ts";
import { sayIssues } from "../../../kernel/schema.ts";
import { visible } from "../../../kernel/text.ts";
import { sayTable } from "../../../view/say.ts";
import type { CommandRun } from "../command.ts";
import type { Context } from "../context.ts";
import { junit } from "./junit.ts";

type EvalValues = {
  json: boolean;
  model: string | undefined;
  prompts: string | undefined;
  only: string | undefined;
  repeat: string | undefined;
  judge: string | undefined;
  record: string | undefined;
  replay: string | undefined;
  compare: string | undefined;
  "max-budget-usd": string | undefined;
  timeout: string | undefined;
  junit: string | undefined;
  output: string | undefined;
};

export const evaluate: CommandRun<EvalValues> = async ({ values, positionals }, context) => {
  const folder = path.resolve(context.cwd, oneWord(positionals, "Name a folder of cases."));
  if (values.record !== undefined && values.replay !== undefined)
    throw usage("Name one of --record and --replay.");
  const { only } = values;
  const cases = (await readCases(folder)).filter(({ name }) => only === undefined || name.includes(only));
  if (cases.length === 0) throw usage(`No case has ${only} in its name.`);
  const home = openHome(context);
  const stop = new AbortController();
  const release = context.signals.take(() => stop.abort());
  const results: EvalResult[] = [];
  try {
    const wish = {
      cases,
      models: values.model === undefined ? [undefined] : listOf(values.model),
      prompts: await promptsOf(values.prompts, context),
      repeats: wholeNumber("repeat", values.repeat, 1) ?? 1,
      judge: values.judge,
      budgetUsd: amount("max-budget-usd", values["max-budget-usd"]),
      timeoutMs: (wholeNumber("timeout", values.timeout, 1) ?? 600) * 1000,
      env: context.env,
      signal: stop.signal,
    };
    for await (const result of runEvals(portsOf(home.path, values, context), wish)) {
      results.push(result);
      if (!values.json) for (const line of sayResult(result)) context.err.line(visible(line));
    }
  } finally {
    release();
  }
  return report(results, values, context);
};

const listOf = (text: string): string[] => text.split(",").flatMap((name) => name.trim() || []);

async function promptsOf(
  given: string | undefined,
  { cwd }: Context,
): Promise<{ name: string; text: string | undefined }[]> {
  if (given === undefined) return [{ name: "Keel's own", text: undefined }];
  return Promise.all(
    listOf(given).map(async (file) => ({
      name: path.basename(file),
      text: await readFile(path.resolve(cwd, file), "utf8").catch(() => {
        throw usage(`${file} cannot be read.`);
      }),
    })),
  );
}

/** Loaded late, and only here: the scripted model and cassettes are parts of the testing kit. */
function portsOf(home: string, values: EvalValues, context: Context): EvalPorts {
  return {
    home,
    version: context.version,
    openModel: async (run, folder) => {
      const { case: each, model } = run;
      if (model === undefined && each.script !== undefined) return scripted(run, folder, context);
      const cassette = cassetteOf(values, run, context.cwd);
      if (cassette === undefined)
        return { env: context.env, problems: () => [], [Symbol.asyncDispose]: async () => undefined };
      return values.replay === undefined ? recorded(cassette, context) : replayed(cassette, context);
    },
  };
}

function cassetteOf({ record, replay }: EvalValues, { case: each, model, repeat }: EvalRun, cwd: string) {
  const folder = record ?? replay;
  const name = [each.name, model ?? "usual", String(repeat)].join("-").replaceAll(/[^\w.-]/g, "_");
  return folder === undefined ? undefined : path.resolve(cwd, folder, `${name}.jsonl`);
}

/** The name that a scripted model goes by: one with a price, so that sums are sums. */
const scriptedModel = "claude-sonnet-4-5";

async function scripted({ case: each }: EvalRun, folder: string, { env }: Context): Promise<EvalModel> {
  const { startModelServer } = await import("../../../testing/model-server.ts");
  const { fillPlaceholders, parseScript } = await import("../../../testing/script-file.ts");
  const script = parseScript(fillPlaceholders(each.script, { cwd: folder }));
  if (!script.ok) throw usage(`The script of ${each.name} is wrong: ${sayIssues(script.error)}.`);
  const server = await startModelServer({ script: script.value, cache: "simulated" });
  return {
    env: { ...env, ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: "scripted" },
    model: scriptedModel,
    problems: () => server.requests.flatMap(({ violations }) => violations),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

async function recorded(file: string, { env }: Context): Promise<EvalModel> {
  const { startRecordingProxy } = await import("../../../testing/cassette-server.ts");
  await mkdir(path.dirname(file), { recursive: true });
  const upstream = env["ANTHROPIC_BASE_URL"] ?? "https://api.anthropic.com";
  const server = await startRecordingProxy({ upstream, file });
  return {
    env: { ...env, ANTHROPIC_BASE_URL: server.url },
    problems: () => [],
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** Where a case runs, and when, is another thing in every run. */
const otherInEveryRun = [
  { find: /[^\s"'`:=]*keel-scratch-\d+-\w+/g, by: "/scratch" },
  { find: /Date: \d{4}-\d{2}-\d{2}/g, by: "Date:" },
] as const;

async function replayed(file: string, { env }: Context): Promise<EvalModel> {
  const { startReplayServer } = await import("../../../testing/cassette-server.ts");
  const server = await startReplayServer({ file, replace: otherInEveryRun });
  return {
    env: {
      ...env,
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: env["ANTHROPIC_API_KEY"] ?? "replayed",
    },
    problems: () => server.replay.misses,
    [Symbol.asyncDispose]: () => server.close(),
  };
}

const sayResult = ({ name, repeat, failures }: EvalResult): string[] => [
  `${failures.length === 0 ? "passed" : "FAILED"}  ${name}${repeat > 1 ? ` (${repeat})` : ""}`,
  ...failures.map((failure) => `  ${failure}`),
];

async function report(
  results: readonly EvalResult[],
  values: EvalValues,
  { cwd, out, version }: Context,
): Promise<number> {
  const rows = rowsOf(results);
  const whole: EvalReport = { keel: version, rows };
  const earlier =
    values.compare === undefined ? undefined : await earlierReport(path.resolve(cwd, values.compare));
  const passed = results.filter(({ failures }) => failures.length === 0).length;
  if (values.json) out.line(toLine(whole));
  else {
    out.line(visible(sayTable(evalTable(rows, earlier), "left")));
    out.line(`${passed} of ${results.length} runs of ${rows.length} rows passed.`);
  }
  if (values.output !== undefined)
    await writeFile(path.resolve(cwd, values.output), `${JSON.stringify(whole, null, 2)}\n`);
  if (values.junit !== undefined)
    await writeFile(
      path.resolve(cwd, values.junit),
      junit(
        "keel eval",
        results.map(({ name, model, prompt, repeat, ms, failures }) => ({
          name: [name, model, prompt, String(repeat)].join(" · "),
          ms,
          failure: failures.length === 0 ? undefined : failures.join("\n"),
        })),
      ),
    );
  return passed === results.length ? exitCodes.ended : exitCodes.turnFailed;
}

async function earlierReport(file: string): Promise<EvalReport> {
  const text = await readFile(file, "utf8").catch(() => {
    throw usage(`${file} cannot be read.`);
  });
  return JSON.parse(text) as EvalReport;
}
