/** The channels of a home's groups: what people say there is kept, and what agents answer goes out. */
import { isMeant } from "../../groups/trigger.ts";
import { toFault } from "../../kernel/fault.ts";
import type { Clock, Ids } from "../../ports/clock.ts";
import type {
  ChannelEars,
  ChannelMessage,
  ChatChannel,
  GroupBook,
  GroupRegister,
  LiveChannel,
} from "../../ports/groups.ts";
import type { ChatGroup, GroupChannel } from "../../protocol/group.ts";
import type { GroupSettings } from "./group-settings.ts";

export type ChannelKeys = Readonly<Record<string, string | undefined>>;

export type ChannelsPorts = {
  readonly settings: GroupSettings;
  /** What a channel needs to be let in, by its name. */
  readonly keys: ChannelKeys;
  readonly book: GroupBook & GroupRegister;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Something was said in a group. */
  rung(group: string): void;
  readonly tell?: ((what: string, facts: Readonly<Record<string, string | number>>) => void) | undefined;
};

type RemoteChannel = Exclude<GroupChannel, "local">;

/** Whoever asks for the log reads it there: the book itself is the channel. */
const localChannel: ChatChannel = { limit: 100_000, send: async () => ({ kind: "sent" }) };

const answerEveryMs = 10_000;
const maxAnswered = 1_000;
const usualWebhookPort = 8_317;
/** A channel that is not set up may be, with the next start. */
const missing: ChatChannel = { limit: 4_096, send: async () => ({ kind: "later", afterMs: 60_000 }) };

export class GroupChannels {
  readonly #ports: ChannelsPorts;
  readonly #ending = new AbortController();
  readonly #open = new Map<RemoteChannel, LiveChannel>();
  readonly #listening: Promise<void>[] = [];
  readonly #answeredAt = new Map<string, number>();

  constructor(ports: ChannelsPorts) {
    this.#ports = ports;
  }

  /** Those that are set up listen; what goes wrong with one is told, and the others go on. */
  async start(): Promise<void> {
    for (const name of ["telegram", "irc", "whatsapp"] as const) {
      try {
        const channel = await this.#make(name);
        if (!channel) continue;
        this.#open.set(name, channel);
        for (const { channel: own, chat } of await this.#ports.book.list())
          if (own === name) channel.attend?.(chat);
        this.#listening.push(this.#listen(name, channel));
      } catch (thrown) {
        this.#fail(name, thrown);
      }
    }
  }

  of({ channel, chat }: Pick<ChatGroup, "channel" | "chat">): ChatChannel {
    if (channel === "local") return localChannel;
    const open = this.#open.get(channel);
    open?.attend?.(chat);
    if (!open) this.#ports.tell?.("channel.missing", { channel });
    return open ?? missing;
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await Promise.allSettled(this.#listening);
  }

  async #listen(name: RemoteChannel, channel: LiveChannel): Promise<void> {
    const { book } = this.#ports;
    const ears: ChannelEars = {
      heard: (message) => this.#heard(name, message),
      mark: () => book.mark(name),
      keepMark: (mark) => book.keepMark(name, mark),
    };
    try {
      await channel.listen(ears, this.#ending.signal);
    } catch (thrown) {
      this.#fail(name, thrown);
    }
  }

  /** Resolves when it is on disk: the channel need not tell it again. */
  async #heard(channel: RemoteChannel, message: ChannelMessage): Promise<void> {
    if (await this.#answered(channel, message)) return;
    const { book, clock, rung } = this.#ports;
    const group = await book.at(channel, message.chat);
    if (!group) {
      const { chat, chatName: name } = message;
      return book.saw({ channel, chat, name, seenAt: clock.now() });
    }
    // Whom the channel itself names is meant, whatever the words are.
    const isNamed = message.isMention && !isMeant(message.text, group);
    const text = isNamed ? `${group.trigger} ${message.text}` : message.text;
    const { id, from, at } = message;
    if (await book.take(group.id, { id, from, at, text })) rung(group.id);
  }

  /**
   * Two words are for Keel itself, in every chat, so that a person can see that it listens and name the chat to `keel
   * groups register`. They cost no model, and one of them a while is answered.
   */
  async #answered(channel: RemoteChannel, { chat, text }: ChannelMessage): Promise<boolean> {
    const [, word] = /^\/(ping|chatid)(?:@\w+)?\s*$/.exec(text) ?? [];
    if (word === undefined) return false;
    const now = this.#ports.clock.now();
    if (now - (this.#answeredAt.get(chat) ?? Number.NEGATIVE_INFINITY) < answerEveryMs) return true;
    if (this.#answeredAt.size >= maxAnswered) this.#answeredAt.clear();
    this.#answeredAt.set(chat, now);
    const answer = word === "ping" ? "Keel listens here." : `This chat is ${channel}:${chat}`;
    // Whoever asks again is answered: it is not worth a place in the book.
    await this.#open
      .get(channel)
      ?.send(chat, answer)
      .catch(() => undefined);
    return true;
  }

  #fail(channel: RemoteChannel, thrown: unknown): void {
    const { code, message } = toFault(thrown);
    this.#ports.tell?.("channel.failed", { channel, what: "start", why: `${code}: ${message}` });
  }

  /** Undefined where it is not set up. */
  async #make(name: RemoteChannel): Promise<LiveChannel | undefined> {
    const { settings, keys, clock, ids, tell } = this.#ports;
    const common = { clock, ids, tell };
    if (name === "telegram") {
      const token = keys["telegram"];
      if (token === undefined) return undefined;
      const { telegramChannel } = await import("../../channels/telegram/channel.ts");
      return telegramChannel({ ...common, token, ...settings.telegram });
    }
    if (name === "irc") {
      if (!settings.irc) return undefined;
      const { ircChannel } = await import("../../channels/irc/channel.ts");
      return ircChannel({ ...common, ...settings.irc, password: keys["irc"] });
    }
    const { whatsapp: token, "whatsapp-secret": appSecret, "whatsapp-verify": verifyToken } = keys;
    if (!settings.whatsapp || token === undefined || appSecret === undefined || verifyToken === undefined)
      return undefined;
    const { whatsappChannel } = await import("../../channels/whatsapp/channel.ts");
    const { port = usualWebhookPort, ...rest } = settings.whatsapp;
    return whatsappChannel({ ...rest, port, token, appSecret, verifyToken, tell });
  }
}
