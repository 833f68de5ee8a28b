/** A letter: what one session says to another of the same person, and how two processes speak of it. */
import * as z from "zod/mini";
import { mailLimits } from "../../agents/mail-bounds.ts";

const id = z.uuid();
const count = z.number().check(z.int(), z.minimum(0), z.maximum(10_000));

/** How far a word is from a person's: see `agents/mail-bounds.ts`. */
const waySchema = z.object({ hops: count, idleHops: count });

export const letterLineSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("letter"),
    id,
    from: id,
    /** Where the sender's process listens. Of one of this home it is known without that. */
    door: z.string().check(z.maxLength(200)),
    /** The only one that listens there when left out. */
    to: z.optional(id),
    words: z.string().check(z.minLength(1), z.maxLength(mailLimits.characters)),
    way: waySchema,
  }),
  /** Back to the sender: whether it has sent this. */
  z.object({
    type: z.literal("sent"),
    id,
    from: id,
    to: z.optional(id),
    sum: z.string().check(z.maxLength(100)),
  }),
]);
export type LetterLine = z.infer<typeof letterLineSchema>;
export type SentLetter = Extract<LetterLine, { type: "letter" }>;

export const letterAnswerSchema = z.object({
  ok: z.boolean(),
  why: z.optional(z.string().check(z.maxLength(500))),
});
export type LetterAnswer = z.infer<typeof letterAnswerSchema>;

/** As whoever takes it gets it: it is known who has sent it. */
export type ArrivedLetter = {
  readonly id: string;
  /** The address that answers it. */
  readonly from: string;
  readonly words: string;
  readonly way: SentLetter["way"];
};

/** Never rejects. The signal fires when its sender does not wait any more. */
export type TakeLetter = (letter: ArrivedLetter, signal: AbortSignal) => Promise<LetterAnswer>;

/** With what JSON makes of the longest words. */
export const maxLetterBytes = 8 * mailLimits.characters;
