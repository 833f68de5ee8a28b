/** WhatsApp, by the Cloud API: Meta calls a webhook of this machine, and texts go out as plain requests. */
import { asObject, parseJson } from "../../kernel/json.ts";
import { shorten } from "../../kernel/text.ts";
import type { LiveChannel, SendOutcome } from "../../ports/groups.ts";
import { readCall } from "./read-call.ts";
import { openWebhook } from "./webhook.ts";

export type WhatsAppOptions = {
  readonly phoneNumberId: string;
  readonly token: string;
  readonly appSecret: string;
  readonly verifyToken: string;
  readonly apiUrl?: string | undefined;
  /** Of the webhook, on 127.0.0.1. */
  readonly port: number;
  readonly tell?: ((what: string, facts: Readonly<Record<string, string | number>>) => void) | undefined;
};

const usualApi = "https://graph.facebook.com/v24.0";
const answerMs = 30_000;
/** Codes of Meta's that mean: too much, or not now. */
const laterCodes = new Set([1, 2, 4, 80_007, 130_429, 131_000, 131_016, 131_048, 131_056, 133_004]);
const maxAnswer = 100_000;

export function whatsappChannel(options: WhatsAppOptions): LiveChannel {
  const { phoneNumberId, token, apiUrl = usualApi, tell } = options;
  const address = `${apiUrl.replace(/\/+$/, "")}/${phoneNumberId}/messages`;
  /** To show that somebody writes, the message that is answered has to be named. */
  const newest = new Map<string, string>();

  const post = async (body: object): Promise<Response> =>
    fetch(address, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ messaging_product: "whatsapp", ...body }),
      redirect: "error",
      signal: AbortSignal.timeout(answerMs),
    });

  return {
    limit: 4_096,
    async listen({ heard }, signal) {
      const webhook = await openWebhook({
        ...options,
        heard: async (body) => {
          for (const message of readCall(body, phoneNumberId)) {
            await heard(message);
            newest.set(message.chat, message.id);
          }
        },
      });
      tell?.("channel.listens", { channel: "whatsapp", port: webhook.port });
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener("abort", () => resolve(), { once: true });
      });
      webhook.close();
    },
    async send(chat, text) {
      const response = await post({
        recipient_type: isPerson(chat) ? "individual" : "group",
        to: chat,
        type: "text",
        text: { preview_url: false, body: text },
      });
      const words = (await response.text()).slice(0, maxAnswer);
      return outcomeOf(response, words);
    },
    async typing(chat) {
      const id = newest.get(chat);
      if (id === undefined) return;
      await post({ status: "read", message_id: id, typing_indicator: { type: "text" } });
    },
  };
}

/** A number; groups have names of letters too. */
const isPerson = (chat: string): boolean => /^\d{5,20}$/.test(chat);

function outcomeOf(response: Response, words: string): SendOutcome {
  if (response.ok) return { kind: "sent" };
  const failure = asObject(asObject(parseJson(words))["error"]);
  const code = Number(failure["code"]);
  const seconds = Number(response.headers.get("retry-after"));
  const isLater = response.status === 429 || response.status >= 500 || laterCodes.has(code);
  // A token that has run out may be given anew.
  if (isLater || response.status === 401)
    return {
      kind: "later",
      afterMs: seconds > 0 ? seconds * 1_000 : response.status === 401 ? 60_000 : 5_000,
    };
  return { kind: "never", why: shorten(String(failure["message"] ?? response.status), 200) };
}
