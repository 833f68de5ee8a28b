/** Today's Keel as a replay needs it: its catalog, its wires, its words about tools, its prompt. Nothing is sent. */
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { fault } from "../../kernel/fault.ts";
import type { Catalog } from "../../models/catalog.ts";
import { wireOf } from "../../models/connect.ts";
import { type Provider, type ProviderId, providers, type WireId } from "../../models/providers.ts";
import type { Model, ModelRequest } from "../../ports/model.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import type { RequestSums } from "../../protocol/usage.ts";
import type { ReplayWorld } from "../../time/replay/ports-of-log.ts";
import { toolHeads } from "../../tools/heads.ts";
import { limitsFrom } from "../compose/limits.ts";
import { catalogOf } from "../compose/model.ts";
import { systemPrompt } from "../compose/prompts.ts";
import { readSettings } from "../compose/settings.ts";
import type { SettingsLocation } from "../maintenance/settings-files.ts";

/** What is tried in place of what was recorded. */
export type ReplayChange = {
  /** The first part of the system prompt. */
  readonly prompt?: string | undefined;
};

/** What of settings decides what is sent, and how a session goes on. */
export type ReplaySettings = Pick<
  KeelSettings,
  "models" | "modelAliases" | "outputStyle" | "limits" | "autoCompactEnabled" | "autoCompactWindow"
>;

/** `own`: settings that stand in place of the person's. */
export async function replayWorld(
  place: SettingsLocation,
  { prompt }: ReplayChange,
  own?: ReplaySettings,
): Promise<(events: readonly Durable[]) => ReplayWorld> {
  const settings = own ?? (await readSettings(place)).settings;
  const catalog = catalogOf(settings);
  const wires = await Promise.all(
    providers.flatMap((provider) => wiresOf(provider).map((wire) => silentWire(provider, wire, catalog))),
  );
  const model: ReplayWorld["model"] = {
    info: (name) => wireFor(wires, name, catalog).info(name),
    prepare: (request, recorded) => sumsLike(wires, request, { recorded, catalog }),
  };
  const systemOf = (recorded: readonly string[]): readonly string[] => {
    if (prompt !== undefined) return [prompt, ...recorded.slice(1)];
    // A style of the person's own stands in the place of sections of ours.
    return settings.outputStyle === undefined ? withOwnSections(recorded) : recorded;
  };
  return (events) => ({
    model,
    limits: limitsFrom(settings),
    specOf: (name) => (Object.hasOwn(toolHeads, name) ? heads[name]?.spec : undefined),
    systemOf: isAgents(events) ? undefined : systemOf,
    // A fork asks in its parent's place.
    cacheKey: events.find((event) => event.type === "context.inherited")?.from.session,
  });
}

const heads: Readonly<Record<string, (typeof toolHeads)[keyof typeof toolHeads]>> = toolHeads;

/** Its prompt is that of its definition. */
const isAgents = (events: readonly Durable[]): boolean =>
  events.some((event) => event.type === "session.opened" && event.parent !== undefined);

const everywhere = { cwd: "/", roots: [], platform: "", location: "elsewhere" } as const;

/** Our own sections as they are today, where the recorded prompt begins as ours do. */
function withOwnSections(recorded: readonly string[]): readonly string[] {
  const [first = "", ...rest] = recorded;
  const opening = (text: string): string => text.split("\n\n")[0] ?? "";
  const own = [systemPrompt(everywhere), systemPrompt({ ...everywhere, role: "coordinator" })].map(
    ([text = ""]) => text,
  );
  const today = own.find((text) => opening(text) === opening(first));
  return today === undefined ? recorded : [today, ...rest];
}

type SilentWire = Pick<Model, "info" | "prepare"> & { readonly provider: ProviderId };

/** What may have been spoken to it, likely first: a log does not say whether it was asked at its own address. */
const wiresOf = ({ wire, wireAtHome }: Provider): readonly WireId[] =>
  wireAtHome === undefined ? [wire] : [wireAtHome, wire];

/** A wire that writes requests, and has nowhere to send them. */
async function silentWire(
  { id: provider, baseUrl }: Provider,
  wire: WireId,
  catalog: Catalog,
): Promise<SilentWire> {
  const { open } = await wireOf(wire);
  const model = open({
    endpoint: { provider, baseUrl, wire },
    catalog,
    http: async () => {
      throw fault("unexpected", { reason: "a replay sends nothing" });
    },
    now: () => 0,
  });
  return { provider, info: (name) => model.info(name), prepare: (request) => model.prepare?.(request) };
}

function wireFor(wires: readonly SilentWire[], name: string, { unalias, home }: Catalog): SilentWire {
  const owner = home(unalias(name));
  const found = wires.find(({ provider }) => provider === owner) ?? wires[0];
  if (!found) throw fault("no_model", { reason: "there is no wire." });
  return found;
}

/** A log does not say by which wire a request went: a gateway has models of any name. The one whose bytes fit is meant. */
async function sumsLike(
  wires: readonly SilentWire[],
  request: ModelRequest,
  { recorded, catalog }: { readonly recorded: RequestSums | undefined; readonly catalog: Catalog },
): Promise<RequestSums | undefined> {
  const likely = wireFor(wires, request.model, catalog);
  const first = await likely.prepare?.(request);
  if (!recorded || first?.body.digest === recorded.body.digest) return first;
  for (const wire of wires) {
    const sums = wire === likely ? undefined : await wire.prepare?.(request);
    if (sums?.body.digest === recorded.body.digest) return sums;
  }
  return first;
}
