/**
 * The server's interface as an OpenAPI 3.1 document, made from the tables that requests are routed by: what is routed is
 * in it, and what is in it is routed. A shape that has a name stands once, wherever it is used.
 */
import type { FaultCode } from "../../kernel/faults.ts";
import { faults } from "../../kernel/faults.ts";
import { asObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { inquiries } from "../../protocol/inquiry.ts";
import { type Access, operations } from "../../protocol/operation.ts";
import { openOperations } from "../../protocol/pairing.ts";
import { watches } from "../../protocol/workspace-operations.ts";
import { cookieName } from "./admission.ts";
import { type AnySchema, type NamedShapes, namedShapes, ref } from "./named-shapes.ts";
import { type PlainRoute, plainRoutes, socketRoutes, statuses, wordPattern } from "./routes.ts";

/** What a status means here; some are the door's own, before anything is asked. */
const refusals: Readonly<Record<number, string>> = {
  400: "The address, the body or a field is not valid",
  401: "The secret is missing or wrong",
  403: "A page of another origin, or somebody who may not do this",
  404: "There is nothing here",
  409: "Somebody else has it",
  410: "The session has ended, or the server is about to",
  413: "The body is too large",
  415: "The body is no JSON, or compressed",
  421: "This is not the address of this server",
  429: "Too much at once, or too many wrong secrets",
  500: "It did not work",
};
const ofEvery = [400, 401, 403, 404, 421, 429];
const withBody = [413, 415];

export function openApiDocument(version: string): JsonObject {
  const shapes = namedShapes();
  const paths: Record<string, Record<string, Json>> = {};
  const add = (path: string, method: string, operation: Json): void => {
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation };
  };
  for (const [name, row] of Object.entries(operations))
    add(row.path, row.method, operationOf(name, row, shapes));
  for (const [name, row] of Object.entries(openOperations))
    add(row.path, row.method, { ...asObject(operationOf(name, row, shapes)), security: [] });
  for (const [name, row] of Object.entries(plainRoutes))
    add(row.path, row.method, plainOf(name, row, shapes));
  for (const [name, row] of Object.entries(watches)) add(row.path, "GET", watchOf(name, row, shapes));
  for (const [name, row] of Object.entries(socketRoutes)) add(row.path, "GET", socketOf(name, row));
  return {
    openapi: "3.1.1",
    info: {
      title: "Keel",
      version,
      description:
        "A server of sessions: `keel serve`. Every operation has the same name on the wire `keel.v1`. On its unix socket, which only the person can reach, no secret is needed.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [
      {
        url: "http://127.0.0.1:{port}",
        description: "`keel serve --port N`",
        variables: { port: { default: "7777" } },
      },
    ],
    security: [{ secret: [] }, { browser: [] }],
    tags: [...new Set(Object.keys(paths).map(tagOf))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        secret: {
          type: "http",
          scheme: "bearer",
          description: "What stands in the secret file of the home, or what pairing gave",
        },
        browser: {
          type: "apiKey",
          in: "cookie",
          name: cookieName,
          description: "What a browser gets for a link that is good once",
        },
      },
      schemas: { ...shapes.all(), Refusal: refusalShape },
      responses: Object.fromEntries(
        Object.keys({ ...refusals, ...byStatus() }).map((status) => [
          `Refused${status}`,
          refusalOf(Number(status)),
        ]),
      ),
    },
  };
}

type OperationLike = {
  readonly says: string;
  readonly method: string;
  readonly path: string;
  /** Left out where no secret is needed. */
  readonly access?: Access;
  readonly question: AnySchema;
  readonly answer: AnySchema;
};

function operationOf(
  name: string,
  { says, method, path, access, question, answer }: OperationLike,
  shapes: NamedShapes,
): Json {
  const { rest, needed } = besidePath(path, shapes.whole(question));
  const inPath = namesIn(path);
  const isBody = method !== "GET" && rest.length > 0;
  const query = method === "GET" ? rest : [];
  return {
    operationId: name,
    summary: says,
    tags: [tagOf(path)],
    ...(access === undefined ? {} : { "x-keel-access": access }),
    parameters: [
      ...inPath.map((field) => pathParameter(field, name)),
      ...query.map((field) => queryParameter(field, needed)),
    ],
    ...(isBody
      ? {
          requestBody: {
            required: needed.length > 0,
            content: jsonOf({
              type: "object",
              properties: Object.fromEntries(rest),
              ...(needed.length > 0 ? { required: needed } : {}),
            }),
          },
        }
      : {}),
    responses: {
      200: { description: "Done", content: jsonOf(shapes.of(answer)) },
      ...refused(isBody ? [...ofEvery, ...withBody] : ofEvery),
    },
    ...(name === "inquire" ? { "x-keel-inquiries": inquiryShapes(shapes) } : {}),
  };
}

/** The fields of a question that do not stand in its path. */
function besidePath(path: string, question: Json): { rest: [string, Json][]; needed: string[] } {
  const { properties = {}, required = [] } = question as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  const isBeside = (field: string): boolean => !namesIn(path).includes(field);
  return {
    rest: Object.entries(properties).filter(([field]) => isBeside(field)),
    needed: required.filter(isBeside),
  };
}

const queryParameter = ([name, schema]: [string, Json], needed: readonly string[]): Json => ({
  name,
  in: "query",
  required: needed.includes(name),
  schema,
});

