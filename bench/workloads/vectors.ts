/** Vectors that mean nothing, as long as those of a small model. */
import type { Prose } from "./prose.ts";

export const dimensions = 384;

export const randomVector = ({ chance }: Pick<Prose, "chance">): Float32Array =>
  Float32Array.from({ length: dimensions }, () => chance() - 0.5);

/** As people ask. */
export const spokenQuestions = (count: number): string[] =>
  Array.from(
    { length: count },
    (_, at) => `Which port does the gateway number ${at} of staging listen on, and who owns it?`,
  );
