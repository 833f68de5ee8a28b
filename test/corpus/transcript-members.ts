// Where the members of a neutral record stand in our events, for the operations that set or remove one.
import { NOWHERE, uuidOf } from "./transcript-events.ts";

/** A record as it stands in a log, whatever it holds. */
export type RawEvent = { readonly seq: number; readonly session: string; readonly [member: string]: unknown };

type Path = readonly (string | number)[];
type Target = { readonly path: Path; readonly value: unknown };

const types: Readonly<Record<string, string>> = {
  session: "session.opened",
  user: "input.accepted",
  assistant: "model.finished",
  tool_start: "tool.started",
  tool_result: "tool.finished",
  compact_boundary: "context.compacted",
};

export type Change = {
  readonly path: Path;
  readonly value: unknown;
  readonly seqOf: (neutral: number) => number;
};

export function setMember(record: RawEvent, { path, value, seqOf }: Change): RawEvent {
  const target = translate(String(record["type"]), { path, value }, seqOf);
  const copy: RawEvent = structuredClone(record);
  put(copy, target.path, target.value);
  return copy;
}

export function unsetMember(record: RawEvent, key: string): RawEvent {
  const { path } = translate(String(record["type"]), { path: [key], value: undefined }, (neutral) => neutral);
  const { [String(path[0])]: _, ...rest } = record;
  return { ...rest, seq: record.seq, session: record.session };
}

function translate(type: string, { path, value }: Target, seqOf: (neutral: number) => number): Target {
  const [first, ...rest] = path;
  switch (first) {
    case "message":
      return inMessage(type, rest, value);
    case "type":
      return { path, value: Object.hasOwn(types, String(value)) ? types[String(value)] : value };
    case "ts":
      return { path: ["at"], value: typeof value === "string" ? Date.parse(value) || value : value };
    case "id":
      return {
        path: type === "input.accepted" ? ["input", "id"] : ["messageId"],
        value: uuidOf(String(value)),
      };
    case "seq":
      return { path, value: typeof value === "number" ? seqOf(value) : value };
    case "tool_use_id":
      return { path: ["callId"], value };
    case "is_error":
      return { path: ["failed"], value };
    case "content":
      return { path, value: typeof value === "string" ? [{ type: "text", text: value }] : value };
    case "model":
      return { path: ["settings", "model"], value };
    case "keepFrom":
      return { path: ["keep"], value: NOWHERE };
    default:
      return { path, value };
  }
}

function inMessage(type: string, path: Path, value: unknown): Target {
  const [second, ...rest] = path;
  if (type === "model.finished") {
    if (second === undefined || second === "content") return { path: ["content", ...rest], value };
    return second === "stop_reason" ? { path: ["stop"], value } : { path, value };
  }
  if (second === "content" && rest.length === 0) {
    return {
      path: ["input", "content"],
      value: typeof value === "string" ? [{ type: "text", text: value }] : value,
    };
  }
  // Who spoke is the nearest that our format has to a role.
  return second === "role" ? { path: ["input", "from", "kind"], value } : { path: ["input", ...path], value };
}

function put(into: unknown, path: Path, value: unknown): void {
  const [key, ...rest] = path;
  if (key === undefined || typeof into !== "object" || into === null) return;
  if (rest.length > 0) {
    put(Reflect.get(into, key), rest, value);
    return;
  }
  // As JSON would: a member that is called __proto__ is a member.
  Object.defineProperty(into, key, { value, enumerable: true, writable: true, configurable: true });
}