type WatchLike = {
  readonly says: string;
  readonly path: string;
  readonly question: AnySchema;
  readonly update: AnySchema;
};

function watchOf(name: string, { says, path, question, update }: WatchLike, shapes: NamedShapes): Json {
  const { rest, needed } = besidePath(path, shapes.whole(question));
  return {
    operationId: `watch${name[0]?.toUpperCase()}${name.slice(1)}`,
    summary: says,
    tags: [tagOf(path)],
    "x-keel-access": "watch",
    parameters: [
      ...namesIn(path).map((field) => pathParameter(field, name)),
      ...rest.map((field) => queryParameter(field, needed)),
    ],
    responses: {
      200: {
        description:
          "Server-sent events, each with an update as its data. `ping` comes while nothing happens, `ended` when nothing more will, `failed` with a Fault when it cannot go on.",
        content: { "text/event-stream": { schema: { type: "string" }, "x-keel-data": shapes.of(update) } },
      },
      ...refused(ofEvery),
    },
  };
}

function plainOf(name: string, row: PlainRoute, shapes: NamedShapes): Json {
  const isStream = row.tells === "text/event-stream";
  return {
    operationId: name,
    summary: row.says,
    tags: [tagOf(row.path)],
    "x-keel-access": row.access,
    parameters: [
      ...namesIn(row.path).map((field) => pathParameter(field, name)),
      ...(isStream ? cursors : []),
      ...(row.query ?? []).map((field) => queryParameter([field, { type: "string" }], [])),
    ],
    ...(row.body ? { requestBody: { required: true, content: jsonOf(shapes.of(row.body)) } } : {}),
    responses: {
      200: isStream
        ? {
            description:
              "Server-sent events. The data of an event without a name is an Event; a durable one has its seq for an id. `ping` comes while nothing happens, `ended` when the session is closed, `failed` with a Fault when it cannot go on.",
            content: { "text/event-stream": { schema: { type: "string" }, "x-keel-data": ref("Event") } },
          }
        : row.tells === "application/x-ndjson"
          ? {
              description: "JSON lines: a head, then an Event each. One that is cut was not told whole.",
              content: { [row.tells]: { schema: { type: "string" }, "x-keel-data": ref("Event") } },
            }
          : {
              description: "Done",
              content: jsonOf(row.answer ? shapes.of(row.answer) : { type: "object" }),
            },
      ...refused(row.body ? [...ofEvery, ...withBody] : ofEvery),
    },
  };
}

const cursors: readonly Json[] = [
  { name: "after", in: "query", required: false, schema: { type: "integer", minimum: 0 } },
  {
    name: "Last-Event-ID",
    in: "header",
    required: false,
    description: "Goes before `after`",
    schema: { type: "integer", minimum: 0 },
  },
];

const socketOf = (name: string, { path, says }: { path: string; says: string }): Json => ({
  operationId: `${name}Socket`,
  summary: says,
  tags: [tagOf(path)],
  parameters: namesIn(path).map((field) => pathParameter(field, "")),
  responses: {
    101: {
      description: "The socket is open. Each message is one JSON object.",
      "x-keel-frames": { client: ref("ClientFrame"), server: ref("ServerFrame") },
    },
    ...refused([401, 403, 404, 421, 429]),
  },
});

const pathParameter = (field: string, operation: string): Json => ({
  name: field,
  in: "path",
  required: true,
  schema:
    operation === "inquire" && field === "name"
      ? { type: "string", enum: Object.keys(inquiries) }
      : { type: "string", pattern: wordPattern.source },
});

const inquiryShapes = (shapes: NamedShapes): Json =>
  Object.fromEntries(
    Object.entries(inquiries).map(([name, { says, question, answer }]) => [
      name,
      { summary: says, question: shapes.of(question), answer: shapes.of(answer) },
    ]),
  );

const refused = (which: readonly number[]): Record<string, Json> =>
  Object.fromEntries(
    [...new Set([...which, ...Object.keys(byStatus()).map(Number)])]
      .sort((left, right) => left - right)
      .map((status) => [status, { $ref: `#/components/responses/Refused${status}` }]),
  );

/** Which faults are told with which status. */
function byStatus(): Record<number, FaultCode[]> {
  const found: Record<number, FaultCode[]> = {};
  for (const code of Object.keys(faults) as FaultCode[]) {
    const status = statuses[code] ?? 500;
    found[status] = [...(found[status] ?? []), code];
  }
  return found;
}

const refusalShape: Json = { type: "object", properties: { error: { type: "string" } }, required: ["error"] };

function refusalOf(status: number): Json {
  const codes = byStatus()[status] ?? [];
  const isDoors = [...ofEvery, ...withBody].includes(status);
  const fault = {
    type: "object",
    properties: {
      fault: { allOf: [ref("Fault"), { type: "object", properties: { code: { enum: codes } } }] },
    },
    required: ["fault"],
  };
  const shapes: Json[] = [...(codes.length > 0 ? [fault] : []), ...(isDoors ? [ref("Refusal")] : [])];
  return {
    description: refusals[status] ?? "",
    content: jsonOf(shapes.length === 1 ? (shapes[0] ?? true) : { anyOf: shapes }),
  };
}

const jsonOf = (schema: Json): Json => ({ "application/json": { schema } });
const namesIn = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
const tagOf = (path: string): string => /^\/api\/([\w-]+)/.exec(path)?.[1] ?? "sockets";
