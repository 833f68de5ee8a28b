/**
 * What a device that has no secret yet may ask of a server, and nothing else: it comes with a code, shows the digits that
 * it is told, and once a person has compared them gets a secret of its own.
 */
import * as z from "zod/mini";
import { accessSchema } from "./operation.ts";

const text = z.string();

/** Where each of them is posted to: all that a device has to know of them. */
export const openPaths = { claimPairing: "/api/pair", collectSecret: "/api/pair/secret" } as const;

export const openOperations = {
  claimPairing: {
    says: "Comes with a code, which is used up by it. Both sides show the digits now",
    method: "POST",
    path: openPaths.claimPairing,
    question: z.object({ code: text, name: text }),
    answer: z.object({ claim: text, digits: text, until: z.number() }),
  },
  collectSecret: {
    says: "Waits a while for a person to compare the digits, and gives the secret, once: as a cookie, or to be kept",
    method: "POST",
    path: openPaths.collectSecret,
    question: z.object({ claim: text, keep: z.enum(["cookie", "bearer"]) }),
    answer: z.union([
      z.object({ state: z.literal("waiting") }),
      z.object({
        state: z.literal("paired"),
        device: text,
        name: text,
        access: accessSchema,
        /** Left out where a cookie holds it. */
        secret: z.optional(text),
      }),
      z.object({ state: z.literal("over") }),
    ]),
  },
} as const;

export type OpenOperationName = keyof typeof openOperations;
export type OpenQuestion<Name extends OpenOperationName> = z.infer<(typeof openOperations)[Name]["question"]>;
export type OpenAnswer<Name extends OpenOperationName> = z.infer<(typeof openOperations)[Name]["answer"]>;

/** Letters and figures that cannot be taken for one another. Eight of them are 40 bits. */
export const codeLetters = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
export const codeLength = 8;

/** `K7QF-2MPX`, as it is read out. */
export const spelled = (code: string): string =>
  `${code.slice(0, codeLength / 2)}-${code.slice(codeLength / 2)}`;

/** Undefined for what cannot be a code, however it was typed. */
export function readCode(typed: string): string | undefined {
  const code = typed.replace(/[\s-]/g, "").toUpperCase();
  return code.length === codeLength && [...code].every((letter) => codeLetters.includes(letter))
    ? code
    : undefined;
}
