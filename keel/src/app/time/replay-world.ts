/** Today's Keel as a replay needs it: its catalog, its wires, its words about tools, its prompt. Nothing is sent. */
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { silentModel } from "../../models/silent.ts";
import type { Durable } from "../../protocol/event/durable.ts";
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
  const model = await silentModel(catalog);
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
