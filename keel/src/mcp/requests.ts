/**
 * What a server may want of us while one of its tools runs: words of a person, a reply of the model, the folders of the
 * workspace. The first two are asked of the host, through the call that runs; without a call nobody is asked.
 */
import { pathToFileURL } from "node:url";
import type { Client, CreateMessageRequest, ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import { isJson, isObject, type JsonObject } from "../kernel/json.ts";
import { shorten } from "../kernel/text.ts";
import { visible } from "../kernel/visible.ts";
import type { Consulted, ConsultWish } from "../ports/consult.ts";
import type { ToolContext } from "../ports/tool.ts";
import type { AskOption } from "../protocol/ask.ts";

/** On behalf of the call that runs: a person to ask, and the model of its session. */
export type CallHost = Pick<ToolContext, "ask" | "consult">;

/** Words of a conversation that a server wants a reply to. */
type SampleWish = Omit<ConsultWish, "by" | "model">;

export type RequestWorld = {
  readonly server: string;
  readonly roots: readonly string[];
  /** Whether servers may ask for replies of the model at all. */
  readonly sampling: "ask" | "off";
  /** The call that runs, the newest of them. */
  host(): CallHost | undefined;
};

const mostMessage = 4_000;
const mostFormCharacters = 16_000;
const mostSampleCharacters = 200_000;
const mostSampleTokens = 8_000;

export const capabilitiesOf = ({ sampling }: Pick<RequestWorld, "sampling">) => ({
  roots: {},
  elicitation: { form: { applyDefaults: true }, url: {} },
  ...(sampling === "ask" ? { sampling: {} } : {}),
});

export function answerRequests(client: Client, world: RequestWorld): void {
  client.setRequestHandler("roots/list", async () => ({
    roots: world.roots.map((root) => ({
      uri: pathToFileURL(root).href,
      name: root.split("/").at(-1) ?? root,
    })),
  }));
  client.setRequestHandler("elicitation/create", (request) => elicit(request, world));
  if (world.sampling === "off") return;
  client.setRequestHandler("sampling/createMessage", async (request, { mcpReq }) => {
    const reply = await sampled(request, world, mcpReq.signal);
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

async function elicit({ params }: ElicitRequest, { server, host }: RequestWorld): Promise<ElicitResult> {
  const ask = host()?.ask;
  if (!ask) return { action: "decline" };
  const message = visible(shorten(params.message, mostMessage));
  if (params.mode === "url") {
    const place = placeOf(params.url);
    if (place === undefined) return { action: "decline" };
    const answer = await ask({
      kind: "elicitation",
      title: `The server ${visible(server)} asks you to open a page of ${place.host}`,
      body: { kind: "text", text: `${message}\n\n${place.shown}` },
      input: { server, mode: "url", message: params.message, url: place.href },
      options: yesOrNo("I have opened it"),
    });
    return { action: actionOf(answer) };
  }
  const schema: unknown = params.requestedSchema;
  if (!isJson(schema) || !isObject(schema) || JSON.stringify(schema).length > mostFormCharacters)
    return { action: "decline" };
  const answer = await ask({
    kind: "elicitation",
    title: `The server ${visible(server)} asks`,
    body: { kind: "text", text: message },
    input: { server, mode: "form", message: params.message, schema },
    schema,
    options: yesOrNo("Answer"),
  });
  const action = actionOf(answer);
  return action === "accept" ? { action, content: contentOf(answer.data) } : { action };
}

type Answered = Awaited<ReturnType<CallHost["ask"]>>;

/** Nobody's answer is no refusal: the server may ask again. */
function actionOf({ verdict, by }: Answered): ElicitResult["action"] {
  if (verdict === "allow") return "accept";
  return by === "host" || by === "hook" || by === "rule" || by === "no-host" ? "decline" : "cancel";
}

type Content = NonNullable<ElicitResult["content"]>;

/** A form has plain values only. */
function contentOf(data: unknown): Content {
  if (!isObject(data)) return {};
  return Object.fromEntries(
    Object.entries(data).filter(
      (entry): entry is [string, Content[string]] =>
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
  return { host: url.host, href: url.href, shown: visible(url.href) };
}

const isLoopback = (host: string): boolean => ["localhost", "127.0.0.1", "[::1]"].includes(host);

async function sampled(
  { params }: CreateMessageRequest,
  world: RequestWorld,
  signal: AbortSignal,
): Promise<Consulted> {
  const { ask, consult } = world.host() ?? {};
  if (!ask || !consult) throw new Error("Nobody is there to allow it.");
  const wish = wishOf(params);
  const input: JsonObject = {
    server: world.server,
    messages: wish.messages.map(({ role, text }) => ({ role, text })),
    ...(wish.system === undefined ? {} : { system: wish.system }),
  };
  const { verdict } = await ask({
    kind: "permission",
    title: `May the server ${visible(world.server)} ask the model?`,
    body: { kind: "text", text: visible(shorten(sayWish(wish), mostMessage)) },
    input,
    claims: [{ action: "use", target: `the model, for the server ${world.server}` }],
    options: [
      { id: "once", label: "Yes, once", verdict: "allow" },
      { id: "no", label: "No", verdict: "deny" },
    ],
  });
  if (verdict === "deny") throw new Error("The user said no.");
  const reply = await consult({ ...wish, by: { kind: "server", name: world.server } }, signal);
  if (!reply.ok) throw new Error(`The model did not answer: ${reply.error}`);
  return reply.value;
}

function wishOf(params: CreateMessageRequest["params"]): SampleWish {
  const messages = params.messages.map(({ role, content }) => ({
    role,
    text: [content]
      .flat()
      .map((part) => (part.type === "text" ? part.text : `(${part.type})`))
      .join("\n"),
  }));
  const { systemPrompt: system } = params;
  const size = messages.reduce((sum, { text }) => sum + text.length, system?.length ?? 0);
  if (size > mostSampleCharacters) throw new Error("The conversation is too long.");
  return { system, messages, mostTokens: Math.min(params.maxTokens, mostSampleTokens) };
}

const sayWish = ({ system, messages, mostTokens }: SampleWish): string =>
  [
    ...(system === undefined ? [] : [`Instructions: ${system}`]),
    ...messages.map(({ role, text }) => `${role}: ${text}`),
    `(a reply of at most ${mostTokens} tokens)`,
  ].join("\n");
