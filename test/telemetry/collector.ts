// A collector on the loopback: what it has by id, how often each came, and answers as a test wants them.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import * as z from "zod/mini";

const id = (length: number) => z.string().check(z.regex(new RegExp(`^[0-9a-f]{${length}}$`)));
const nanos = z.string().check(z.regex(/^\d{16,}$/));
const value = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: z.string().check(z.regex(/^-?\d+$/)) }),
  z.strictObject({ doubleValue: z.number() }),
  z.strictObject({
    arrayValue: z.strictObject({ values: z.array(z.strictObject({ stringValue: z.string() })) }),
  }),
]);
const attributes = z.array(z.strictObject({ key: z.string(), value }));
const spanSchema = z.strictObject({
  traceId: id(32),
  spanId: id(16),
  parentSpanId: z.optional(id(16)),
  name: z.string(),
  kind: z.union([z.literal(1), z.literal(3)]),
  startTimeUnixNano: nanos,
  endTimeUnixNano: nanos,
  attributes,
  status: z.union([z.strictObject({}), z.strictObject({ code: z.literal(2), message: z.string() })]),
});
const scope = z.strictObject({ name: z.string(), version: z.string() });
/** By the published definitions of the protocol, in its form as JSON. */
const tracesSchema = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes }),
      scopeSpans: z.array(z.strictObject({ scope, schemaUrl: z.string(), spans: z.array(spanSchema) })),
    }),
  ),
});
const points = { startTimeUnixNano: nanos, timeUnixNano: nanos, attributes };
const metricsSchema = z.strictObject({
  resourceMetrics: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes }),
      scopeMetrics: z.array(
        z.strictObject({
          scope,
          schemaUrl: z.string(),
          metrics: z.array(
            z.union([
              z.strictObject({
                name: z.string(),
                unit: z.string(),
                sum: z.strictObject({
                  aggregationTemporality: z.literal(1),
                  isMonotonic: z.literal(true),
                  dataPoints: z.array(z.strictObject({ ...points, asDouble: z.number() })),
                }),
              }),
              z.strictObject({
                name: z.string(),
                unit: z.string(),
                histogram: z.strictObject({
                  aggregationTemporality: z.literal(1),
                  dataPoints: z.array(
                    z.strictObject({
                      ...points,
                      count: z.string(),
                      sum: z.number(),
                      explicitBounds: z.array(z.number()),
                      bucketCounts: z.array(z.string()),
                    }),
                  ),
                }),
              }),
            ]),
          ),
        }),
      ),
    }),
  ),
});

export type SentSpan = z.infer<typeof spanSchema>;
export type CollectorAnswer = (request: IncomingMessage, response: ServerResponse) => "take" | "done";

export type TestCollector = {
  readonly url: string;
  /** Each once, as it came first. */
  readonly spans: Map<string, SentSpan>;
  /** By id, how often it was taken. */
  readonly times: Map<string, number>;
  readonly headers: IncomingMessage["headers"][];
  readonly bodies: string[];
  readonly problems: string[];
  requests: number;
  /** What it says to what comes; `take`: that it has it. */
  answer: CollectorAnswer;
};

export async function testCollector(): Promise<TestCollector> {
  const server = createServer(async (request, response) => {
    collector.requests++;
    collector.headers.push(request.headers);
    const body = Buffer.concat(await Array.fromAsync(request)).toString();
    if (collector.answer(request, response) !== "take") return;
    collector.bodies.push(body);
    const json: unknown = JSON.parse(body);
    if (request.url === "/v1/traces") {
      const parsed = tracesSchema.safeParse(json);
      if (!parsed.success) collector.problems.push(JSON.stringify(parsed.error.issues));
      else
        for (const { scopeSpans } of parsed.data.resourceSpans)
          for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
            if (!collector.spans.has(span.spanId)) collector.spans.set(span.spanId, span);
            collector.times.set(span.spanId, (collector.times.get(span.spanId) ?? 0) + 1);
          }
    } else {
      const parsed = metricsSchema.safeParse(json);
      if (!parsed.success) collector.problems.push(JSON.stringify(parsed.error.issues));
    }
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const collector: TestCollector = {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    spans: new Map(),
    times: new Map(),
    headers: [],
    bodies: [],
    problems: [],
    requests: 0,
    answer: () => "take",
  };
  return collector;
}

/** Names with their children below, without ids. */
export const treeOf = (spans: readonly SentSpan[], parent?: string, depth = 0): string =>
  spans
    .filter(({ parentSpanId }) => parentSpanId === parent)
    .toSorted((one, other) => one.startTimeUnixNano.localeCompare(other.startTimeUnixNano))
    .map(({ name, spanId }) => `${"  ".repeat(depth)}${name}\n${treeOf(spans, spanId, depth + 1)}`)
    .join("");
