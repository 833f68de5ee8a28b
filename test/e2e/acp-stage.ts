// An editor for tests: the protocol's own library as a real client of the built `keel acp`, over its pipes. Every line
// that the agent writes is held to the schema that the library is published with.
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { Readable, Writable } from "node:stream";
import {
  type AnyMessage,
  type ClientCapabilities,
  type ClientContext,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client,
  type InitializeResponse,
  type NewSessionResponse,
  ndJsonStream,
  type PromptResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, onTestFinished } from "vitest";
import { type EditorTerminals, offerTerminals } from "./acp-terminals.ts";
import type { Running, Stage } from "./stage.ts";

const schemaFile = path.resolve(
  import.meta.dirname,
  "../../node_modules/@agentclientprotocol/sdk/schema/v1/schema.json",
);

export type EditorOptions = {
  readonly can?: ClientCapabilities;
  readonly parameters?: readonly string[];
  readonly env?: Record<string, string>;
  permit?(request: RequestPermissionRequest): Promise<RequestPermissionResponse> | RequestPermissionResponse;
  fill?(request: CreateElicitationRequest): CreateElicitationResponse;
  /** What it has open, by path. */
  readonly buffers?: Map<string, string>;
  readonly terminals?: EditorTerminals;
  /** Waited for before a file is read or written. */
  lend?(): Promise<void>;
};

export type Editor = {
  readonly agent: ClientContext;
  readonly running: Running;
  readonly initialized: InitializeResponse;
  /** What was asked for permission so far. */
  readonly asked: RequestPermissionRequest[];
  /** Each message of the agent, in its order. */
  readonly heard: AnyMessage[];
  /** When each of them came. */
  readonly heardMs: number[];
  begin(cwd?: string): Promise<NewSessionResponse>;
  say(sessionId: string, words: string): Promise<PromptResponse>;
  updates(sessionId?: string): SessionUpdate[];
  /** Closes its input, and waits for its end. */
  leave(): Promise<number | null>;
};

/** Picks the option of this kind, or says that the turn was cancelled where there is none. */
export const pick =
  (kind: string) =>
  ({ options }: RequestPermissionRequest): RequestPermissionResponse => {
    const found = options.find((option) => option.kind === kind);
    return { outcome: found ? { outcome: "selected", optionId: found.optionId } : { outcome: "cancelled" } };
  };

export async function openEditor(stage: Stage, options: EditorOptions = {}): Promise<Editor> {
  const {
    can = {},
    parameters = [],
    env = {},
    permit = pick("allow_once"),
    fill,
    buffers,
    terminals,
  } = options;
  const running = stage.start(["acp", ...parameters], { env });
  const child = running.child as ChildProcessWithoutNullStreams;
  const heard: AnyMessage[] = [];
  const heardMs: number[] = [];
  const asked: RequestPermissionRequest[] = [];
  const methods = new Map<unknown, string>();
  const wire = ndJsonStream(
    Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
  );
  const writer = wire.writable.getWriter();
  const app = client({ name: "test" });
  if (terminals) offerTerminals(app, terminals);
  const connection = app
    .onNotification("session/update", () => undefined)
    .onRequest("session/request_permission", ({ params }) => {
      asked.push(params);
      return permit(params);
    })
    .onRequest("elicitation/create", ({ params }) => {
      if (!fill) throw new Error("nobody fills in forms here");
      return fill(params);
    })
    .onRequest("fs/read_text_file", async ({ params }) => {
      await options.lend?.();
      return { content: buffers?.get(params.path) ?? readFileSync(params.path, "utf8") };
    })
    .onRequest("fs/write_text_file", async ({ params }) => {
      await options.lend?.();
      buffers?.set(params.path, params.content);
      return {};
    })
    .connect({
      readable: wire.readable.pipeThrough(
        new TransformStream<AnyMessage, AnyMessage>({
          transform(message, controller) {
            heard.push(message);
            heardMs.push(performance.now());
            controller.enqueue(message);
          },
        }),
      ),
      writable: new WritableStream<AnyMessage>({
        write(message) {
          if ("method" in message && "id" in message) methods.set(message.id, message.method);
          return writer.write(message);
        },
      }),
    });
  const { agent } = connection;
  onTestFinished(() => expect(offences(heard, methods)).toEqual([]));
  const initialized = await agent.request("initialize", { protocolVersion: 1, clientCapabilities: can });
  const updatesOf = (sessionId?: string): SessionUpdate[] =>
    heard.flatMap((message) => {
      if (!("method" in message) || message.method !== "session/update") return [];
      const { sessionId: about, update } = message.params as { sessionId: string; update: SessionUpdate };
      return sessionId === undefined || about === sessionId ? [update] : [];
    });
  return {
    agent,
    running,
    initialized,
    asked,
    heard,
    heardMs,
    begin: (cwd = stage.project) => agent.request("session/new", { cwd, mcpServers: [] }),
    say: (sessionId, words) =>
      agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: words }] }),
    updates: updatesOf,
    async leave() {
      child.stdin.end();
      return (await running.ended).code;
    },
  };
}

