/** Spans as OTLP writes them in JSON, with counters of what they say: what every collector takes by plain HTTP. */
import type { SpanValue, TraceSpan } from "./spans.ts";

/** Which text of the conventions is followed: the last that the core had, or that of their own repository. */
export const spanNames = ["1.41", "genai-main"] as const;
export type SpanNames = (typeof spanNames)[number];

const schemaUrls: Readonly<Record<SpanNames, string>> = {
  "1.41": "https://opentelemetry.io/schemas/1.41.0",
  "genai-main": "https://github.com/open-telemetry/semantic-conventions-genai",
};

export type OtlpOptions = { readonly version: string; readonly names: SpanNames };

export function otlpTraces(spans: readonly TraceSpan[], { version, names }: OtlpOptions): object {
  return {
    resourceSpans: [
      {
        resource: resourceOf(version),
        scopeSpans: [
          { scope: { name: "keel", version }, schemaUrl: schemaUrls[names], spans: spans.map(otlpSpan) },
        ],
      },
    ],
  };
}

function otlpSpan(span: TraceSpan): object {
  const { traceId, spanId, parentId, name, kind, startMs, endMs, attributes, error } = span;
  return {
    traceId,
    spanId,
    ...(parentId === undefined ? {} : { parentSpanId: parentId }),
    name,
    kind: kind === "client" ? 3 : 1,
    startTimeUnixNano: nanos(startMs),
    endTimeUnixNano: nanos(endMs),
    attributes: keyValues(attributes),
    status: error === undefined ? {} : { code: 2, message: error },
  };
}

/** How the token counts of a request are told apart, by each text. */
const tokenKinds = [
  ["input", "gen_ai.usage.input_tokens"],
  ["output", "gen_ai.usage.output_tokens"],
] as const;

export function otlpMetrics(spans: readonly TraceSpan[], { version, names }: OtlpOptions): object {
  const requests = spans.filter(({ name }) => name.startsWith("chat "));
  const tokens = requests.flatMap((span) =>
    tokenKinds.flatMap(([type, attribute]) => {
      const value = span.attributes[attribute];
      return typeof value === "number" ? [{ span, value, more: { "gen_ai.token.type": type } }] : [];
    }),
  );
  const costs = requests.flatMap((span) => {
    const value = span.attributes["keel.cost_usd"];
    return typeof value === "number" ? [{ span, value, more: {} }] : [];
  });
  const durations = spans
    .filter(({ attributes }) => attributes["gen_ai.operation.name"] !== undefined)
    .map((span) => ({ span, value: (span.endMs - span.startMs) / 1000, more: errorsOf(span) }));
  const metrics = [
    names === "1.41"
      ? { name: "gen_ai.client.token.usage", unit: "{token}", histogram: histogram(tokens, tokenBounds) }
      : { name: "gen_ai.client.inference.tokens", unit: "{token}", sum: counter(tokens) },
    { name: "gen_ai.client.operation.duration", unit: "s", histogram: histogram(durations, secondBounds) },
    { name: "keel.cost", unit: "USD", sum: counter(costs) },
  ];
  return {
    resourceMetrics: [
      {
        resource: resourceOf(version),
        scopeMetrics: [{ scope: { name: "keel", version }, schemaUrl: schemaUrls[names], metrics }],
      },
    ],
  };
}

type Measured = {
  readonly span: TraceSpan;
  readonly value: number;
  readonly more: Readonly<Record<string, SpanValue>>;
};

const errorsOf = ({ error }: TraceSpan): Record<string, SpanValue> =>
  error === undefined ? {} : { "error.type": error };

/** The buckets that the conventions advise. */
const tokenBounds = [
  1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
];
const secondBounds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/** Only what happened in this stretch: whoever adds them up has the whole. */
const delta = 1;

function series(measured: readonly Measured[]): { attributes: object[]; values: number[]; times: object }[] {
  const labels = [
    "gen_ai.operation.name",
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "gen_ai.response.model",
  ];
  const groups = Map.groupBy(measured, ({ span, more }) => {
    const known = labels.flatMap((label): [string, SpanValue][] => {
      const value = span.attributes[label];
      return value === undefined ? [] : [[label, value]];
    });
    return JSON.stringify({ ...Object.fromEntries(known), ...more });
  });
  return [...groups].map(([key, each]) => ({
    attributes: keyValues(JSON.parse(key)),
    values: each.map(({ value }) => value),
    times: {
      startTimeUnixNano: nanos(Math.min(...each.map(({ span }) => span.startMs))),
      timeUnixNano: nanos(Math.max(...each.map(({ span }) => span.endMs))),
    },
  }));
}

const counter = (measured: readonly Measured[]): object => ({
  aggregationTemporality: delta,
  isMonotonic: true,
  dataPoints: series(measured).map(({ attributes, values, times }) => ({
    attributes,
    ...times,
    asDouble: values.reduce((sum, value) => sum + value, 0),
  })),
});

const histogram = (measured: readonly Measured[], bounds: readonly number[]): object => ({
  aggregationTemporality: delta,
  dataPoints: series(measured).map(({ attributes, values, times }) => ({
    attributes,
    ...times,
    count: String(values.length),
    sum: values.reduce((sum, value) => sum + value, 0),
    explicitBounds: bounds,
    bucketCounts: [...bounds, Number.POSITIVE_INFINITY].map((bound, at) =>
      String(
        values.filter((value) => value <= bound && value > (bounds[at - 1] ?? Number.NEGATIVE_INFINITY))
          .length,
      ),
    ),
  })),
});

const resourceOf = (version: string): object => ({
  attributes: keyValues({ "service.name": "keel", "service.version": version }),
});

/** As text: a count of nanoseconds is more than a number can hold. */
const nanos = (ms: number): string => `${BigInt(Math.round(ms)) * 1_000_000n}`;

const keyValues = (attributes: Readonly<Record<string, SpanValue>>): object[] =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    // A sum of money is never a whole number by its kind, also where it is one.
    value: key.endsWith("_usd") ? { doubleValue: value } : otlpValue(value),
  }));

function otlpValue(value: SpanValue): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number")
    return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map((text) => ({ stringValue: text })) } };
}
