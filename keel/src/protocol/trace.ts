/** Where something belongs in a trace, as W3C writes it: ids that come from session, turn, request and call, so that they are always the same. */
import { fingerprint } from "../kernel/text.ts";

export type SpanPlace = { readonly traceId: string; readonly spanId: string };

/** Undefined for what is no `traceparent`. */
export function readTraceparent(text: string | undefined): SpanPlace | undefined {
  const [, traceId, spanId] =
    /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?$/.exec(text ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || isNone(traceId) || isNone(spanId)) return undefined;
  return { traceId, spanId };
}

export const writeTraceparent = ({ traceId, spanId }: SpanPlace): string => `00-${traceId}-${spanId}-01`;

/** What was sent beside a request, where it has one. */
export const traceparentIn = (text: unknown): { trace?: string } =>
  typeof text === "string" && readTraceparent(text) ? { trace: text } : {};

const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Of a turn that nobody outside asked for. */
export const traceIdOf = (id: string): string =>
  uuidPattern.test(id) ? id.replaceAll("-", "") : spanIdFor(`trace ${id}`) + spanIdFor(`trace again ${id}`);

export const spanIdOf = (kind: "turn" | "request" | "call" | "ask", session: string, id: string): string =>
  spanIdFor(`${kind} ${session} ${id}`);

/** Never all noughts, which means none. */
const spanIdFor = (text: string): string => {
  const id = fingerprint(text);
  return isNone(id) ? "0000000000000001" : id;
};

const isNone = (id: string): boolean => /^0+$/.test(id);
