/**
 * IRC, by `irc-framework`. A server of IRC keeps nothing for who is away and acknowledges nothing: a line counts as sent
 * once the server has answered a ping that was sent behind it.
 */
import { delayMs } from "../../kernel/backoff.ts";
import { fault } from "../../kernel/fault.ts";
import type { Clock, Ids } from "../../ports/clock.ts";
import type { ChannelEars, LiveChannel, SendOutcome } from "../../ports/groups.ts";
import { loadLibrary } from "../load.ts";
import { isNamed, linesOf, messageId } from "./lines.ts";

export const ircPackage = "irc-framework";

type IrcHandler = (event: Readonly<Record<string, unknown>>) => void;
type IrcClient = {
  readonly user: { readonly nick: string };
  connect(options: Readonly<Record<string, unknown>>): void;
  on(event: string, handler: IrcHandler): void;
  removeListener(event: string, handler: IrcHandler): void;
  say(target: string, message: string): unknown;
  join(channel: string): void;
  changeNick(nick: string): void;
  raw(...words: string[]): void;
  quit(message?: string): void;
};
type IrcLibrary = { readonly Client: new () => IrcClient };

const isLibrary = (loaded: object): loaded is IrcLibrary =>
  "Client" in loaded && typeof loaded.Client === "function";

export type IrcOptions = {
  readonly host: string;
  readonly port?: number | undefined;
  readonly tls?: boolean | undefined;
  readonly nick?: string | undefined;
  readonly password?: string | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly tell?: ((what: string, facts: Readonly<Record<string, string | number>>) => void) | undefined;
  /** Between two lines, once the first few are out: servers cut off who floods them. */
  readonly gapMs?: number | undefined;
};

const retryPause = { firstMs: 1_000, maxMs: 120_000 };
const answerMs = 30_000;
/** So many lines go at once. */
const burst = 4;

export function ircChannel(options: IrcOptions): LiveChannel {
  const { clock, ids, tell, gapMs = 1_500 } = options;
  const { Client } = loadLibrary(ircPackage, isLibrary);
  const chats = new Set<string>();
  let ready: { readonly client: IrcClient; readonly over: AbortSignal } | undefined;

  /** One connection, from its start to its end. True where it came to be registered. */
  const live = async ({ heard }: ChannelEars, signal: AbortSignal): Promise<boolean> => {
    const client = new Client();
    const ended = new AbortController();
    const over = AbortSignal.any([ended.signal, signal]);
    let registered = false;
    // One after the other, in the order in which they came.
    let keeping: Promise<void> = Promise.resolve();
    client.on("registered", () => {
      registered = true;
      ready = { client, over };
      for (const chat of chats) if (isRoom(chat)) client.join(chat);
    });
    client.on("nick in use", () =>
      client.changeNick(`${options.nick ?? "keel"}${Math.floor(ids.random() * 1_000)}`),
    );
    client.on("message", (event) => {
      const { type, nick, target, message, tags, time } = event;
      if (type !== "privmsg" && type !== "action") return;
      const [from, to, words] = [String(nick ?? ""), String(target ?? ""), String(message ?? "")];
      if (from === "" || from === client.user.nick) return;
      const chat = isRoom(to) ? to.toLowerCase() : from;
      const at = typeof time === "number" ? time : clock.now();
      const one = {
        id: messageId(tags, () => ids.uuid()),
        chat,
        chatName: isRoom(to) ? to : from,
        from,
        at,
        text: type === "action" ? `* ${from} ${words}` : words,
        // Who writes to it alone means it.
        isMention: !isRoom(to) || isNamed(words, client.user.nick),
      };
      keeping = keeping.then(() =>
        heard(one).catch(() => tell?.("channel.failed", { channel: "irc", what: "keep", why: "disk" })),
      );
    });
    client.on("invite", ({ channel }) => {
      if (typeof channel === "string" && chats.has(channel.toLowerCase())) client.join(channel);
    });
    const end = (): void => ended.abort();
    client.on("close", end);
    client.on("socket close", end);
    const { tls = true } = options;
    client.connect({
      host: options.host,
      port: options.port ?? (tls ? 6_697 : 6_667),
      tls,
      nick: options.nick ?? "keel",
      username: "keel",
      gecos: "an agent",
      auto_reconnect: false,
      version: null,
      ...(options.password === undefined
        ? {}
        : { account: { account: options.nick ?? "keel", password: options.password } }),
    });
    await fired(over);
    if (ready?.client === client) ready = undefined;
    if (signal.aborted) client.quit();
    await keeping;
    return registered;
  };

  /** Resolves when the server has read everything before it. */
  const pong = async (client: IrcClient, over: AbortSignal): Promise<boolean> => {
    const word = `keel-${ids.uuid()}`;
    const answered = new AbortController();
    const hear: IrcHandler = ({ message }) => {
      if (message === word) answered.abort();
    };
    client.on("pong", hear);
    client.raw("PING", word);
    await clock.sleep(answerMs, AbortSignal.any([answered.signal, over]));
    client.removeListener("pong", hear);
    return answered.signal.aborted;
  };

  return {
    limit: 2_000,
    attend(chat) {
      const name = isRoom(chat) ? chat.toLowerCase() : chat;
      if (chats.has(name)) return;
      chats.add(name);
      if (isRoom(name)) ready?.client.join(name);
    },
    async listen(ears, signal) {
      for (let tries = 1; !signal.aborted; tries++) {
        if (await live(ears, signal)) tries = 1;
        if (signal.aborted) return;
        tell?.("channel.failed", { channel: "irc", what: "connection", why: "closed" });
        await clock.sleep(delayMs(retryPause, tries, ids.random()), signal);
      }
    },
    async send(chat, text): Promise<SendOutcome> {
      if (!ready) return { kind: "later", afterMs: 1_000 };
      const { client, over } = ready;
      for (const [at, line] of linesOf(text).entries()) {
        if (at >= burst) await clock.sleep(gapMs, over);
        client.say(chat, line);
      }
      if (await pong(client, over)) return { kind: "sent" };
      // Cut in between: what was said of it already is said again.
      throw fault("link_lost", { reason: "the server did not answer" });
    },
  };
}

const isRoom = (target: string): boolean => /^[#&+!]/.test(target);

const fired = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
