/** From a method and a path to the operation that they name, by the table; from a fault to a status. */
import type { FaultCode } from "../../kernel/faults.ts";
import { isOperation, type OperationName, operations } from "../../protocol/operation.ts";

export type Route =
  | {
      readonly kind: "operation";
      readonly name: OperationName;
      readonly fields: Readonly<Record<string, string>>;
    }
  | { readonly kind: "events"; readonly session: string }
  /** The path is known, and not with this method. */
  | { readonly kind: "wrong-method" };

/** Undefined for a path that is none. */
export function routeOf(method: string, path: string): Route | undefined {
  const events = fieldsIn("/api/sessions/{session}/events", path);
  if (events) return method === "GET" ? { kind: "events", session: events["session"] ?? "" } : wrongMethod;
  let isKnown = false;
  for (const [name, row] of Object.entries(operations)) {
    const fields = fieldsIn(row.path, path);
    if (!fields || !isOperation(name)) continue;
    if (row.method === method) return { kind: "operation", name, fields };
    isKnown = true;
  }
  return isKnown ? wrongMethod : undefined;
}

const wrongMethod: Route = { kind: "wrong-method" };

/** A name in a path is a word: nothing that could lead elsewhere. */
const wordPattern = /^[\w-]{1,100}$/;

function fieldsIn(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return undefined;
  const fields: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? "";
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined ? part !== value : !wordPattern.test(value)) return undefined;
    if (name !== undefined) fields[name] = value;
  }
  return fields;
}

const statuses: { readonly [Code in FaultCode]?: number } = {
  usage: 400,
  session_invalid_id: 400,
  access_refused: 403,
  mode_refused: 403,
  session_unknown: 404,
  session_busy: 409,
  session_exists: 409,
  session_closed: 410,
  queue_full: 429,
};

export const statusOf = (code: FaultCode): number => statuses[code] ?? 500;
