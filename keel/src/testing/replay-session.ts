/** A recorded session through today's Keel, as a function for tests: what it would send is what was sent, or says where not. */
import { defaultLimits, type Limits } from "../core/limits.ts";
import { type CatalogOptions, catalog } from "../models/catalog.ts";
import { silentModel } from "../models/silent.ts";
import type { Durable } from "../protocol/event/durable.ts";
import type { ToolSpec } from "../protocol/tool.ts";
import { readLogFile } from "../store/jsonl/log-file.ts";
import { replayLog } from "../time/replay/replay.ts";
import type { Replayed } from "../time/replay/replayed.ts";
import { toolHeads } from "../tools/heads.ts";

export type SessionReplayOptions = {
  /** In place of the first part of the recorded system prompt. */
  readonly prompt?: string | undefined;
  /** Tools of yours as they are today. Keel's own are today's anyway, and any other is as it was. */
  readonly tools?: readonly ToolSpec[] | undefined;
  /** Limits of whoever recorded it, where they were others than the usual ones. */
  readonly limits?: Partial<Limits> | undefined;
  /** Models, other names and providers beside those that Keel knows. */
  readonly catalog?: CatalogOptions | undefined;
  /** The last event that is looked at. */
  readonly to?: number | undefined;
};

/** `problems`: what is damaged in the log. */
export type SessionReplay = Replayed & { readonly problems: readonly string[] };

/** `log`: the file that `keel sessions export` wrote, or its events. No socket, no process, no model. */
export async function replaySession(
  log: string | readonly Durable[],
  { prompt, tools = [], limits, catalog: more, to }: SessionReplayOptions = {},
): Promise<SessionReplay> {
  const problems: string[] = [];
  const events = typeof log === "string" ? await readLogFile(log, ({ text }) => problems.push(text)) : log;
  const ours: Readonly<Record<string, { readonly spec: ToolSpec }>> = toolHeads;
  const replayed = await replayLog(
    events,
    {
      model: await silentModel(catalog(more)),
      limits: { ...defaultLimits, ...limits },
      specOf: (name) =>
        tools.find((tool) => tool.name === name) ??
        (Object.hasOwn(ours, name) ? ours[name]?.spec : undefined),
      systemOf: prompt === undefined ? undefined : (recorded) => [prompt, ...recorded.slice(1)],
      // A fork asks in its parent's place.
      cacheKey: events.find((event) => event.type === "context.inherited")?.from.session,
    },
    { to },
  );
  return { ...replayed, problems };
}
