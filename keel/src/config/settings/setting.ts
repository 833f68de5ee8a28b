/** What every setting is made of. */
import * as z from "zod/mini";

/** A setting that may be left out, and what it means to a person. */
export const setting = <T extends z.ZodMiniType>(type: T, about: string): z.ZodMiniOptional<T> =>
  z.optional(type.check(z.describe(about)));

export const texts = z.array(z.string());
