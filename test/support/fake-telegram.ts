/** Telegram's Bot API as far as a bot uses it, over real HTTP, with whatever goes wrong there. */
import type { ServerResponse } from "node:http";
import { type Loopback, loopback } from "./loopback.ts";

export const telegramToken = "123456:test-token";
export const telegramBot = { id: 99, is_bot: true, first_name: "Keel", username: "keel_test_bot" };

export type TelegramTrouble = "429" | "500" | "400" | "cut-before" | "cut-after";
export type SentText = { readonly chat: string; readonly text: string; readonly topic?: number };

export type FakeTelegram = Loopback & {
  /** What people of chats read. */
  readonly sent: SentText[];
  /** What goes wrong with a call; nothing when it is left out. */
  trouble: (method: string, body: Record<string, unknown>) => TelegramTrouble | undefined;
  /** Somebody says something; told again under another number where it is said twice with the same id. */
  say(chat: number, text: string, more?: Record<string, unknown>): void;
  update(update: Record<string, unknown>): void;
  /** Updates that the bot has not said to have. */
  pending(): number;
};

export async function fakeTelegram(): Promise<FakeTelegram> {
  let updates: { update_id: number }[] = [];
  let [nextUpdate, nextMessage] = [1, 1];
  const waiting = new Set<() => void>();
  const sent: SentText[] = [];
  const answerWith = (response: ServerResponse, status: number, body: object): void => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  const methods: Record<
    string,
    (body: Record<string, unknown>, response: ServerResponse) => Promise<unknown>
  > = {
    getMe: async () => telegramBot,
    getUpdates: async (body, response) => {
      const offset = Number(body["offset"] ?? 0);
      updates = updates.filter(({ update_id: id }) => id >= offset);
      if (updates.length === 0)
        await new Promise<void>((resolve) => {
          waiting.add(resolve);
          response.on("close", resolve);
          setTimeout(resolve, Math.min(Number(body["timeout"] ?? 0) * 1_000, 2_000)).unref();
        });
      return updates.slice(0, Number(body["limit"] ?? 100));
    },
    sendMessage: async (body) => {
      const topic = body["message_thread_id"];
      sent.push({
        chat: String(body["chat_id"]),
        text: String(body["text"]),
        ...(topic === undefined ? {} : { topic: Number(topic) }),
      });
      return { message_id: nextMessage++, date: 1, chat: { id: Number(body["chat_id"]), type: "group" } };
    },
    sendChatAction: async () => true,
  };
  const server = await loopback(async (response, { path, body: text }) => {
    const [, token, method = ""] = /^\/bot([^/]+)\/(\w+)$/.exec(path) ?? [];
    const body = text === "" ? {} : JSON.parse(text);
    if (token !== telegramToken)
      return answerWith(response, 401, { ok: false, error_code: 401, description: "Unauthorized" });
    const handler = methods[method];
    if (!handler) return answerWith(response, 404, { ok: false, error_code: 404, description: "Not Found" });
    const trouble = fake.trouble(method, body);
    if (trouble === "cut-before") return void response.destroy();
    if (trouble === "429")
      return answerWith(response, 429, {
        ok: false,
        error_code: 429,
        description: "Too Many Requests: retry after 1",
        parameters: { retry_after: 1 },
      });
    if (trouble === "500" || trouble === "400")
      return answerWith(response, Number(trouble), {
        ok: false,
        error_code: Number(trouble),
        description: trouble === "400" ? "Bad Request: chat not found" : "Internal Server Error",
      });
    if (method === "sendMessage" && String(body["text"]).length > 4_096)
      return answerWith(response, 400, {
        ok: false,
        error_code: 400,
        description: "Bad Request: message is too long",
      });
    const result = await handler(body, response);
    if (trouble === "cut-after") return void response.destroy();
    answerWith(response, 200, { ok: true, result });
  });
  const fake: FakeTelegram = {
    ...server,
    sent,
    trouble: () => undefined,
    say(chat, text, more = {}) {
      const { message_id: id = nextMessage++, ...rest } = more;
      fake.update({
        message: {
          message_id: id,
          date: 1_790_000_000,
          chat: { id: chat, type: "supergroup", title: `Chat ${chat}` },
          from: { id: 7, is_bot: false, first_name: "Ana" },
          ...("photo" in rest || "text" in rest ? {} : { text }),
          ...rest,
        },
      });
    },
    update(update) {
      updates.push({ update_id: nextUpdate++, ...update });
      for (const wake of waiting) wake();
      waiting.clear();
    },
    pending: () => updates.length,
  };
  return fake;
}
