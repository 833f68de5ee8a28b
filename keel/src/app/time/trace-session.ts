/** A kept session with its agents as a trace, by today's catalog. Only logs are read. */
import { fault } from "../../kernel/fault.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { readTraceparent } from "../../protocol/trace.ts";
import { otlpTraces, spanNames } from "../../time/trace/otlp.ts";
import { tracePage } from "../../time/trace/page.ts";
import { spansOf, type TracedLog, type TraceSpan } from "../../time/trace/spans.ts";
import { catalogOf } from "../compose/model.ts";
import { readSettings } from "../compose/settings.ts";
import { oneOf } from "../flags/arguments.ts";
import { allSecrets } from "../maintenance/keys.ts";
import type { SettingsLocation } from "../maintenance/settings-files.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { openCollector } from "../telemetry/collector.ts";
import { growingCover } from "./scrub-logs.ts";

export type TraceWish = {
  readonly id: string;
  readonly version: string;
  /** Which text of the conventions is followed. */
  readonly names: string | undefined;
  /** Whether what was said goes along, without secrets. */
  readonly contents?: boolean | undefined;
};

type TracePlace = SettingsLocation & { readonly sessions: Sessions };

/** As one page, or as a collector takes it. Throws `session_unknown`. */
export async function writeTrace(
  place: TracePlace,
  { id, version, names, contents }: TraceWish,
  form: "page" | "otlp",
): Promise<string> {
  const options = { version, names: oneOf("names", names, spanNames) ?? "1.41" };
  const spans = await traceSession(place, id, contents);
  return form === "page"
    ? tracePage(spans, `Session ${id}`)
    : `${JSON.stringify(otlpTraces(spans, options))}\n`;
}

/** To a collector, spans and counters. Says how many spans. Throws `session_unknown` and `unreachable`. */
export async function sendTrace(
  place: TracePlace,
  { id, version, names, contents }: TraceWish,
  endpoint: string,
): Promise<number> {
  const options = { version, names: oneOf("names", names, spanNames) ?? "1.41" };
  const spans = await traceSession(place, id, contents);
  const collector = openCollector({ endpoint, ...options });
  try {
    const delivery = await collector.send(spans, new AbortController().signal);
    if (delivery.kind !== "taken") throw fault("unreachable", { reason: delivery.why });
  } finally {
    collector.close();
  }
  return spans.length;
}

async function traceSession(place: TracePlace, id: string, contents = false): Promise<readonly TraceSpan[]> {
  if (!(await place.sessions.find(id))) throw fault("session_unknown", { session: id });
  const { settings } = await readSettings(place);
  const catalog = catalogOf(settings);
  return spansOf(await tracedLog(place.sessions, id), {
    providerOf: (model) => catalog.home(catalog.unalias(model)) ?? "unknown",
    caller: readTraceparent(place.env["TRACEPARENT"]),
    contents: contents ? growingCover(allSecrets(place)) : undefined,
  });
}

async function tracedLog(sessions: Sessions, id: string): Promise<TracedLog> {
  const events: Durable[] = await Array.fromAsync(sessions.read(id));
  const agents: TracedLog[] = [];
  for (const agent of await sessions.list({ parent: id })) agents.push(await tracedLog(sessions, agent.id));
  return { events, agents };
}
