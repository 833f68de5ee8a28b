/** From a method and a path to what they name, by the tables; from a fault to a status. */
import * as z from "zod/mini";
import type { FaultCode } from "../../kernel/faults.ts";
import { bridgeConfigSchema, bridgePaths, environmentLineSchema } from "../../protocol/bridge.ts";
import { type Access, isOperation, mayDo, type OperationName, operations } from "../../protocol/operation.ts";
import { type OpenOperationName, openOperations } from "../../protocol/pairing.ts";
import { type WatchName, watches, watchNames } from "../../protocol/workspace-operations.ts";

const clientEventSchema = z.object({
  event_id: z.string(),
  sequence_num: z.number(),
  source: z.string(),
  created_at: z.string(),
  payload: z.looseObject({ type: z.string() }),
});

/** What is told over HTTP and is no operation: it has no question, or its answer has no end. */
export const plainRoutes = {
  events: {
    says: "What happens in a session: the durable events after `after` or `Last-Event-ID`, then all as they happen",
    method: "GET",
    path: "/api/sessions/{session}/events",
    access: "watch",
    tells: "text/event-stream",
  },
  export: {
    says: "The log of a session as JSON lines, which `keel sessions import` takes",
    method: "GET",
    path: "/api/sessions/{session}/export",
    access: "watch",
    tells: "application/x-ndjson",
  },
  sdkEvents: {
    says: "What happens in a session, as the official SDK's browser client hears it: `client_event` frames with numbers that go up, from the one after `Last-Event-ID` on",
    method: "GET",
    path: "/v1/code/sessions/{session}/events/stream",
    access: "watch",
    tells: "text/event-stream",
    query: ["replay_user_messages", "include_partial_messages"],
  },
  sdkHistory: {
    says: "The same as pages, for who was told that it cannot be told all",
    method: "GET",
    path: "/v1/code/sessions/{session}/events",
    access: "watch",
    tells: "application/json",
    query: ["after_sequence_num", "limit", "replay_user_messages"],
    answer: z.object({ events: z.array(clientEventSchema), has_more: z.boolean() }),
  },
  sdkSend: {
    says: "What the official SDK's browser client sends: messages, requests and answers, as its executable takes them",
    method: "POST",
    path: "/v1/code/sessions/{session}/events",
    access: "answer",
    tells: "application/json",
    query: ["replay_user_messages", "include_partial_messages"],
    body: z.object({
      session_id: z.optional(z.string()),
      events: z.array(z.object({ payload: z.looseObject({ type: z.string() }) })),
    }),
    answer: z.object({}),
  },
  bridgeRegister: {
    says: "A machine that nobody can reach offers a folder; the same environment registers once",
    method: "POST",
    path: bridgePaths.register,
    access: "bridge",
    tells: "application/json",
    body: bridgeConfigSchema,
    answer: z.object({ environment_id: z.string(), epoch: z.number() }),
  },
  bridgeWork: {
    says: "Lines for a bridge about its environment, where no socket gets through: work that it is given",
    method: "GET",
    path: bridgePaths.environment,
    access: "bridge",
    tells: "text/event-stream",
    query: ["channel"],
  },
  bridgeWorkSend: {
    says: "Lines of a bridge about its environment, for the stream of the same channel",
    method: "POST",
    path: bridgePaths.environment,
    access: "bridge",
    tells: "application/json",
    query: ["channel"],
    body: z.object({ lines: z.array(environmentLineSchema) }),
    answer: z.object({}),
  },
  bridgeSession: {
    says: "Lines for a bridge about a session that it has",
    method: "GET",
    path: bridgePaths.ingress,
    access: "bridge",
    tells: "text/event-stream",
    query: ["channel"],
  },
  bridgeSessionSend: {
    says: "Lines of a bridge about a session: its events, its questions, its answers",
    method: "POST",
    path: bridgePaths.ingress,
    access: "bridge",
    tells: "application/json",
    query: ["channel"],
    body: z.object({ lines: z.array(z.looseObject({ type: z.string() })) }),
    answer: z.object({}),
  },
  openapi: {
    says: "This document",
    method: "GET",
    path: "/api/openapi.json",
    access: "watch",
    tells: "application/json",
  },
} as const satisfies Readonly<Record<string, PlainRoute>>;

export type PlainRoute = {
  readonly says: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly access: Access;
  readonly tells: "application/json" | "application/x-ndjson" | "text/event-stream";
  /** Names that may stand in the address. */
  readonly query?: readonly string[];
  readonly body?: z.ZodMiniType;
  readonly answer?: z.ZodMiniType;
};
export type PlainRouteName = keyof typeof plainRoutes;

