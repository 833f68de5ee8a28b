/** Ids of calls on a wire that need not have any. */
import { fingerprint } from "../../kernel/text.ts";

const ownMark = "keel_call_";

/** The id of a call to which the server gave none. */
export const givenId = (response: string, position: number): string =>
  `${ownMark}${fingerprint(response)}_${position}`;

/** The id as the server knows it; none when it was ours, or cannot be one of its own. */
export const idOnWire = (id: string): { id?: string } =>
  id.startsWith(ownMark) || !/^[\w-]{1,64}$/.test(id) ? {} : { id };
