/**
 * What a server may want of us while one of its tools runs: words of a person, a reply of the model, the folders of the
 * workspace. The first two are asked of the host, through the call that runs; without a call nobody is asked.
 */
import { pathToFileURL } from "node:url";
import type { Client, CreateMessageRequest, ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import { fault } from "../kernel/fault.ts";
import { isJson, isObject, type JsonObject } from "../kernel/json.ts";
import { shorten, undisguised } from "../kernel/text.ts";
import type { Consulted, ConsultRequest } from "../ports/consult.ts";
import type { ToolContext } from "../ports/tool.ts";
import type { AskOption } from "../protocol/ask.ts";

/** On behalf of the call that runs: a person to ask, and the model of its session. */
export type CallHost = Pick<ToolContext, "ask" | "consult">;

/** Words of a conversation that a server wants a reply to. */
type SampleRequest = Omit<ConsultRequest, "by" | "model">;

export type ServerRequestContext = {
  readonly server: string;
  readonly roots: readonly string[];
  /** Whether servers may ask for replies of the model at all. */
  readonly sampling: "ask" | "off";
  /** The call that runs, the newest of them. */
  host(): CallHost | undefined;
};

const maxMessage = 4_000;
const maxFormCharacters = 16_000;
const maxSampleCharacters = 200_000;
const maxSampleTokens = 8_000;

export const capabilitiesOf = ({ sampling }: Pick<ServerRequestContext, "sampling">) => ({
  roots: {},
  elicitation: { form: { applyDefaults: true }, url: {} },
  ...(sampling === "ask" ? { sampling: {} } : {}),
});

export function answerRequests(client: Client, context: ServerRequestContext): void {
  client.setRequestHandler("roots/list", async () => ({
    roots: context.roots.map((root) => ({
      uri: pathToFileURL(root).href,
      name: root.split("/").at(-1) ?? root,
    })),
  }));
  client.setRequestHandler("elicitation/create", (request) => elicit(request, context));
  if (context.sampling === "off") return;
  client.setRequestHandler("sampling/createMessage", async (request, { mcpReq }) => {
    const reply = await sampled(request, context, mcpReq.signal);
    return {
      role: "assistant" as const,
      model: reply.model,
      content: { type: "text" as const, text: reply.text },
      stopReason: reply.stop === "cut" ? "maxTokens" : "endTurn",
    };
  });
}

const yesOrNo = (yes: string): AskOption[] => [
  { id: "yes", label: yes, verdict: "allow" },
  { id: "no", label: "Decline", verdict: "deny" },
];

async function elicit(
  { params }: ElicitRequest,
  { server, host }: ServerRequestContext,
): Promise<ElicitResult> {
  const ask = host()?.ask;
  if (!ask) return { action: "decline" };
  const message = undisguised(shorten(params.message, maxMessage));
  if (params.mode === "url") {
    const place = placeOf(params.url);
    if (place === undefined) return { action: "decline" };
    const answer = await ask({
      kind: "elicitation",
      title: `The server ${undisguised(server)} asks you to open a page of ${place.host}`,
      body: { kind: "text", text: `${message}\n\n${place.shown}` },
      input: { server, mode: "url", message: params.message, url: place.href },
      options: yesOrNo("I have opened it"),
    });
    return { action: actionOf(answer) };
  }
  const schema: unknown = params.requestedSchema;
  if (!isJson(schema) || !isObject(schema) || JSON.stringify(schema).length > maxFormCharacters)
    return { action: "decline" };
  const answer = await ask({
    kind: "elicitation",
    title: `The server ${undisguised(server)} asks`,
    body: { kind: "text", text: message },
    input: { server, mode: "form", message: params.message, schema },
    schema,
    options: yesOrNo("Answer"),
  });
  const action = actionOf(answer);
  return action === "accept" ? { action, content: contentOf(answer.data) } : { action };
}

type ElicitationAnswer = Awaited<ReturnType<CallHost["ask"]>>;

/** Nobody's answer is no refusal: the server may ask again. */
function actionOf({ verdict, by }: ElicitationAnswer): ElicitResult["action"] {
  if (verdict === "allow") return "accept";
  return by === "host" || by === "hook" || by === "rule" || by === "no-host" ? "decline" : "cancel";
}

type ElicitedContent = NonNullable<ElicitResult["content"]>;

/** A form has plain values only. */
function contentOf(data: unknown): ElicitedContent {
  if (!isObject(data)) return {};
  return Object.fromEntries(
    Object.entries(data).filter(
      (entry): entry is [string, ElicitedContent[string]] =>
        ["string", "number", "boolean"].includes(typeof entry[1]) ||
        (Array.isArray(entry[1]) && entry[1].every((item) => typeof item === "string")),
    ),
  );
}

/** The host as the network knows it: a letter that only looks like another one shows as what it is. */
function placeOf(given: string): { host: string; href: string; shown: string } | undefined {
  if (!URL.canParse(given)) return undefined;
  const url = new URL(given);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))) return undefined;
  // A name before an @ looks like the host and is none.
  if (url.username !== "" || url.password !== "") return undefined;
  return { host: url.host, href: url.href, shown: undisguised(url.href) };
}

const isLoopback = (host: string): boolean => ["localhost", "127.0.0.1", "[::1]"].includes(host);

async function sampled(
  { params }: CreateMessageRequest,
  context: ServerRequestContext,
  signal: AbortSignal,
): Promise<Consulted> {
  const { ask, consult } = context.host() ?? {};
  if (!ask || !consult) throw fault("mcp_unanswered", { reason: "Nobody is there to allow it." });
  const request = sampleRequestOf(params);
  const input: JsonObject = {
    server: context.server,
    messages: request.messages.map(({ role, text }) => ({ role, text })),
    ...(request.system === undefined ? {} : { system: request.system }),
  };
  const { verdict } = await ask({
    kind: "permission",
    title: `May the server ${undisguised(context.server)} ask the model?`,
    body: { kind: "text", text: undisguised(shorten(saySampleRequest(request), maxMessage)) },
    input,
    claims: [{ action: "use", target: `the model, for the server ${context.server}` }],
    options: [
      { id: "once", label: "Yes, once", verdict: "allow" },
      { id: "no", label: "No", verdict: "deny" },
    ],
  });
  if (verdict === "deny") throw fault("mcp_unanswered", { reason: "The user said no." });
  const reply = await consult({ ...request, by: { kind: "server", name: context.server } }, signal);
  if (!reply.ok) throw fault("mcp_unanswered", { reason: `The model did not answer: ${reply.error}` });
  return reply.value;
}

function sampleRequestOf(params: CreateMessageRequest["params"]): SampleRequest {
  const messages = params.messages.map(({ role, content }) => ({
    role,
    text: [content]
      .flat()
      .map((part) => (part.type === "text" ? part.text : `(${part.type})`))
      .join("\n"),
  }));
  const { systemPrompt: system } = params;
  const size = messages.reduce((sum, { text }) => sum + text.length, system?.length ?? 0);
  if (size > maxSampleCharacters) throw fault("mcp_unanswered", { reason: "The conversation is too long." });
  return { system, messages, maxTokens: Math.min(params.maxTokens, maxSampleTokens) };
}

const saySampleRequest = ({ system, messages, maxTokens }: SampleRequest): string =>
  [
    ...(system === undefined ? [] : [`Instructions: ${system}`]),
    ...messages.map(({ role, text }) => `${role}: ${text}`),
    `(a reply of at most ${maxTokens} tokens)`,
  ].join("\n");
