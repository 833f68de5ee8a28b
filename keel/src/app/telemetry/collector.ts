/** A collector of OpenTelemetry: spans and counters by OTLP over HTTP, in JSON. */
import { fault, toFault } from "../../kernel/fault.ts";
import { type HttpOptions, openHttp } from "../../models/http.ts";
import { type OtlpOptions, otlpMetrics, otlpTraces } from "../../time/trace/otlp.ts";
import type { TraceSpan } from "../../time/trace/spans.ts";

export type CollectorWish = OtlpOptions & {
  /** `/v1/traces` and `/v1/metrics` are put behind it. */
  readonly endpoint: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly proxyEnv?: HttpOptions["proxyEnv"];
};

/** `later`: it may take them another time. `refused`: it never will. */
export type SpanDelivery =
  | { readonly kind: "taken" }
  | { readonly kind: "later"; readonly why: string; readonly afterMs?: number | undefined }
  | { readonly kind: "refused"; readonly why: string };

export type SpanCollector = {
  /** One after the other. Never throws. */
  send(spans: readonly TraceSpan[], signal: AbortSignal): Promise<SpanDelivery>;
  close(): void;
};

/** One that does not answer is not waited for. */
const maxMs = 10_000;

/** Throws `usage` for what is no address. */
export function openCollector({ endpoint, headers, proxyEnv, ...options }: CollectorWish): SpanCollector {
  const base = endpoint.replace(/\/+$/, "");
  if (!/^https?:\/\//.test(base) || !URL.canParse(base))
    throw fault("usage", { reason: `${JSON.stringify(endpoint)} is no address of http or https.` });
  const http = openHttp({ connectMs: maxMs, answerMs: maxMs, proxyEnv });
  const post = async (
    signal: "traces" | "metrics",
    body: object,
    stop: AbortSignal,
  ): Promise<SpanDelivery> => {
    const { status, ...answer } = await http.send(
      {
        method: "POST",
        url: `${base}/v1/${signal}`,
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(body),
      },
      stop,
    );
    answer.endWithin(maxMs);
    // Read, so that the connection can be used again, and not kept.
    for await (const _ of answer.body);
    return deliveryOf(status, `the collector answered ${status} to ${signal}`, answer.header("retry-after"));
  };
  return {
    async send(spans, stop) {
      try {
        const traces = await post("traces", otlpTraces(spans, options), stop);
        if (traces.kind !== "taken") return traces;
        // Spans that it has are not sent again for the sake of counters.
        await post("metrics", otlpMetrics(spans, options), stop).catch(() => undefined);
        return traces;
      } catch (thrown) {
        return { kind: "later", why: toFault(thrown).message };
      }
    },
    close: () => http.close(),
  };
}

/** As the protocol has it: these few may be tried again. */
const passing: readonly number[] = [408, 429, 502, 503, 504];

function deliveryOf(status: number, why: string, retryAfter: string | undefined): SpanDelivery {
  if (status >= 200 && status <= 299) return { kind: "taken" };
  // A server that fails without saying how may be well again tomorrow.
  if (!passing.includes(status) && status < 500) return { kind: "refused", why };
  const seconds = Number(retryAfter);
  return { kind: "later", why, afterMs: Number.isFinite(seconds) ? seconds * 1_000 : undefined };
}
