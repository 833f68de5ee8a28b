/** Chat groups: each has an agent of its own. */
import * as z from "zod/mini";
import { jsonSchema } from "./message.ts";

const text = z.string();
const opt = z.optional;

export const groupChannels = ["local", "telegram", "irc", "whatsapp"] as const;
export type GroupChannel = (typeof groupChannels)[number];

export const groupBoxes = ["sandbox", "container", "none"] as const;

/** A folder beside its own that the agent of a group finds. */
export const groupMountSchema = z.object({
  hostPath: text.check(z.minLength(1)),
  /** Its name inside, below one folder for all of them; the last part of `hostPath` when left out. */
  containerPath: opt(text),
  /** True unless somebody says otherwise. */
  readonly: opt(z.boolean()),
});
export type GroupMount = z.infer<typeof groupMountSchema>;

export const groupIdSchema = text.check(z.regex(/^[a-z0-9][a-z0-9-]{0,63}$/));

const minutes = z.number().check(z.minimum(0.01), z.maximum(10_080));

export const groupSchema = z.object({
  id: groupIdSchema,
  /** What people call it. */
  name: text.check(z.minLength(1), z.maxLength(200)),
  /** Where its agent works. */
  folder: text,
  /** The session of its agent: one, from the beginning on. */
  session: text,
  channel: z.enum(groupChannels),
  /** Where the channel sends to. */
  chat: text.check(z.minLength(1), z.maxLength(200)),
  /** The agent's name as people write it at the start of a message. */
  trigger: text.check(z.minLength(1), z.maxLength(64)),
  /** Every message is meant for it. */
  always: z.boolean(),
  /** The person's own: its agent may administer every group. At most one has it. */
  main: opt(z.boolean()),
  /** What confines its agent, or the commands that its people make it run. */
  box: z.enum(groupBoxes),
  mounts: opt(z.array(groupMountSchema).check(z.maxLength(32))),
  limits: opt(
    z.object({
      /** Its box ends so long after the last query. */
      idleMinutes: opt(minutes),
      /** Its agent is stopped when it has said nothing for so long. */
      hardMinutes: opt(minutes),
    }),
  ),
  /** Of its session: mode, model, budget, as a first line in JSON has them. */
  options: z.record(text, jsonSchema),
  createdAt: z.number(),
});
export type ChatGroup = z.infer<typeof groupSchema>;

/** A chat that a channel has heard of. */
export type KnownChat = {
  readonly channel: GroupChannel;
  readonly chat: string;
  readonly name: string;
  readonly seenAt: number;
};

/** Where a group stands, as its book says. */
export type GroupStatus = {
  /** Messages that wait for one that is meant. */
  readonly waiting: number;
  /** What the agent was told and has not answered. */
  readonly open: number;
  /** The most tries that one of those has had. */
  readonly tries: number;
  readonly unsent: number;
  readonly lastAt: number | undefined;
};
