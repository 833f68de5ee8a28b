/** What Keel finds on this machine and would use: facts for a person with a question, without any secret. */
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import path from "node:path";
import { Instructions } from "../../config/definitions/instructions.ts";
import { type EnvironmentVariables, pathsOf, userHome } from "../../config/settings/paths.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { defaultLimits } from "../../core/limits.ts";
import { lateSignal } from "../../kernel/deadline.ts";
import { toFault } from "../../kernel/fault.ts";
import type { SandboxFacts } from "../../ports/sandbox.ts";
import {
  describeProcessGuard,
  type ProcessGuard,
  sayProcessGuard,
} from "../../workspace/processes/process-guard.ts";
import { findSearchProgram } from "../../workspace/search/search-program.ts";
import { guardMode } from "../compose/home-resources.ts";
import { readLibrary } from "../compose/library.ts";
import { wantsSandbox } from "../compose/mode.ts";
import { localServers, openModel } from "../compose/model.ts";
import { readSettings, type SettingsInForce, sayCounts } from "../compose/settings.ts";
import { nodeClock } from "../node-ports.ts";
import { storedKeys, withKeys } from "./keys.ts";

export type Finding = {
  readonly name: string;
  /** `bad` keeps Keel from answering; `note` is worth knowing. */
  readonly state: "ok" | "note" | "bad";
  readonly says: string;
};

export type DoctorOptions = {
  readonly env: EnvironmentVariables;
  readonly cwd: string;
  readonly version: string;
  readonly model?: string | undefined;
};

export async function examine(options: DoctorOptions): Promise<Finding[]> {
  const paths = pathsOf(options);
  const inForce = await readSettings(options);
  const { faults, trust, env, settings } = inForce;
  return [
    { name: "keel", state: "ok", says: options.version },
    {
      name: "runtime",
      state: "ok",
      says: `Node ${process.versions.node} (${process.execPath}) on ${process.platform} ${process.arch}`,
    },
    await home(paths.home),
    ...faults.map(({ message }): Finding => ({ name: "settings", state: "note", says: message })),
    await folder(options.cwd),
    trustOf(trust),
    ...(await files(options, inForce)),
    ...(await model(options, inForce)),
    ...(await local()),
    await shell(options.env),
    await search(options.env),
    await guard(env, settings),
    ...(await confined(env, inForce)),
  ];
}

async function guard(env: EnvironmentVariables, settings: KeelSettings): Promise<Finding> {
  const facts = await describeProcessGuard({ env, wish: guardMode(env, settings) });
  return { name: "guard", state: facts.kind === "namespace" ? "ok" : "note", says: sayProcessGuard(facts) };
}

/** What the kernel confines here, whether it is on or not; and each hole that the settings make in it. */
async function confined(
  env: EnvironmentVariables,
  { settings, entries }: SettingsInForce,
): Promise<Finding[]> {
  const [{ openProcessGuard }, { LocalSandbox }] = await Promise.all([
    import("../../workspace/processes/process-guard.ts"),
    import("../../workspace/sandbox/sandbox.ts"),
  ]);
  const guard = openProcessGuard({ env, wish: guardMode(env, settings) });
  try {
    const facts = await new LocalSandbox({ env, guard }).describe();
    return [
      ...sandboxFindings(facts, { wishes: settings.sandbox, isOn: wantsSandbox(entries) }),
      programFinding(await tryProgram(env, guard), settings.programTool === true),
    ];
  } finally {
    await guard.close();
  }
}

/** What programs run by, or why they cannot. */
export type ProgramTrial =
  | { readonly engine: string; readonly bounds: readonly string[] }
  | { readonly why: string };

/** One is run: that there are namespaces does not say that Node starts in them. */
async function tryProgram(env: EnvironmentVariables, guard: ProcessGuard): Promise<ProgramTrial> {
  const { confinedPrograms, programBounds } = await import("../../workspace/programs/confined-programs.ts");
  const programs = confinedPrograms(env, guard);
  const why = await programs.whyNot();
  if (why !== undefined) return { why };
  const noCalls = async () => ({ failed: true, text: "" });
  const code = "return process.versions.node;";
  using late = lateSignal(nodeClock(), maxTrialMs);
  const { failed, words } = await programs.run({ code, call: noCalls }, late.signal);
  return failed ? { why: words } : { engine: `Node ${words}`, bounds: programBounds };
}

const maxTrialMs = 10_000;

export function programFinding(trial: ProgramTrial, isOn: boolean): Finding {
  const name = "programs";
  const is = isOn ? "on" : "off (`programTool`)";
  if ("why" in trial) return { name, state: "note", says: `${is}; RunProgram cannot run here: ${trial.why}` };
  const bounds = [...trial.bounds, `${defaultLimits.innerCalls} calls for the programs of one reply`];
  const how = `${trial.engine} in namespaces, without files or network; at most ${bounds.join(", ")}`;
  return { name, state: isOn ? "ok" : "note", says: `${is}; ${isOn ? "" : "they could run: "}${how}` };
}

