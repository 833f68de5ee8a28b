/** Telegram, by its Bot API: messages come by long polling, and are asked for again until they are on disk here. */
import { delayMs } from "../../kernel/backoff.ts";
import { isObject } from "../../kernel/json.ts";
import { shorten } from "../../kernel/text.ts";
import type { Clock, Ids } from "../../ports/clock.ts";
import type { ChannelEars, LiveChannel, SendOutcome } from "../../ports/groups.ts";
import { loadLibrary } from "../load.ts";
import { type BotSelf, readUpdate, wantedUpdates } from "./read-update.ts";

export const telegramPackage = "grammy";

/** What Keel needs of the library: its client. */
type BotApi = {
  getMe(signal?: AbortSignal): Promise<{ id: number; username?: string }>;
  getUpdates(
    other: { offset: number; limit: number; timeout: number; allowed_updates: readonly string[] },
    signal?: AbortSignal,
  ): Promise<readonly unknown[]>;
  sendMessage(
    chat: string,
    text: string,
    other?: { message_thread_id?: number },
    signal?: AbortSignal,
  ): Promise<unknown>;
  sendChatAction(chat: string, action: "typing", other?: object, signal?: AbortSignal): Promise<unknown>;
};
type TelegramLibrary = {
  readonly Api: new (
    token: string,
    options: { apiRoot?: string; timeoutSeconds: number; sensitiveLogs: boolean },
  ) => BotApi;
};

const isLibrary = (loaded: object): loaded is TelegramLibrary =>
  "Api" in loaded && typeof loaded.Api === "function";

export type TelegramOptions = {
  readonly token: string;
  readonly apiUrl?: string | undefined;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "random">;
  readonly tell?: ((what: string, facts: Readonly<Record<string, string | number>>) => void) | undefined;
  /** How long one question may wait at the server; tests are in a hurry. */
  readonly pollSeconds?: number | undefined;
};

const retryPause = { firstMs: 1_000, maxMs: 60_000 };
/** A sign that never comes is no reason to wait for ever. */
const sendSeconds = 60;

export function telegramChannel(options: TelegramOptions): LiveChannel {
  const { token, apiUrl, clock, ids, tell, pollSeconds = 50 } = options;
  const { Api } = loadLibrary(telegramPackage, isLibrary);
  const api = new Api(token, {
    ...(apiUrl === undefined ? {} : { apiRoot: apiUrl.replace(/\/+$/, "") }),
    timeoutSeconds: pollSeconds + sendSeconds,
    sensitiveLogs: false,
  });

  /** Until it succeeds or the signal fires. */
  const insist = async <T>(
    what: string,
    work: () => Promise<T>,
    signal: AbortSignal,
  ): Promise<T | undefined> => {
    for (let tries = 1; !signal.aborted; tries++) {
      try {
        return await work();
      } catch (thrown) {
        if (signal.aborted) return undefined;
        const refused = refusalIn(thrown);
        tell?.("channel.failed", { channel: "telegram", what, why: refused?.why ?? "unreachable" });
        await clock.sleep(refused?.afterMs ?? delayMs(retryPause, tries, ids.random()), signal);
      }
    }
    return undefined;
  };

  const poll = async (self: BotSelf, { heard, mark, keepMark }: ChannelEars, signal: AbortSignal) => {
    let offset = Number((await mark()) ?? 0);
    while (!signal.aborted) {
      const question = { offset, limit: 100, timeout: pollSeconds, allowed_updates: [...wantedUpdates] };
      const updates = await insist("getUpdates", () => api.getUpdates(question, signal), signal);
      for (const update of updates ?? []) {
        const read = readUpdate(update, self);
        if (!read) continue;
        const { id, message } = read;
        // What cannot be kept is asked for again: the next question does not say that it is here.
        if (message) await insist("keep", () => heard(message), signal);
        if (signal.aborted) return;
        offset = Math.max(offset, id + 1);
      }
      if (updates !== undefined && updates.length > 0) await keepMark(String(offset));
    }
  };

  return {
    limit: 4_096,
    async listen(ears, signal) {
      const me = await insist("getMe", () => api.getMe(signal), signal);
      if (!me) return;
      await poll({ id: me.id, username: me.username ?? "" }, ears, signal);
    },
    async send(address, words) {
      const { chat, topic } = addressOf(address);
      try {
        await api.sendMessage(chat, words, topic === undefined ? {} : { message_thread_id: topic });
        return { kind: "sent" };
      } catch (thrown) {
        const refused = refusalIn(thrown);
        // Nobody answered: whether it was sent is not known, and rather twice than never.
        if (!refused) throw thrown;
        return outcomeOf(refused);
      }
    },
    async typing(address) {
      const { chat, topic } = addressOf(address);
      await api.sendChatAction(chat, "typing", topic === undefined ? {} : { message_thread_id: topic });
    },
  };
}

function addressOf(address: string): { chat: string; topic: number | undefined } {
  const [chat = "", topic] = address.split("/");
  return { chat, topic: topic === undefined ? undefined : Number(topic) };
}

type BotRefusal = { readonly status: number; readonly why: string; readonly afterMs: number | undefined };

/** What the server itself said against it. */
function refusalIn(thrown: unknown): BotRefusal | undefined {
  if (!isObject(thrown) || typeof thrown["error_code"] !== "number") return undefined;
  const { error_code: status, description, parameters } = thrown;
  const after = isObject(parameters) ? parameters["retry_after"] : undefined;
  return {
    status,
    why: shorten(String(description ?? status), 200),
    afterMs: typeof after === "number" ? after * 1_000 : undefined,
  };
}

const outcomeOf = ({ status, why, afterMs }: BotRefusal): SendOutcome => {
  if (status === 429 || status >= 500) return { kind: "later", afterMs: afterMs ?? 5_000 };
  // A token that was taken back may be given anew.
  return status === 401 ? { kind: "later", afterMs: 60_000 } : { kind: "never", why };
};
