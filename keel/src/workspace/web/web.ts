/**
 * Fetches pages for the model. Every hop is judged anew and connected to at the address that was judged. Redirects stay
 * on their host; one that leads to another host is told and not followed, since permission is given by host.
 */
import { unlessAborted } from "../../kernel/abort.ts";
import type { Web, WebAnswer } from "../../ports/web.ts";
import { isText, mediaTypeOf, pageReader } from "./page.ts";
import { type LookUp, plainHost, portOf, type UrlGuard, urlGuard } from "./url-guard.ts";
import { get, sayWebError, type WebResponse } from "./web-request.ts";

const second = 1_000;

const webLimits = {
  /** More than any page to be read; what is longer is a download. */
  maxBytes: 10 * 1024 * 1024,
  maxRedirects: 5,
  /** Until the head of an answer is there, connecting included. */
  answerMs: 20 * second,
  /** For all of it, so that nobody holds a call by sending one byte at a time. */
  wholeMs: 60 * second,
};
type WebLimits = Readonly<typeof webLimits>;

export type WebOptions = {
  /** Hosts of private networks that the user's own settings allow. */
  readonly allowHosts?: readonly string[] | undefined;
  readonly version: string;
  readonly limits?: Partial<WebLimits> | undefined;
  /** In place of the system's resolver. */
  readonly lookUp?: LookUp | undefined;
};

export function nodeWeb({ allowHosts = [], version, limits, lookUp }: WebOptions): Web {
  const guard = urlGuard({ allowHosts, lookUp });
  const context: FetchContext = {
    guard,
    limits: { ...webLimits, ...limits },
    headers: {
      "user-agent": `keel/${version}`,
      accept: "text/markdown, text/html;q=0.9, text/*;q=0.8, application/json;q=0.8, */*;q=0.1",
    },
  };
  return {
    async address(text) {
      const judged = guard.judge(text);
      return judged.ok ? { ok: true, url: judged.url.href } : judged;
    },
    async fetch(text, signal) {
      const late = AbortSignal.timeout(context.limits.wholeMs);
      try {
        return await follow(text, context, AbortSignal.any([signal, late]));
      } catch (thrown) {
        if (signal.aborted) return refused("Interrupted.");
        if (!late.aborted) return refused(sayWebError(thrown, text));
        return refused(`${text} did not answer in full within ${context.limits.wholeMs / second} seconds.`);
      }
    },
  };
}

type FetchContext = { guard: UrlGuard; limits: WebLimits; headers: Readonly<Record<string, string>> };

async function follow(text: string, context: FetchContext, signal: AbortSignal): Promise<WebAnswer> {
  const { guard, limits } = context;
  let next = text;
  for (let hops = 0; hops <= limits.maxRedirects; hops++) {
    const judged = guard.judge(next);
    if (!judged.ok)
      return refused(hops === 0 ? judged.why : `${text} redirects to a place that is refused: ${judged.why}`);
    const { url } = judged;
    const reach = await unlessAborted(guard.reachable(url), signal);
    if (!reach.ok) return refused(reach.why);
    const answer = await answerOf(
      { url, addresses: reach.addresses, headers: context.headers },
      { limits, signal },
    );
    try {
      const to = redirectOf(answer, url);
      if (to === undefined) return await readPage(answer, { url, limits });
      if (!staysOnHost(url, to))
        return { kind: "moved", status: answer.status, statusText: answer.statusText, to: to.href };
      next = to.href;
    } finally {
      answer.close();
    }
  }
  return refused(`${text} redirects more than ${limits.maxRedirects} times.`);
}

async function answerOf(
  request: Parameters<typeof get>[0],
  { limits, signal }: { limits: WebLimits; signal: AbortSignal },
): Promise<WebResponse> {
  const silent = new AbortController();
  const timer = setTimeout(
    () => silent.abort(new Error(`it said nothing for ${limits.answerMs / second} seconds`)),
    limits.answerMs,
  );
  try {
    return await get(request, AbortSignal.any([signal, silent.signal]));
  } catch (thrown) {
    throw silent.signal.aborted ? silent.signal.reason : thrown;
  } finally {
    clearTimeout(timer);
  }
}

/** Undefined when the answer is no redirect. A target that is no address stays what the server said. */
function redirectOf({ status, headers }: WebResponse, from: URL): URL | undefined {
  const isRedirect = [301, 302, 303, 307, 308].includes(status);
  return isRedirect && headers.location !== undefined
    ? (URL.parse(headers.location, from.href) ?? undefined)
    : undefined;
}

/** The same host, with or without `www.`, on the same port; from http to https too, but not back. */
function staysOnHost(from: URL, to: URL): boolean {
  const bare = (url: URL): string => plainHost(url).replace(/^www\./, "");
  if (bare(from) !== bare(to)) return false;
  const upgraded = from.protocol === "http:" && to.protocol === "https:";
  if (upgraded && portOf(from) === 80 && portOf(to) === 443) return true;
  return from.protocol === to.protocol && portOf(from) === portOf(to);
}

async function readPage(
  { status, statusText, headers, body }: WebResponse,
  { url, limits }: { url: URL; limits: WebLimits },
): Promise<WebAnswer> {
  const contentType = headers["content-type"] ?? "";
  const mediaType = mediaTypeOf(contentType) || "of no declared type";
  if (!isText(contentType))
    return refused(
      `${url.href} is ${mediaType}, which cannot be shown as text. It can be downloaded with Bash, for example with curl -o.`,
    );
  if (!body)
    return refused(`${url.href} is packed as ${headers["content-encoding"]}, which cannot be read here.`);
  const reader = pageReader({ url, contentType });
  let bytes = 0;
  let extent: "whole" | "part" = "whole";
  for await (const chunk of body) {
    const room = limits.maxBytes - bytes;
    const taken = chunk.subarray(0, room);
    bytes += taken.length;
    if (!reader.write(taken)) return refused(binary(url));
    if (chunk.length > room) {
      extent = "part";
      break;
    }
  }
  const read = reader.end();
  if (!read) return refused(binary(url));
  return {
    kind: "page",
    page: { url: url.href, status, statusText, mediaType, bytes, extent, ...read },
  };
}

const binary = ({ href }: URL): string =>
  `${href} is binary data, which cannot be shown as text. It can be downloaded with Bash, for example with curl -o.`;

const refused = (why: string): WebAnswer => ({ kind: "refused", why });
