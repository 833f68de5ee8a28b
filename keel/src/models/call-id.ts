/** Ids of calls, as a wire takes them: a session may hold ids of several providers, and each wire has its own limits. */
import { fingerprint } from "../kernel/text.ts";

export type IdRule = { readonly allowed: RegExp; readonly mostCharacters: number };

/** The id itself where it fits; otherwise another one, always the same for the same id. */
export const wireId = (id: string, { allowed, mostCharacters }: IdRule): string =>
  id.length <= mostCharacters && allowed.test(id) ? id : `call_${fingerprint(id)}`;
