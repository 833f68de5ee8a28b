// The shapes of the durable events, as they stand in a log, as data, for keel/src/protocol/event-shapes.ts.
import type { Member, ValueShape } from "../../keel/src/kernel/shape.ts";
import { durableEventSchema } from "../../keel/src/protocol/event/durable.ts";
import { jsonSchema } from "../../keel/src/protocol/message.ts";

export function eventShapesFile(): string {
  const shape = shapeOf(durableEventSchema);
  if (shape.kind !== "by") throw new Error("events are no longer told apart by one member");
  const rows = Object.entries(shape.of).map(
    ([name, each]) => `  ${JSON.stringify(name)}: shape(${inQuotes(JSON.stringify(withEnvelope(each)))}),`,
  );
  return `/**
 * The shapes of the durable events by their ${JSON.stringify(shape.key)}, as they stand in a log: written by \`npm run reference\` from
 * their schemas. The check fails while they are stale. As texts of JSON, since every start loads all and needs a few.
 */
import { once } from "../kernel/once.ts";
import type { ValueShape } from "../kernel/shape.ts";

const shape = (json: string): (() => ValueShape) => once(() => JSON.parse(json));

// biome-ignore format: one line for each, as they are made
export const durableShapes: Readonly<Record<string, () => ValueShape>> = {
${rows.join("\n")}
};
`;
}

/** Between single quotes: no name of ours has one, nor a sign that would have to be written otherwise. */
function inQuotes(json: string): string {
  if (/['\\]/.test(json)) throw new Error("a shape has a sign that its text cannot hold");
  return `'${json}'`;
}

/** As it stands in a log. */
function withEnvelope(shape: ValueShape): ValueShape {
  if (shape.kind !== "object") throw new Error("an event is no longer an object");
  const envelope: Record<string, Member> = {
    seq: [{ kind: "number" }, 1],
    at: [{ kind: "number" }, 1],
    session: [{ kind: "text" }, 1],
  };
  return {
    kind: "object",
    must: shape.must + Object.keys(envelope).length,
    of: { ...envelope, ...shape.of },
  };
}

/** A schema of `zod/mini`, which is not a dependency of this place. */
type Schema = { readonly _zod: { readonly def: object } };

/** The definition of a schema, as far as it is looked at here. */
type Definition = {
  readonly type: string;
  readonly checks?: readonly unknown[];
  readonly format?: string;
  readonly coerce?: boolean;
  readonly innerType?: Schema;
  readonly element?: Schema;
  readonly keyType?: Schema;
  readonly valueType?: Schema;
  readonly catchall?: Schema;
  readonly values?: readonly (string | number | boolean | null)[];
  readonly entries?: Readonly<Record<string, string>>;
  readonly options?: readonly Schema[];
  readonly discriminator?: string;
  readonly shape?: Readonly<Record<string, Schema>>;
};

const definitionOf = (schema: Schema): Definition => schema._zod.def as Definition;

export function shapeOf(schema: Schema): ValueShape {
  const definition = definitionOf(schema);
  // What is checked further, only the schema can check.
  if (definition.checks?.length || definition.format || definition.coerce) return { kind: "unsure" };
  switch (definition.type) {
    case "string":
      return { kind: "text" };
    case "number":
      return { kind: "number" };
    case "boolean":
      return { kind: "flag" };
    case "null":
      return { kind: "null" };
    case "custom":
      return { kind: schema === jsonSchema ? "json" : "unsure" };
    case "literal":
      return { kind: "one", of: definition.values ?? [] };
    case "enum":
      return { kind: "one", of: Object.values(definition.entries ?? {}) };
    case "array":
      return { kind: "list", of: inner(definition.element) };
    case "record":
      return inner(definition.keyType).kind === "text"
        ? { kind: "map", of: inner(definition.valueType) }
        : { kind: "unsure" };
    case "nullable":
      return { kind: "any", of: [{ kind: "null" }, inner(definition.innerType)] };
    case "optional":
      return inner(definition.innerType);
    case "union":
      return union(definition);
    case "object":
      return object(definition);
    default:
      return { kind: "unsure" };
  }
}

function inner(schema: Schema | undefined): ValueShape {
  return schema ? shapeOf(schema) : { kind: "unsure" };
}

function object({ shape = {}, catchall }: Definition): ValueShape {
  if (catchall) return { kind: "unsure" };
  const members = Object.entries(shape).map(
    ([name, member]) => [name, [shapeOf(member), isOptional(member) ? 0 : 1]] as const,
  );
  return {
    kind: "object",
    must: members.filter(([, [, must]]) => must === 1).length,
    of: Object.fromEntries<Member>(members),
  };
}

const isOptional = (schema: Schema): boolean => definitionOf(schema).type === "optional";

function union({ options = [], discriminator }: Definition): ValueShape {
  const shapes = options.map(shapeOf);
  // The first that takes a value may also change it, though another one would leave it as it is.
  if (discriminator === undefined)
    return shapes.filter(mayChange).length > 1 || shapes.some(isUnsure)
      ? { kind: "unsure" }
      : { kind: "any", of: shapes };
  const named = shapes.flatMap((shape) => {
    const member = shape.kind === "object" ? shape.of[discriminator]?.[0] : undefined;
    return member?.kind === "one" ? member.of.map((name) => [String(name), shape] as const) : [];
  });
  return { kind: "by", key: discriminator, of: Object.fromEntries(named) };
}

const isUnsure = ({ kind }: ValueShape): boolean => kind === "unsure";

/** A schema leaves out of an object what it does not know. */
function mayChange(shape: ValueShape): boolean {
  switch (shape.kind) {
    case "object":
    case "by":
    case "map":
      return true;
    case "list":
      return mayChange(shape.of);
    case "any":
      return shape.of.some(mayChange);
    default:
      return false;
  }
}
