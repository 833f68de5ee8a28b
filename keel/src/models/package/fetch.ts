/** Our own way out as the `fetch` that a package is given: its deadlines, no redirect, and faults for what breaks. */
import type { Http, HttpResponse } from "../http.ts";
import { malformed } from "../read-answer.ts";

/** What packages read of an answer's head. */
const readHeaders = ["content-type", "retry-after", "retry-after-ms", "x-request-id", "request-id"];
/** Statuses whose answers have no body. */
const bodiless = [101, 204, 205, 304];

export function fetchOver(http: Http): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const request = new Request(input, {
      ...init,
      redirect: "manual",
      ...(init.body ? { duplex: "half" } : {}),
    });
    const headers = Object.fromEntries(request.headers);
    const body = new Uint8Array(await request.arrayBuffer());
    const { method, url, signal } = request;
    const response = await http({ method: method === "GET" ? "GET" : "POST", url, headers, body }, signal);
    refuseUnreadable(response);
    const head = readHeaders.flatMap((name): [string, string][] => {
      const value = response.header(name);
      return value === undefined ? [] : [[name, value]];
    });
    const answer = bodiless.includes(response.status) ? null : streamOf(response);
    return new Response(answer, { status: response.status, headers: head });
  };
}

/** A page in place of an answer, or one that is compressed although nobody asked for that, is none: packages do not look. */
function refuseUnreadable(response: HttpResponse): void {
  const type = response.header("content-type") ?? "";
  const isPage = response.status === 200 && type.startsWith("text/html");
  const isCompressed = !["", "identity"].includes(response.header("content-encoding") ?? "");
  if (!isPage && !isCompressed) return;
  response.endWithin(0);
  throw malformed(isPage ? `the answer is ${type}` : "the answer is compressed, which was not asked for");
}

function streamOf({ body }: HttpResponse): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunks = body[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(new Uint8Array(value));
    },
    async cancel() {
      await chunks.return?.();
    },
  });
}