/** The text that the agent said, joined. */
export const saidIn = (updates: readonly SessionUpdate[]): string =>
  updates
    .flatMap((update) =>
      update.sessionUpdate === "agent_message_chunk" && update.content.type === "text"
        ? [update.content.text]
        : [],
    )
    .join("");

export const kindsIn = (updates: readonly SessionUpdate[]): string[] =>
  updates.map(({ sessionUpdate }) => sessionUpdate);

type Schema = { readonly $defs: Record<string, { readonly "x-method"?: string }> };

/** Made ready once, by whoever is the first: to compile the schema takes longer than most of the tests. */
const ready: { published?: ReturnType<typeof readSchema> } = {};

function readSchema() {
  const schema = JSON.parse(readFileSync(schemaFile, "utf8")) as Schema;
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(schema, "acp");
  return { schema, ajv };
}

/** What the agent wrote that the schema does not know, and updates of a session before the editor knew it. */
export function offences(heard: readonly AnyMessage[], methods: ReadonlyMap<unknown, string>): string[] {
  ready.published ??= readSchema();
  const { schema, ajv } = ready.published;
  const check = (name: string | undefined, value: unknown): string[] => {
    if (name === undefined) return [`no schema for ${JSON.stringify(value).slice(0, 200)}`];
    const validate = ajv.getSchema(`acp#/$defs/${name}`);
    return validate?.(value) ? [] : [`${name}: ${ajv.errorsText(validate?.errors)}`];
  };
  const nameFor = (method: string, end: RegExp): string | undefined =>
    Object.entries(schema.$defs).find(([name, def]) => def["x-method"] === method && end.test(name))?.[0];
  const isBegun = (message: AnyMessage): message is AnyMessage & { result: { sessionId: string } } =>
    "result" in message && ["session/new", "session/fork"].includes(methods.get(message.id) ?? "");
  const unknown = new Set(heard.filter(isBegun).map(({ result }) => result.sessionId));
  return heard.flatMap((message): string[] => {
    if (isBegun(message)) unknown.delete(message.result.sessionId);
    if ("method" in message) {
      const { method, params } = message;
      const { sessionId = "" } = (params ?? {}) as { sessionId?: string };
      const early = unknown.has(sessionId) ? [`${method} of ${sessionId} before its response`] : [];
      return [...early, ...check(nameFor(method, /(?:Request|Notification)$/), params)];
    }
    if ("error" in message) return check("Error", message.error);
    const method = methods.get(message.id) ?? "";
    // Not in the stable part of the schema: it answers as a session that begins.
    if (method === "session/fork") return check("NewSessionResponse", message.result);
    return check(nameFor(method, /Response$/), message.result);
  });
}
