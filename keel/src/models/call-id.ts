/** Ids of calls, as a wire takes them: a session may hold ids of several providers, and each wire has its own limits. */
import { fingerprint } from "../kernel/text.ts";

export type IdRule = { readonly allowed: RegExp; readonly maxCharacters: number };

/** The id itself where it fits; otherwise another one, always the same for the same id. */
export const wireId = (id: string, { allowed, maxCharacters }: IdRule): string =>
  id.length <= maxCharacters && allowed.test(id) ? id : `call_${fingerprint(id)}`;
