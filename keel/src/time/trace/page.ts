/** A trace as one HTML page that needs nothing else: a row for each span, on one line of time, with its figures. */
import { escaped, wholePage } from "../page-parts.ts";
import type { TraceSpan } from "./spans.ts";
import { sumsOf } from "./sums.ts";

const style = `body{font:14px/1.4 system-ui,sans-serif;margin:1.5rem;color-scheme:light dark}
table{border-collapse:collapse;margin:0 0 1.5rem}th,td{text-align:left;padding:.1rem .8rem .1rem 0;font-weight:normal}
th{opacity:.7}.row{display:grid;grid-template-columns:minmax(14rem,26rem) 1fr 16rem;gap:.6rem;align-items:center}
.name{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}.line{position:relative;height:1rem;background:#8881}
.bar{position:absolute;top:.15rem;height:.7rem;min-width:2px;border-radius:2px;background:#888}
.chat{background:#3b82f6}.execute_tool{background:#10b981}.invoke_agent{background:#a78bfa}.ask{background:#f59e0b}
.failed .bar{background:#ef4444}.figures{font-variant-numeric:tabular-nums;opacity:.8;white-space:nowrap}
h2{font-size:1rem;margin:1.5rem 0 .4rem}`;

export function tracePage(spans: readonly TraceSpan[], title: string): string {
  const sums = sumsOf(spans);
  const facts: readonly (readonly [string, string])[] = [
    ["Spans", String(spans.length)],
    ["Requests", String(spans.filter(({ name }) => name.startsWith("chat ")).length)],
    ["Calls", String(spans.filter(({ name }) => name.startsWith("execute_tool ")).length)],
    ["Input tokens", String(sums.inputTokens)],
    ["Read from the cache", String(sums.cacheReadTokens)],
    ["Written to the cache", String(sums.cacheWriteTokens)],
    ["Output tokens", String(sums.outputTokens)],
    ["Cost", `${sums.costUsd.toFixed(6)} USD`],
  ];
  const traces = [...Map.groupBy(spans, ({ traceId }) => traceId)].sort(
    ([, left], [, right]) => startOf(left) - startOf(right),
  );
  return wholePage(title, style, [
    `<table>${facts.map(([name, value]) => `<tr><th>${name}</th><td>${value}</td></tr>`).join("")}</table>`,
    ...traces.map(([id, each]) => traceSection(id, each)),
  ]);
}

const startOf = (spans: readonly TraceSpan[]): number => Math.min(...spans.map(({ startMs }) => startMs));

function traceSection(id: string, spans: readonly TraceSpan[]): string {
  const start = startOf(spans);
  const length = Math.max(1, ...spans.map(({ endMs }) => endMs - start));
  const known = new Set(spans.map(({ spanId }) => spanId));
  const below = Map.groupBy(spans, ({ parentId = "" }) => (known.has(parentId) ? parentId : ""));
  const rows = (parent: string, depth: number): string[] =>
    (below.get(parent) ?? [])
      .toSorted((left, right) => left.startMs - right.startMs)
      .flatMap((span) => [rowOf(span, { start, length, depth }), ...rows(span.spanId, depth + 1)]);
  const when = new Date(start).toISOString().slice(0, 19).replace("T", " ");
  return `<section><h2>${when} UTC, ${seconds(length)}, trace ${escaped(id)}</h2>${rows("", 0).join("\n")}</section>`;
}

function rowOf(
  span: TraceSpan,
  { start, length, depth }: { readonly start: number; readonly length: number; readonly depth: number },
): string {
  const { name, startMs, endMs, error } = span;
  const part = (ms: number): string => `${((ms / length) * 100).toFixed(3)}%`;
  const [kind = ""] = name.split(" ");
  const bar = `<div class="bar ${escaped(kind)}" style="left:${part(startMs - start)};width:${part(endMs - startMs)}"></div>`;
  return `<div class="row${error === undefined ? "" : " failed"}"><div class="name" style="padding-left:${depth}rem" title="${escaped(name)}">${escaped(name)}</div><div class="line">${bar}</div><div class="figures">${escaped(figures(span))}</div></div>`;
}

function figures({ startMs, endMs, attributes, error }: TraceSpan): string {
  const of = (name: string): number => {
    const value = attributes[name];
    return typeof value === "number" ? value : 0;
  };
  const input = of("gen_ai.usage.input_tokens");
  const cached = input > 0 ? Math.round((of("gen_ai.usage.cache_read.input_tokens") / input) * 100) : 0;
  const used =
    input > 0 ? ` · ${input} in (${cached} % cached), ${of("gen_ai.usage.output_tokens")} out` : "";
  const cost = of("keel.cost_usd") > 0 ? ` · ${of("keel.cost_usd").toFixed(4)} USD` : "";
  return `${seconds(endMs - startMs)}${used}${cost}${error === undefined ? "" : ` · ${error}`}`;
}

const seconds = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`);