export function sandboxFindings(
  { layer, why, weaknesses, bubblewrap }: SandboxFacts,
  { wishes = {}, isOn }: { wishes: KeelSettings["sandbox"]; isOn: boolean },
): Finding[] {
  const name = "sandbox";
  const can =
    layer === "none"
      ? `this machine cannot confine them: ${why}`
      : `by ${layer}: files outside of the workspace read-only, secrets unseen, no network of its own`;
  const state = isOn ? (layer === "none" ? (wishes.failIfUnavailable ? "bad" : "note") : "ok") : "note";
  const says = isOn
    ? layer === "none"
      ? `on, but ${can}`
      : `on, ${can}`
    : `off: commands run with your rights; ${layer === "none" ? can : `it could confine them ${can}`}`;
  const excluded = wishes.excludedCommands ?? [];
  const notes = [
    ...weaknesses,
    ...(excluded.length > 0 ? [`these run outside of it: ${excluded.join(", ")}`] : []),
    ...(wishes.network?.allowAllUnixSockets ? ["every socket in the file system can be connected to"] : []),
    ...(bubblewrap
      ? [
          `bubblewrap ${bubblewrap.version} is installed and not used; CVE-2026-87766 is ${bubblewrap.hole} in it`,
        ]
      : []),
  ];
  return [{ name, state, says }, ...notes.map((note): Finding => ({ name, state: "note", says: note }))];
}

/** Where it would be made counts when it is not there yet. Nothing is written to find out. */
async function home(place: string): Promise<Finding> {
  for (let at = place; ; at = path.dirname(at)) {
    const found = await stat(at).catch(() => undefined);
    if (!found && at !== path.dirname(at)) continue;
    const isWritable = found?.isDirectory() === true && (await may(at, constants.W_OK | constants.X_OK));
    const where = at === place ? place : `${place} (not there yet)`;
    return {
      name: "home",
      state: isWritable ? "ok" : "bad",
      says: `${where}, ${isWritable ? "writable" : "not writable: no session can be kept"}`,
    };
  }
}

async function folder(cwd: string): Promise<Finding> {
  const isWritable = await may(cwd, constants.W_OK);
  return {
    name: "folder",
    state: isWritable ? "ok" : "note",
    says: `${cwd}, ${isWritable ? "writable" : "read-only"}`,
  };
}

/** Instructions, skills, commands, agents and plugins that a session would leave out, each with its reason. */
async function files(options: DoctorOptions, { trust }: SettingsInForce): Promise<Finding[]> {
  const paths = pathsOf(options);
  const instructions = new Instructions({
    paths,
    userHome: userHome(options.env),
    trust,
    mayRead: async () => true,
  });
  await instructions.start();
  const library = await readLibrary({ paths, cwd: options.cwd, trust });
  return [...instructions.problems, ...library.problems].map((says) => ({
    name: "files",
    state: "note",
    says,
  }));
}

function trustOf({ root, state, waiting }: SettingsInForce["trust"]): Finding {
  const trusted = state === "untrusted" ? "not trusted" : "trusted";
  const left = waiting.length === 0 ? "" : `, ${sayCounts(waiting)} left out: \`keel trust\` shows more`;
  return { name: "trust", state: left === "" ? "ok" : "note", says: `${root} is ${trusted}${left}` };
}

async function model(
  { env: started, cwd, model: name }: DoctorOptions,
  { settings, env }: SettingsInForce,
): Promise<Finding[]> {
  try {
    const keys = await storedKeys({ env: started, cwd });
    const request = { name, env, settings: withKeys(settings, keys, env), keys };
    const { facts, catalog, close } = await openModel(request, nodeClock());
    close();
    const known = catalog.isKnown(facts.model) ? "" : ", which Keel does not know: no prices, careful limits";
    return [
      { name: "model", state: "ok", says: `${facts.model} at ${facts.provider} (${facts.baseUrl})${known}` },
      {
        name: "key",
        state: facts.keySource === "none" ? "note" : "ok",
        says: facts.keySource === "none" ? "none" : `present, from ${facts.keySource}`,
      },
    ];
  } catch (thrown) {
    const { message, hint } = toFault(thrown);
    return [{ name: "model", state: "bad", says: `${message} ${hint}` }];
  }
}

/** Servers of models on this machine, whether they are used or not; none is no finding. */
async function local(): Promise<Finding[]> {
  const { sayLocalModel } = await import("../../models/local-servers.ts");
  return (await localServers(nodeClock())).map(({ name, baseUrl, models }) => ({
    name: "local",
    state: "ok",
    says: `${name} at ${baseUrl}: ${models.slice(0, maxShown).map(sayLocalModel).join(", ") || "no model yet"}${models.length > maxShown ? ` and ${models.length - maxShown} more` : ""}`,
  }));
}

const maxShown = 10;

async function search(env: EnvironmentVariables): Promise<Finding> {
  const found = await findSearchProgram(env);
  if (!found) return { name: "search", state: "note", says: "no ripgrep (rg): Glob and Grep cannot work" };
  const from = found.from === "package" ? "comes with Keel" : "from the path";
  return { name: "search", state: "ok", says: `${found.file} (${from})` };
}

async function shell(env: EnvironmentVariables): Promise<Finding> {
  const places = (env["PATH"] ?? "").split(path.delimiter).filter((place) => path.isAbsolute(place));
  for (const file of ["bash", "sh"].flatMap((name) => places.map((place) => path.join(place, name))))
    if (await may(file, constants.X_OK)) return { name: "shell", state: "ok", says: file };
  return { name: "shell", state: "note", says: "commands cannot run" };
}

const may = (place: string, what: number): Promise<boolean> =>
  access(place, what).then(
    () => true,
    () => false,
  );
