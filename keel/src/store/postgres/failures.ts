/** What PostgreSQL and the way to it refuse, as faults and as the system would say it; by codes, never by words. */
import { codeOf, Fault, fault, reasonOf } from "../../kernel/fault.ts";
import { errno } from "../sqlite/database.ts";

/** By SQLSTATE: the code of the system that means the same. */
const systemCodes: Readonly<Record<string, string>> = {
  "53100": "ENOSPC",
  "25006": "EROFS",
  "58030": "EIO",
};
const tooMany = "53300";
/** Another transaction was in the way: the same once more goes through. */
const again: ReadonlySet<string> = new Set(["40001", "40P01", "55P03"]);
/** The server ends, starts, or ended this connection. */
const ended: ReadonlySet<string> = new Set(["57P01", "57P02", "57P03", "57P05", "53200"]);

const missingTable = "42P01";

const stateOf = (thrown: unknown): string | undefined => {
  const code = codeOf(thrown);
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith("E") ? code : undefined;
};

export const isMissingTable = (thrown: unknown): boolean => stateOf(thrown) === missingTable;

/** What the way to a server answers where there is none, or not any more. */
const wayCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EAI_AGAIN",
  "ENOTFOUND",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/** It came from the way to the server: the library itself gives no code to what it finds there. */
function isOfWay(thrown: unknown): boolean {
  if (!(thrown instanceof Error) || thrown instanceof Fault || thrown instanceof TypeError) return false;
  const code = codeOf(thrown);
  return code === undefined || wayCodes.has(code) || code.startsWith("08") || ended.has(code);
}

/** Whether it may go through when it is tried once more. */
export const mayPass = (thrown: unknown): boolean => isOfWay(thrown) || again.has(stateOf(thrown) ?? "");

/** `place`: the database as it may be shown. */
export function asFailure(thrown: unknown, place: string): unknown {
  if (isOfWay(thrown))
    return fault("database_away", { database: place, reason: reasonOf(thrown), cause: thrown });
  const state = stateOf(thrown);
  if (state === undefined) return thrown;
  const reason = reasonOf(thrown);
  if (state === tooMany) return fault("database_busy", { database: place, reason, cause: thrown });
  if (state.startsWith("28") || state === "3D000" || state === "42501")
    return fault("database_refused", { database: place, reason, cause: thrown });
  const code = systemCodes[state];
  return code === undefined ? thrown : errno(code, reason, thrown);
}
