/** Chat groups: each has an agent of its own. */
import * as z from "zod/mini";
import { jsonSchema } from "./message.ts";

const text = z.string();

export const groupSchema = z.object({
  id: text.check(z.regex(/^[a-z0-9][a-z0-9-]{0,63}$/)),
  /** What people call it. */
  name: text.check(z.minLength(1), z.maxLength(200)),
  /** Where its agent works. */
  folder: text,
  /** The session of its agent: one, from the beginning on. */
  session: text,
  channel: z.enum(["local"]),
  /** Where the channel sends to. */
  chat: text,
  /** The agent's name as people write it at the start of a message. */
  trigger: text.check(z.minLength(1), z.maxLength(64)),
  /** Every message is meant for it. */
  always: z.boolean(),
  /** What confines the commands that its people make it run. */
  box: z.enum(["sandbox", "none"]),
  /** Of its session: mode, model, budget, as a first line in JSON has them. */
  options: z.record(text, jsonSchema),
  createdAt: z.number(),
});
export type ChatGroup = z.infer<typeof groupSchema>;
