/** A kept session with its agents as a trace, by today's catalog. Only logs are read. */
import { fault } from "../../kernel/fault.ts";
import { openHttp } from "../../models/http.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { otlpMetrics, otlpTraces, spanNames } from "../../time/trace/otlp.ts";
import { tracePage } from "../../time/trace/page.ts";
import { type CallerContext, spansOf, type TracedLog, type TraceSpan } from "../../time/trace/spans.ts";
import { catalogOf } from "../compose/model.ts";
import { readSettings } from "../compose/settings.ts";
import { oneOf } from "../flags/arguments.ts";
import type { SettingsLocation } from "../maintenance/settings-files.ts";
import type { Sessions } from "../sessions/sessions.ts";

export type TraceWish = {
  readonly id: string;
  readonly version: string;
  /** Which text of the conventions is followed. */
  readonly names: string | undefined;
};

type TracePlace = SettingsLocation & { readonly sessions: Sessions };

/** As one page, or as a collector takes it. Throws `session_unknown`. */
export async function writeTrace(
  place: TracePlace,
  { id, version, names }: TraceWish,
  form: "page" | "otlp",
): Promise<string> {
  const options = { version, names: oneOf("names", names, spanNames) ?? "1.41" };
  const spans = await traceSession(place, id);
  return form === "page"
    ? tracePage(spans, `Session ${id}`)
    : `${JSON.stringify(otlpTraces(spans, options))}\n`;
}

/** To a collector, spans and counters. Says how many spans. Throws `session_unknown` and `unreachable`. */
export async function sendTrace(
  place: TracePlace,
  { id, version, names }: TraceWish,
  endpoint: string,
): Promise<number> {
  const options = { version, names: oneOf("names", names, spanNames) ?? "1.41" };
  const spans = await traceSession(place, id);
  await sendOtlp(endpoint, { traces: otlpTraces(spans, options), metrics: otlpMetrics(spans, options) });
  return spans.length;
}

async function traceSession(place: TracePlace, id: string): Promise<readonly TraceSpan[]> {
  if (!(await place.sessions.find(id))) throw fault("session_unknown", { session: id });
  const { settings } = await readSettings(place);
  const catalog = catalogOf(settings);
  return spansOf(await tracedLog(place.sessions, id), {
    providerOf: (model) => catalog.home(catalog.unalias(model)) ?? "unknown",
    caller: callerIn(place.env),
  });
}

async function tracedLog(sessions: Sessions, id: string): Promise<TracedLog> {
  const events: Durable[] = await Array.fromAsync(sessions.read(id));
  const agents: TracedLog[] = [];
  for (const agent of await sessions.list({ parent: id })) agents.push(await tracedLog(sessions, agent.id));
  return { events, agents };
}

/** `TRACEPARENT`, as W3C writes it; undefined for what is none. */
function callerIn(env: Readonly<Record<string, string | undefined>>): CallerContext | undefined {
  const [, traceId, spanId] =
    /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(env["TRACEPARENT"] ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || /^0+$/.test(traceId) || /^0+$/.test(spanId))
    return undefined;
  return { traceId, spanId };
}

/** A collector that does not answer must not be waited for. */
const maxSendMs = 10_000;

/** By OTLP over HTTP, in JSON. Throws `unreachable`. */
async function sendOtlp(
  endpoint: string,
  signals: Readonly<Record<"traces" | "metrics", object>>,
): Promise<void> {
  const base = endpoint.replace(/\/+$/, "");
  if (!/^https?:\/\//.test(base))
    throw fault("usage", { reason: "--send takes an address of http or https." });
  const http = openHttp({ connectMs: maxSendMs, answerMs: maxSendMs });
  try {
    for (const [signal, body] of Object.entries(signals)) {
      const { status, ...answer } = await http.send(
        {
          method: "POST",
          url: `${base}/v1/${signal}`,
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        },
        new AbortController().signal,
      );
      answer.endWithin(maxSendMs);
      await Array.fromAsync(answer.body);
      if (status < 200 || status > 299)
        throw fault("unreachable", { reason: `the collector answered ${status} to ${signal}` });
    }
  } finally {
    http.close();
  }
}
