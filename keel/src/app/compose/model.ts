/** The model of a session: found by its sources, connected once, and handed to the engine as one port. */
import path from "node:path";
import { type EnvironmentVariables, userHome } from "../../config/settings/paths.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { lateSignal } from "../../kernel/deadline.ts";
import { Fault, fault } from "../../kernel/fault.ts";
import { type Catalog, catalog } from "../../models/catalog.ts";
import { loadAhead } from "../../models/connect.ts";
import { readEndpoints } from "../../models/endpoints.ts";
import { type Http, openHttp } from "../../models/http.ts";
import type { LocalModelServer } from "../../models/local-servers.ts";
import { type Endpoint, providersWith } from "../../models/providers.ts";
import { type ResolvedModel, resolveModel, resolveNamed } from "../../models/resolve.ts";
import { routedModel } from "../../models/router.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Model } from "../../ports/model.ts";
import type { LogNotice } from "../../ports/store.ts";
import type { Command } from "../../protocol/command.ts";
import type { SessionSettings, SettingsPatch } from "../../protocol/settings.ts";
import type { ModelInfo } from "../../protocol/usage.ts";
import type { Keys } from "../maintenance/keys.ts";
import type { SettingsLocation } from "../maintenance/settings-files.ts";
import { readSettings } from "./settings.ts";

export type OpenModelRequest = {
  /** `--model`. */
  readonly name?: string | undefined;
  /** The model of the session that goes on. */
  readonly logged?: string | undefined;
  readonly env: EnvironmentVariables;
  readonly settings: KeelSettings;
  /** What the provider is to try out. */
  readonly betas?: readonly string[] | undefined;
  /** Keys that Keel keeps; they are in the settings already. */
  readonly keys?: Keys | undefined;
  /** In place of every model. */
  readonly answers?: Model | undefined;
};

export type OpenModel = {
  readonly port: Model;
  readonly catalog: Catalog;
  readonly facts: ModelFacts;
  close(): void;
};

/** What may be shown: never the key. */
export type ModelFacts = {
  readonly model: string;
  readonly provider: string;
  readonly baseUrl: string;
  /** The name of the variable in the environment, `settings`, `keychain`, `auth.json`, or `none`. */
  readonly keySource: string;
};

/** A server that is asked which models it has must answer soon: nothing has begun yet. */
const listMs = 15_000;
/** One on this machine answers at once or is not there. */
const localMs = 1_500;

/** Throws `no_model`, `key_missing`, `unreachable` or `usage`. */
export async function openModel(request: OpenModelRequest, clock: Clock): Promise<OpenModel> {
  if (request.answers) return answering(request, request.answers);
  const http = openHttp({ proxyEnv: proxyIn(request.env) });
  const written = catalogOf(request.settings);
  try {
    const resolved = await resolve(request, written, async (endpoint) => {
      const { listModels } = await import("../../models/list-models.ts");
      return answered(clock, listMs, (signal) => listModels(endpoint, http.send, signal));
    });
    const known = await withLocal(resolved, { written, settings: request.settings, http: http.send, clock });
    loadAhead(resolved.endpoint);
    return {
      port: routedModel({
        home: resolved.endpoint,
        endpoints: endpointsIn(request),
        catalog: known,
        http: http.send,
        now: clock.now,
        betas: request.betas,
      }),
      catalog: known,
      facts: factsOf(resolved, request),
      close: http.close,
    };
  } catch (thrown) {
    http.close();
    throw await withOffer(thrown, request, clock);
  }
}

/** Nothing is looked for, and nothing is connected. */
function answering({ name, logged, settings }: OpenModelRequest, port: Model): OpenModel {
  const known = catalogOf(settings);
  const model = known.unalias(name ?? logged ?? settings.model ?? "");
  const facts = { model, provider: "none", baseUrl: "", keySource: "none" };
  return { port, catalog: known, facts, close: () => undefined };
}

/** Whoever has set up nothing, and has a server of models on this machine, is told how to use it. */
async function withOffer(thrown: unknown, request: OpenModelRequest, clock: Clock): Promise<unknown> {
  if (!(thrown instanceof Fault) || thrown.code !== "no_model" || endpointsIn(request).length > 0)
    return thrown;
  const offers = (await localServers(clock)).map(
    ({ name, baseUrl, models }) =>
      `${name} answers at ${baseUrl}${models[0] ? ` with ${models[0].id}` : ""}: OPENAI_BASE_URL=${baseUrl} uses it.`,
  );
  if (offers.length === 0) return thrown;
  return fault("no_model", { reason: `there is no key and no base URL. ${offers.join(" ")}` });
}

/** A server on this machine is asked what its models hold and can do; what the settings say of them counts more. */
async function withLocal(
  { model, endpoint }: ResolvedModel,
  { written, settings, http, clock }: { written: Catalog; settings: KeelSettings; http: Http; clock: Clock },
): Promise<Catalog> {
  if (written.isKnown(model) || !/^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):/.test(endpoint.baseUrl))
    return written;
  const { askEndpoint } = await import("../../models/local-servers.ts");
  using late = lateSignal(clock, localMs);
  const told = await askEndpoint(endpoint, http, late.signal);
  return told.length === 0
    ? written
    : catalogOf({ ...settings, models: [...told, ...(settings.models ?? [])] });
}

