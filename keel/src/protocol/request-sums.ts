/**
 * What a request was made of, as sums of its bytes: equal sums are equal bytes, so that two requests, or a request and
 * its replay, can be compared without keeping either. No key is in them: keys go in headers.
 */
import * as z from "zod/mini";

/** The first 32 digits of the SHA-256 of some bytes, and how many bytes they are. */
export const bytesSumSchema = z.object({ digest: z.string(), bytes: z.number() });
export type BytesSum = z.infer<typeof bytesSumSchema>;

export const requestSumsSchema = z.object({
  /** The whole body, as it was written first: a server that refuses a field is sent it again without that field. */
  body: bytesSumSchema,
  /** The tools with the commas between them; left out, as the system prompt is, where there are none. */
  tools: z.optional(bytesSumSchema),
  system: z.optional(bytesSumSchema),
  /** The messages up to and with the one that carries a cache mark, for each such message; marks do not count. */
  prefixes: z.optional(z.array(z.object({ ...bytesSumSchema.shape, messages: z.number() }))),
});
export type RequestSums = z.infer<typeof requestSumsSchema>;
