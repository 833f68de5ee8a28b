/** What a call of Meta's webhook says, as messages of chats. */
import * as z from "zod/mini";
import type { ChannelMessage } from "../../ports/groups.ts";
import { placeholder, withCaption } from "../placeholders.ts";

const text = z.string();
const opt = z.optional;

const captioned = z.looseObject({ caption: opt(text), filename: opt(text) });
const messageSchema = z.looseObject({
  id: text.check(z.minLength(1)),
  from: text,
  timestamp: text,
  type: text,
  group_id: opt(text),
  context: opt(z.looseObject({ from: opt(text), mentions: opt(z.array(text)) })),
  text: opt(z.looseObject({ body: text })),
  image: opt(captioned),
  video: opt(captioned),
  document: opt(captioned),
  audio: opt(z.looseObject({ voice: opt(z.boolean()) })),
  sticker: opt(z.looseObject({})),
  location: opt(z.looseObject({ latitude: z.number(), longitude: z.number(), name: opt(text) })),
  contacts: opt(z.array(z.looseObject({ name: opt(z.looseObject({ formatted_name: opt(text) })) }))),
  button: opt(z.looseObject({ text })),
  interactive: opt(
    z.looseObject({
      button_reply: opt(z.looseObject({ title: text })),
      list_reply: opt(z.looseObject({ title: text })),
    }),
  ),
});
type CloudMessage = z.infer<typeof messageSchema>;

const callSchema = z.looseObject({
  object: z.literal("whatsapp_business_account"),
  entry: z.array(
    z.looseObject({
      changes: z.array(
        z.looseObject({
          field: text,
          value: z.looseObject({
            metadata: opt(z.looseObject({ phone_number_id: text, display_phone_number: opt(text) })),
            contacts: opt(
              z.array(z.looseObject({ wa_id: text, profile: opt(z.looseObject({ name: opt(text) })) })),
            ),
            messages: opt(z.array(z.looseObject({}))),
          }),
        }),
      ),
    }),
  ),
});

/** For this number only: an app may have several. What is no message, or none that can be read, is left out. */
export function readCall(body: unknown, phoneNumberId: string): ChannelMessage[] {
  const parsed = callSchema.safeParse(body);
  if (!parsed.success) return [];
  const values = parsed.data.entry
    .flatMap(({ changes }) => changes)
    .filter(({ field, value }) => field === "messages" && value.metadata?.phone_number_id === phoneNumberId)
    .map(({ value }) => value);
  return values.flatMap(({ messages = [], contacts = [], metadata }) => {
    const own = (metadata?.display_phone_number ?? "").replace(/\D/g, "");
    const names = new Map(contacts.map(({ wa_id: id, profile }) => [id, profile?.name]));
    return messages.flatMap((one) => {
      const message = messageSchema.safeParse(one);
      return message.success ? (messageOf(message.data, names.get(message.data.from), own) ?? []) : [];
    });
  });
}

function messageOf(message: CloudMessage, name: string | undefined, own: string): ChannelMessage | undefined {
  const words = wordsOf(message);
  if (words === undefined || message.from === own) return undefined;
  const { group_id: group, context } = message;
  const from = name ?? message.from;
  return {
    id: message.id,
    chat: group ?? message.from,
    chatName: group ?? from,
    from,
    at: Number(message.timestamp) * 1_000 || 0,
    text: words,
    // Who writes to the number alone means it; in a group its number is named, or what it said is answered.
    isMention: group === undefined || context?.from === own || (context?.mentions ?? []).includes(own),
  };
}

function wordsOf(message: CloudMessage): string | undefined {
  const { image, video, document, audio, sticker, location, contacts, interactive } = message;
  if (message.text) return message.text.body;
  if (message.button) return message.button.text;
  const chosen = interactive?.button_reply ?? interactive?.list_reply;
  if (chosen) return chosen.title;
  if (image) return withCaption(placeholder("Photo"), image.caption);
  if (video) return withCaption(placeholder("Video"), video.caption);
  if (document) return withCaption(placeholder("File", document.filename), document.caption);
  if (audio) return placeholder(audio.voice === true ? "Voice message" : "Audio");
  if (sticker) return placeholder("Sticker");
  if (location)
    return placeholder("Location", location.name ?? `${location.latitude}, ${location.longitude}`);
  if (contacts)
    return placeholder("Contact", contacts.map(({ name }) => name?.formatted_name ?? "").join(", "));
  // Signs on messages of others, and what the service itself has to say.
  return ["reaction", "system", "unsupported"].includes(message.type) ? undefined : placeholder(message.type);
}
