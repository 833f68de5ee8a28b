/** Shapes of the protocol as JSON Schema, each of those that have a name told once and by it. */
import { isObject, type Json } from "../../kernel/json.ts";
import { schemaOf } from "../../kernel/schema.ts";
import { answerSchema, askSchema } from "../../protocol/ask.ts";
import { commandSchema, receiptSchema } from "../../protocol/command.ts";
import { durableSchema, faultDataSchema } from "../../protocol/event/durable.ts";
import { envelopeSchema } from "../../protocol/event/envelope.ts";
import { liveSchema } from "../../protocol/event/live.ts";
import { inputBlockSchema } from "../../protocol/message.ts";
import { sessionEntrySchema } from "../../protocol/operation.ts";
import { settingsPatchSchema } from "../../protocol/settings.ts";
import { clientFrameSchema, serverFrameSchema } from "../../protocol/wire.ts";
import {
  agentUpdateSchema,
  diffSummarySchema,
  fileDiffSchema,
  newWorkerSchema,
  terminalUpdateSchema,
  workerEntrySchema,
  workspaceEntrySchema,
  workspaceUpdateSchema,
} from "../../protocol/workspace.ts";

export type AnySchema = Parameters<typeof schemaOf<unknown>>[0];

const named: Readonly<Record<string, AnySchema>> = {
  Event: envelopeSchema,
  DurableEvent: durableSchema,
  LiveEvent: liveSchema,
  ClientFrame: clientFrameSchema,
  ServerFrame: serverFrameSchema,
  Command: commandSchema,
  Receipt: receiptSchema,
  Ask: askSchema,
  Answer: answerSchema,
  Fault: faultDataSchema,
  SessionEntry: sessionEntrySchema,
  SettingsPatch: settingsPatchSchema,
  InputBlock: inputBlockSchema,
  Workspace: workspaceEntrySchema,
  Worker: workerEntrySchema,
  NewWorker: newWorkerSchema,
  WorkspaceUpdate: workspaceUpdateSchema,
  TerminalUpdate: terminalUpdateSchema,
  AgentUpdate: agentUpdateSchema,
  DiffSummary: diffSummarySchema,
  FileDiff: fileDiffSchema,
};

export type NamedShapes = {
  /** By its name, where it has one. */
  of(schema: AnySchema): Json;
  /** Its own members, although it may have a name; what they are made of by name. */
  whole(schema: AnySchema): Json;
  all(): Record<string, Json>;
};

export const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

export function namedShapes(): NamedShapes {
  const nameOf = new Map(
    Object.entries(named).map(([name, schema]) => [JSON.stringify(jsonOf(schema)), name]),
  );
  const members = (json: Json): Json => {
    if (Array.isArray(json)) return json.map(withNames);
    if (!isObject(json)) return json;
    return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, withNames(value)]));
  };
  // By what it says, not by which schema said it: a schema that was extended or made optional is another object.
  const withNames = (json: Json): Json => {
    const name = isObject(json) ? nameOf.get(JSON.stringify(json)) : undefined;
    return name === undefined ? members(json) : ref(name);
  };
  const whole = (schema: AnySchema): Json => members(jsonOf(schema));
  return {
    of: (schema) => withNames(jsonOf(schema)),
    whole,
    all: () => Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, whole(schema)])),
  };
}

/** As it is sent. That a list is not changed here says nothing to others, and OpenAPI means something else by it. */
const jsonOf = (schema: AnySchema): Json => withoutReadOnly(schemaOf<unknown>(schema).json);

function withoutReadOnly(json: Json): Json {
  if (Array.isArray(json)) return json.map(withoutReadOnly);
  if (!isObject(json)) return json;
  return Object.fromEntries(
    Object.entries(json).flatMap(([key, value]) =>
      key === "readOnly" && value === true ? [] : [[key, withoutReadOnly(value)]],
    ),
  );
}
