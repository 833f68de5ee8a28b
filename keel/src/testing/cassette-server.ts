/** Cassettes over real HTTP on the loopback interface, for programs that cannot be handed a function. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { toFault } from "../kernel/fault.ts";
import { type Http, openHttp } from "../models/http.ts";
import { bodyOf, openRecorder, recordedIn } from "./cassette-record.ts";
import { bytesOf, openReplay, type Replay, type ReplayOptions } from "./cassette-replay.ts";
import { listen, type ModelServer } from "./model-server.ts";

export type CassetteServer = Pick<ModelServer, "url" | "port" | "close">;

/** Answers from a cassette. A request that is not recorded is refused with 400, in words of both wires. */
export async function startReplayServer(
  options: ReplayOptions & { readonly port?: number | undefined },
): Promise<CassetteServer & { readonly replay: Replay }> {
  const replay = await openReplay(options);
  const served = serverOf(async (request, response) => {
    const body = await readBody(request);
    const path = pathOf(request).split("?")[0] ?? "";
    const { method = "GET", headers } = request;
    const question = { method, path, headers, body: method === "GET" ? null : bodyOf({ body }) };
    const recorded = replay.answer(question);
    if (!recorded) return refuse(response, 400, replay.misses.at(-1) ?? "");
    response.writeHead(recorded.status, recorded.headers);
    if (recorded.ended === "whole") response.end(bytesOf(recorded));
    else response.write(bytesOf(recorded), () => response.destroy());
  });
  return { ...(await listen(served, options.port)), replay };
}

export type RecordingProxyOptions = {
  /** Where requests go, such as `https://api.anthropic.com`. Keys pass through to there, and nowhere else. */
  readonly upstream: string;
  readonly file: string;
  readonly port?: number | undefined;
  readonly secrets?: readonly string[] | undefined;
  /** In place of a connection of its own. */
  readonly http?: Http | undefined;
};

/** Passes requests on to a real server and records what comes back. */
export async function startRecordingProxy(options: RecordingProxyOptions): Promise<CassetteServer> {
  const { upstream, file, secrets } = options;
  const own = options.http ? undefined : openHttp();
  const send = await openRecorder({ http: options.http ?? own?.send ?? openHttp().send, file, secrets });
  const served = serverOf(async (request, response) => {
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const { method } = request;
    if (method !== "GET" && method !== "POST") return refuse(response, 405, "only GET and POST are recorded");
    const body = method === "POST" ? { body: await readBody(request) } : {};
    const headers = passedOn(request.headers);
    const answer = await send(
      { method, url: addressOf(upstream, pathOf(request)), headers, ...body },
      gone.signal,
    );
    response.writeHead(answer.status, recordedIn(answer));
    for await (const chunk of answer.body) response.write(chunk);
    response.end();
  });
  const server = await listen(served, options.port);
  return {
    ...server,
    async close() {
      await server.close();
      own?.close();
    },
  };
}

type CassetteHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

function serverOf(serve: CassetteHandler): Server {
  return createServer((request, response) => {
    // A reader that leaves early is no error of the server.
    response.on("error", () => undefined);
    serve(request, response).catch((thrown: unknown) => {
      if (response.headersSent) response.destroy();
      else refuse(response, 502, toFault(thrown).message);
    });
  });
}

/** Both wires find a type and a message in it. */
function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } }));
}

const pathOf = (request: IncomingMessage): string => request.url ?? "/";

const readBody = async (request: IncomingMessage): Promise<Uint8Array> =>
  Buffer.concat(await Array.fromAsync<Uint8Array>(request));

/** People name the address with and without the version that requests bring along. */
function addressOf(upstream: string, path: string): string {
  const base = upstream.replace(/\/+$/, "");
  return base.endsWith("/v1") && path.startsWith("/v1/") ? base + path.slice("/v1".length) : base + path;
}

/** What belongs to this connection, and what would make the answer unreadable. */
const notPassedOn = [
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "accept-encoding",
  "expect",
];

const passedOn = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || notPassedOn.includes(name) ? [] : [[name, [value].flat().join(", ")]],
    ),
  );