/** Where a request becomes a socket, and what is spoken there. */
export const socketRoutes = {
  keel: { path: "/ws", says: "A socket that speaks `keel.v1`, for everything" },
  sdk: {
    path: "/ws/sdk/{session}",
    says: "A socket on which the official SDK's browser client and its executable's lines are at home",
    // Its client has no header, and no cookie outside of a browser: its first line may be its secret.
    secretMayCome: "first-line",
  },
  bridge: {
    path: bridgePaths.environmentSocket,
    says: "A bridge about its environment: work that it is given, and what became of it",
    access: "bridge",
  },
  bridgeIngress: {
    path: bridgePaths.ingressSocket,
    says: "A bridge about a session that it has: events, questions and answers",
    access: "bridge",
  },
  consoleApp: {
    path: "/ws/app",
    says: "The app socket of the console wire: every change of workspaces, workers and activity",
  },
  consoleWorker: {
    path: "/ws/session/{workspace}/worker/{worker}",
    says: "The socket of a worker on the console wire: an agent's messages, a terminal's output, a diff",
  },
} as const satisfies Readonly<Record<string, SocketRoute>>;

type SocketRoute = {
  readonly access?: Access;
  readonly path: string;
  readonly says: string;
  readonly secretMayCome?: "first-line";
};

export type SocketRouteName = keyof typeof socketRoutes;

export type PathFields = Readonly<Record<string, string>>;

export type Route =
  | { readonly kind: "operation"; readonly name: OperationName; readonly fields: PathFields }
  /** For whoever comes, secret or not. */
  | { readonly kind: "open"; readonly name: OpenOperationName }
  | { readonly kind: "plain"; readonly name: PlainRouteName; readonly fields: PathFields }
  | { readonly kind: "watch"; readonly name: WatchName; readonly fields: PathFields }
  /** The path is known, and not with this method. */
  | { readonly kind: "wrong-method" };

/** Undefined for a path that is none. */
export function routeOf(method: string, path: string): Route | undefined {
  for (const name of watchNames) {
    const fields = fieldsIn(watches[name].path, path);
    if (fields) return method === "GET" ? { kind: "watch", name, fields } : wrongMethod;
  }
  let isKnown = false;
  for (const name of Object.keys(openOperations) as OpenOperationName[]) {
    const row = openOperations[name];
    if (row.path !== path) continue;
    if (row.method === method) return { kind: "open", name };
    isKnown = true;
  }
  for (const [name, row] of [...Object.entries(plainRoutes), ...Object.entries(operations)]) {
    const fields = fieldsIn(row.path, path);
    if (!fields) continue;
    isKnown = true;
    if (row.method !== method) continue;
    if (isPlain(name, row)) return { kind: "plain", name, fields };
    if (isOperation(name)) return { kind: "operation", name, fields };
  }
  return isKnown ? wrongMethod : undefined;
}

/** Undefined for a path where no socket is. */
export function socketAt(
  path: string,
): { readonly name: SocketRouteName; readonly fields: PathFields } | undefined {
  for (const name of Object.keys(socketRoutes) as SocketRouteName[]) {
    const fields = fieldsIn(socketRoutes[name].path, path);
    if (fields) return { name, fields };
  }
  return undefined;
}

/** Whether somebody may have a socket. On the wire `keel.v1` each frame is looked at for itself. */
export const mayOpen = (name: SocketRouteName, access: Access): boolean => {
  const row = socketRoutes[name];
  return name === "keel" || mayDo(access, "access" in row ? row.access : "watch");
};

export const secretMayCome = (name: SocketRouteName): boolean => "secretMayCome" in socketRoutes[name];

const isPlain = (name: string, row: object): name is PlainRouteName =>
  Object.hasOwn(plainRoutes, name) && plainRoutes[name as PlainRouteName] === row;

const wrongMethod: Route = { kind: "wrong-method" };

/** A name in a path is a word: nothing that could lead elsewhere. */
export const wordPattern = /^[\w-]{1,100}$/;

/** What the `{names}` of a pattern stand for in a path; undefined where the path is another. */
export function fieldsIn(pattern: string, path: string): PathFields | undefined {
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return undefined;
  const fields: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? "";
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined ? part !== value : !wordPattern.test(value)) return undefined;
    if (name !== undefined) fields[name] = value;
  }
  return fields;
}

/** A fault that is not here is one of the server's. */
export const statuses: { readonly [Code in FaultCode]?: number } = {
  usage: 400,
  line_invalid: 400,
  session_invalid_id: 400,
  access_refused: 403,
  code_refused: 403,
  mode_refused: 403,
  session_unknown: 404,
  device_unknown: 404,
  workspace_unknown: 404,
  worker_unknown: 404,
  session_busy: 409,
  session_exists: 409,
  session_moved: 409,
  not_moved: 409,
  work_refused: 409,
  session_closed: 410,
  queue_full: 429,
  link_lost: 503,
  too_many_tries: 429,
};

export const statusOf = (code: FaultCode): number => statuses[code] ?? 500;
