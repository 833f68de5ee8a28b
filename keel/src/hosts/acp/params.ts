/** What editors send, read once: a form for each request that Keel takes, in each version. */
import type { ContentBlock } from "@agentclientprotocol/sdk";
import * as z from "zod/mini";
import { base64, imageTypes } from "../../app/lines/pictures.ts";
import { type Fault, fault } from "../../kernel/fault.ts";
import { asObject, isObject } from "../../kernel/json.ts";
import type { McpServerOptions } from "../../protocol/mcp.ts";
import { traceparentIn } from "../../protocol/trace.ts";

const text = z.string();
const opt = z.nullish;

/** Throws `usage` with what does not fit. */
export function read<T extends z.ZodMiniType>(form: T, params: unknown): z.infer<T> {
  const parsed = form.safeParse(params ?? {});
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  throw unfitting(first?.path.join(".") ?? "");
}

const unfitting = (at: string): Fault =>
  fault("usage", { reason: `The parameters do not fit${at === "" ? "" : ` at ${at}`}.` });

/** Which page of the list is wanted. By hand: to load the library of schemas for it takes a fifth of the answer. */
export function readPage(params: unknown): {
  readonly cwd?: string | undefined;
  readonly cursor?: string | undefined;
} {
  if (params != null && !isObject(params)) throw unfitting("");
  const field = (name: string): string | undefined => {
    const value = asObject(params)[name] ?? undefined;
    if (value !== undefined && typeof value !== "string") throw unfitting(name);
    return value;
  };
  return { cwd: field("cwd"), cursor: field("cursor") };
}

const pairs = z.array(z.object({ name: text, value: text }));
const stdio = { name: text, command: text, args: opt(z.array(text)), env: opt(pairs) };
const remote = { name: text, url: text, headers: opt(pairs) };

/** Version 1 knows a server of pipes by having no type. */
const serverSchema = z.union([
  z.object({ type: z.literal("stdio"), ...stdio }),
  z.object({ type: z.literal("http"), ...remote }),
  z.object({ type: z.literal("sse"), ...remote }),
  z.object({ type: z.optional(z.undefined()), ...stdio }),
]);

const place = {
  cwd: text,
  additionalDirectories: opt(z.array(text)),
  mcpServers: opt(z.array(serverSchema)),
};

const annotated = { annotations: z.optional(z.unknown()), _meta: z.optional(z.unknown()) };
const resourceSchema = z.union([
  z.object({ uri: text, text, mimeType: opt(text) }),
  z.object({ uri: text, blob: z.union([base64, z.literal("")]), mimeType: opt(text) }),
]);
const blockSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text, ...annotated }),
  // What no provider takes would stand in the conversation, and every later request be refused for it.
  z.object({ type: z.literal("image"), data: base64, mimeType: imageTypes, ...annotated }),
  z.object({ type: z.literal("audio"), data: text, mimeType: text, ...annotated }),
  z.object({ type: z.literal("resource_link"), name: text, uri: text, ...annotated }),
  z.object({ type: z.literal("resource"), resource: resourceSchema, ...annotated }),
]);

const session = { sessionId: text };

export const forms = {
  login: z.object({ methodId: text }),
  begin: z.object(place),
  takeUp: z.object({ ...session, ...place }),
  /** Version 2 says whether the log is to be told. */
  resume: z.object({ ...session, ...place, replayFrom: opt(z.object({ type: text })) }),
  session: z.object(session),
  prompt: z.object({ ...session, prompt: z.array(blockSchema), _meta: z.optional(z.unknown()) }),
  setMode: z.object({ ...session, modeId: text }),
  setOption: z.object({ ...session, configId: text, value: z.unknown() }),
};

export type WantedSession = {
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  readonly mcpServers: Readonly<Record<string, McpServerOptions>>;
};

type PlaceParams = z.infer<typeof forms.begin>;

/** Of two servers of one name the later one counts in version 1; `refused`: two are a mistake. */
export function wantedBy(given: PlaceParams, twice: "later" | "refused"): WantedSession {
  const servers = given.mcpServers ?? [];
  const names = servers.map(({ name }) => name);
  const again = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === "refused" && again !== undefined)
    throw fault("usage", { reason: `Two servers are called ${again}.` });
  return {
    cwd: given.cwd,
    additionalDirectories: given.additionalDirectories ?? [],
    mcpServers: Object.fromEntries(servers.map((server) => [server.name, serverOptions(server)])),
  };
}

function serverOptions(server: z.infer<typeof serverSchema>): McpServerOptions {
  if (server.type === "http" || server.type === "sse")
    return { type: server.type, url: server.url, headers: recordOf(server.headers) };
  return { type: "stdio", command: server.command, args: server.args ?? [], env: recordOf(server.env) };
}

const recordOf = (all: z.infer<typeof pairs> | null | undefined): Record<string, string> =>
  Object.fromEntries((all ?? []).map(({ name, value }) => [name, value]));

/** As both versions have them, as far as they are looked at. */
/** Where the prompt belongs in a trace, as an editor that follows it says. */
export const traceIn = ({ _meta }: z.infer<typeof forms.prompt>): { trace?: string } =>
  traceparentIn(asObject(_meta)["traceparent"]);

export const promptBlocks = ({ prompt }: z.infer<typeof forms.prompt>): readonly ContentBlock[] =>
  prompt as readonly ContentBlock[];
