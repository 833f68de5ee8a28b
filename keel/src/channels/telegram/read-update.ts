/** What an update of Telegram's says, as a message of a chat: words as they are, everything else as a placeholder. */
import * as z from "zod/mini";
import type { ChannelMessage } from "../../ports/groups.ts";
import { placeholder, withCaption } from "../placeholders.ts";

const text = z.string();
const opt = z.optional;
const some = z.looseObject({});

const person = z.looseObject({
  id: z.number(),
  is_bot: opt(z.boolean()),
  first_name: opt(text),
  last_name: opt(text),
  username: opt(text),
});
const chat = z.looseObject({
  id: z.number(),
  title: opt(text),
  username: opt(text),
  first_name: opt(text),
  last_name: opt(text),
});
const entity = z.looseObject({
  type: text,
  offset: z.number(),
  length: z.number(),
  user: opt(z.looseObject({ id: z.number() })),
});

const quoted = z.looseObject({ from: opt(person), text: opt(text), caption: opt(text) });

const messageSchema = z.looseObject({
  message_id: z.number(),
  message_thread_id: opt(z.number()),
  is_topic_message: opt(z.boolean()),
  date: z.number(),
  edit_date: opt(z.number()),
  chat,
  from: opt(person),
  sender_chat: opt(chat),
  text: opt(text),
  caption: opt(text),
  entities: opt(z.array(entity)),
  caption_entities: opt(z.array(entity)),
  reply_to_message: opt(quoted),
  photo: opt(z.array(some)),
  video: opt(some),
  video_note: opt(some),
  animation: opt(some),
  voice: opt(some),
  audio: opt(z.looseObject({ title: opt(text), file_name: opt(text) })),
  document: opt(z.looseObject({ file_name: opt(text) })),
  sticker: opt(z.looseObject({ emoji: opt(text) })),
  location: opt(z.looseObject({ latitude: z.number(), longitude: z.number() })),
  venue: opt(z.looseObject({ title: text })),
  contact: opt(z.looseObject({ first_name: text, last_name: opt(text) })),
  poll: opt(z.looseObject({ question: text })),
  dice: opt(z.looseObject({ emoji: opt(text), value: z.number() })),
});
type TelegramMessage = z.infer<typeof messageSchema>;

const updateSchema = z.looseObject({
  update_id: z.number(),
  message: opt(messageSchema),
  edited_message: opt(messageSchema),
});

export type BotSelf = { readonly id: number; readonly username: string };

/** What is asked for; other kinds of updates are not sent. */
export const wantedUpdates = ["message", "edited_message"] as const;

/** Its number, and what it says; nothing for one that says nothing to people, or that is the bot's own. */
export function readUpdate(
  update: unknown,
  self: BotSelf,
): { readonly id: number; readonly message?: ChannelMessage } | undefined {
  const parsed = updateSchema.safeParse(update);
  if (!parsed.success) {
    // One that cannot be read must not be read for ever.
    const number = z.looseObject({ update_id: z.number() }).safeParse(update);
    return number.success ? { id: number.data.update_id } : undefined;
  }
  const { update_id: id, message, edited_message: edited } = parsed.data;
  const said = message ?? edited;
  const read = said && messageOf(said, self, edited !== undefined);
  return read ? { id, message: read } : { id };
}

function messageOf(message: TelegramMessage, self: BotSelf, isEdit: boolean): ChannelMessage | undefined {
  if (message.from?.id === self.id) return undefined;
  const words = wordsOf(message);
  if (words === undefined) return undefined;
  const { reply_to_message: quote, chat: where } = message;
  const topic = message.is_topic_message ? message.message_thread_id : undefined;
  return {
    id: isEdit ? `${message.message_id}~${message.edit_date ?? 0}` : String(message.message_id),
    chat: topic === undefined ? String(where.id) : `${where.id}/${topic}`,
    chatName: where.title ?? nameOf(where),
    from: message.from ? nameOf(message.from) : (message.sender_chat?.title ?? "somebody"),
    at: message.date * 1_000,
    text: `${isEdit ? "(edited) " : ""}${words}${quote ? quoteOf(quote) : ""}`,
    isMention: !isEdit && (isNamed(message, self) || quote?.from?.id === self.id),
  };
}

/** What is said, and what stands for what cannot be read. Undefined for what nobody said, such as that somebody came. */
function wordsOf(message: TelegramMessage): string | undefined {
  if (message.text !== undefined) return message.text;
  const thing = thingOf(message);
  return thing === undefined ? undefined : withCaption(thing, message.caption);
}

function thingOf(message: TelegramMessage): string | undefined {
  const { audio, document, sticker, location, contact } = message;
  // A moving picture is told as a document too: the first that fits counts.
  if (message.photo) return placeholder("Photo");
  if (message.animation) return placeholder("GIF");
  if (message.video) return placeholder("Video");
  if (message.video_note) return placeholder("Video message");
  if (message.voice) return placeholder("Voice message");
  if (audio) return placeholder("Audio", audio.title ?? audio.file_name);
  if (document) return placeholder("File", document.file_name);
  if (sticker) return placeholder("Sticker", sticker.emoji);
  if (message.venue) return placeholder("Place", message.venue.title);
  if (location) return placeholder("Location", `${location.latitude}, ${location.longitude}`);
  if (contact) return placeholder("Contact", [contact.first_name, contact.last_name].join(" ").trim());
  if (message.poll) return placeholder("Poll", message.poll.question);
  if (message.dice) return placeholder("Dice", `${message.dice.emoji ?? ""} ${message.dice.value}`.trim());
  return undefined;
}

/** By an entity, which Telegram makes: a text that only looks like a name is none. */
function isNamed(message: TelegramMessage, { id, username }: BotSelf): boolean {
  const words = message.text ?? message.caption ?? "";
  const name = `@${username}`.toLowerCase();
  return (message.entities ?? message.caption_entities ?? []).some(({ type, offset, length, user }) => {
    const part = words.slice(offset, offset + length).toLowerCase();
    return (
      (type === "mention" && part === name) ||
      (type === "text_mention" && user?.id === id) ||
      (type === "bot_command" && part.endsWith(name))
    );
  });
}

const maxQuoted = 200;

function quoteOf({ from, text: words, caption }: z.infer<typeof quoted>): string {
  const said = (words ?? caption ?? "").replace(/\s+/g, " ").trim();
  const short = said.length > maxQuoted ? `${said.slice(0, maxQuoted)}…` : said;
  const who = from ? nameOf(from) : "somebody";
  return `\n(in reply to ${who}${short === "" ? "" : `: ${short}`})`;
}

type NamedParty = {
  readonly first_name?: string | undefined;
  readonly last_name?: string | undefined;
  readonly username?: string | undefined;
};

function nameOf({ first_name: first = "", last_name: last = "", username }: NamedParty): string {
  return `${first} ${last}`.trim() || username || "somebody";
}
