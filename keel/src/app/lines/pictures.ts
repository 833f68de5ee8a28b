/** Pictures as host programs send them: base64 without anything around it, of a kind that models see. */
import * as z from "zod/mini";

export const base64 = z.string().check(
  z.minLength(4),
  z.refine((text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text), "is not base64"),
);
export const imageTypes = z.enum(["image/png", "image/jpeg", "image/gif", "image/webp"]);