/** What runs on this machine and could be asked. Never throws. */
export async function localServers(clock: Clock): Promise<readonly LocalModelServer[]> {
  const { findLocalServers } = await import("../../models/local-servers.ts");
  const http = openHttp();
  using late = lateSignal(clock, localMs);
  try {
    return await findLocalServers(http.send, late.signal);
  } finally {
    http.close();
  }
}

/** The fallbacks that can be asked, by the names under which they are asked, and why the others cannot. */
export function usableFallbacks(
  names: readonly string[],
  request: Pick<OpenModelRequest, "env" | "settings">,
): { readonly usable: readonly string[]; readonly problems: readonly string[] } {
  const endpoints = endpointsIn(request);
  const known = catalogOf(request.settings);
  const usable: string[] = [];
  const problems: string[] = [];
  for (const name of names) {
    const found = resolveNamed(name, endpoints, known);
    if (found.ok) usable.push(found.value.model);
    else problems.push(`The fallback ${name} is left out: ${found.error.message} ${found.error.hint}`);
  }
  return { usable, problems };
}

export const catalogOf = ({ models, modelAliases, providers: named }: KeelSettings): Catalog =>
  catalog({ extra: models, aliases: modelAliases, providers: providersWith(named) });

/** A port whose model is connected later: a log is opened before it is known which model it was written with. */
export function lateModel(): Model & { connect(model: Model): void } {
  let connected: Model | undefined;
  const model = (): Model => {
    if (!connected) throw fault("no_model", { reason: "it is not connected yet." });
    return connected;
  };
  return {
    info: (name) => model().info(name),
    prepare: (request) => connected?.prepare?.(request),
    stream: (request, signal) => model().stream(request, signal),
    connect(found) {
      connected = found;
    },
  };
}

/** `now`: what the session has by then. */
export type WishPlace = { readonly now: SessionSettings | null; readonly tools: "some" | "none" };

/** What was said just now, and what was said before of another model, that this one does not take. */
export async function unmetBy(
  { port, facts }: OpenModel,
  said: Pick<SettingsPatch, "model" | "thinking" | "effort">,
  { now, tools }: WishPlace,
): Promise<LogNotice[]> {
  if (said.model === undefined && said.thinking === undefined && said.effort === undefined) return [];
  const { unmetWishes } = await import("./wishes.ts");
  const wishes = said.model === undefined ? said : { thinking: now?.thinking, effort: now?.effort, ...said };
  return unmetWishes(wishes, port.info(said.model ?? now?.model ?? facts.model), tools);
}

type ListModels = Parameters<typeof resolveModel>[1]["list"];

/** None when they cannot be read: that is said when the session's own model is looked for. */
function endpointsIn({ env, settings }: Pick<OpenModelRequest, "env" | "settings">): readonly Endpoint[] {
  const found = readEndpoints({ env, providers: settings.providers, packageFolders: packageFolders(env) });
  return found.ok ? found.value : [];
}

/** A package that settings name is looked for in Keel's own home; beside Keel it is found anyway. Never in a project. */
function packageFolders(env: EnvironmentVariables): readonly string[] {
  const home = env["KEEL_HOME"]?.trim() || path.join(userHome(env), ".keel");
  return path.isAbsolute(home) ? [home] : [];
}

async function resolve(
  { name, logged, env, settings }: OpenModelRequest,
  known: Catalog,
  list: ListModels,
): Promise<ResolvedModel> {
  const sources = {
    flag: name,
    logged,
    env,
    settingsModel: settings.model,
    providers: settings.providers,
    packageFolders: packageFolders(env),
  };
  const resolved = await resolveModel(sources, { catalog: known, list });
  if (!resolved.ok) throw resolved.error;
  return resolved.value;
}

function factsOf({ model, endpoint }: ResolvedModel, { env, keys, settings }: OpenModelRequest): ModelFacts {
  const names =
    providersWith(settings.providers).find(({ id }) => id === endpoint.provider)?.credentialNames ?? [];
  const variable = names.find(({ name }) => env[name]?.trim())?.name;
  const kept = keys?.found.get(endpoint.provider);
  const ours = kept && kept.key === endpoint.credential?.value ? kept.from : "settings";
  const keySource = endpoint.credential === undefined ? "none" : (variable ?? ours);
  return { model, provider: endpoint.provider, baseUrl: endpoint.baseUrl, keySource };
}

async function answered<T>(clock: Clock, ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  using late = lateSignal(clock, ms);
  try {
    return await work(late.signal);
  } catch (thrown) {
    if (!late.signal.aborted) throw thrown;
    throw fault("unreachable", {
      reason: `it did not list its models within ${ms / 1000} seconds`,
      cause: thrown,
    });
  }
}

/** Only what the user's environment says, and nothing when it says nothing. */
export function proxyIn(env: EnvironmentVariables): EnvironmentVariables | undefined {
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"];
  const found = names.filter((name) => env[name]);
  return found.length === 0 ? undefined : Object.fromEntries(found.map((name) => [name, env[name]]));
}

/** The models that Keel knows, with what the user's settings add. */
export async function knownModels(place: SettingsLocation): Promise<readonly ModelInfo[]> {
  const { settings } = await readSettings(place);
  return catalogOf(settings).list();
}

/** "default" is no model: hosts offer it by that name, and mean the one that the session began with. */
export const withModel = (command: Command, model: string): Command =>
  command.type === "set" && command.patch.model === "default"
    ? { ...command, patch: { ...command.patch, model } }
    : command;
