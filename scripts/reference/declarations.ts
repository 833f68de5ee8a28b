// Reads the schemas and types that a file declares, as TypeScript that a person can read. The source is the schema
// itself: its names and comments are what the reference should say, and both are gone at run time.
import { isNode, type Node, visitFile } from "../../test/architecture/syntax.ts";

export type Declaration = {
  readonly name: string;
  readonly comment: string | undefined;
  /** A union's members apart, so that each can have its own heading; otherwise one. */
  readonly members: readonly Member[];
};

export type Member = {
  /** What `type` says, where a member has one. */
  readonly type: string | undefined;
  readonly comment: string | undefined;
  readonly shape: string;
};

/** A file as it is read: its text, and the plain objects and lists at its top that schemas are made of. */
type Read = { readonly text: string; readonly objects: ReadonlyMap<string, Node> };

/** Every `const xSchema = …` (as `X`), every exported type that is written out, and the list `durable` of events. */
export function declarationsIn(file: string, text: string): Declaration[] {
  const body = visitFile(file, text, () => undefined);
  const objects = new Map(
    body
      .flatMap(constants)
      .map(([name, value]) => [name, withoutCast(value)] as const)
      .filter(([, { type }]) => type === "ObjectExpression" || type === "ArrayExpression"),
  );
  const declared = body.flatMap((statement) => declarationsOf(statement, { text, objects }));
  const names = [...new Set(declared.map(({ name }) => name))];
  return names.map((name) => merged(declared.filter((one) => one.name === name)));
}

/** A schema and the type that is inferred from it are one declaration; either may carry the comment. */
function merged(same: readonly Declaration[]): Declaration {
  const name = same[0]?.name ?? "";
  const comment = same.find((one) => one.comment !== undefined)?.comment;
  return { name, comment, members: same.flatMap(({ members }) => members) };
}

function declarationsOf(statement: Node, read: Read): Declaration[] {
  const declared = isNode(statement["declaration"]) ? statement["declaration"] : statement;
  const comment = commentBefore(read.text, statement.start);
  if (declared.type === "TSTypeAliasDeclaration") {
    if (declared === statement) return [];
    return [
      { name: nameOf(declared["id"]), comment, members: typeMembers(declared["typeAnnotation"], read) },
    ];
  }
  return constants(statement)
    .filter(([name]) => name.endsWith("Schema") || name === "durable")
    .map(([name, value]) => ({ name: typeName(name), comment, members: schemaMembers(value, read) }));
}

function constants(statement: Node): [name: string, value: Node][] {
  const declared = isNode(statement["declaration"]) ? statement["declaration"] : statement;
  if (declared.type !== "VariableDeclaration") return [];
  return nodes(declared["declarations"]).flatMap(({ id, init }) =>
    isNode(init) ? [[nameOf(id), init]] : [],
  );
}

function schemaMembers(value: Node, read: Read): Member[] {
  const plain = withoutCast(value);
  const { method, parameters } = callOf(plain);
  const listed = plain.type === "ArrayExpression" ? plain : unionList(method, parameters);
  if (!listed) return [{ type: undefined, comment: undefined, shape: schemaShape(plain, read, 0) }];
  return nodes(listed["elements"]).map((element) => ({
    type: literalType(element),
    comment: commentBefore(read.text, element.start),
    shape: schemaShape(element, read, 0),
  }));
}

const unionList = (method: string | undefined, parameters: readonly Node[]): Node | undefined =>
  method === "union" || method === "discriminatedUnion" ? parameters.at(-1) : undefined;

/** The value of the property `type` of `z.object({ type: … })`. */
function literalType(element: Node): string | undefined {
  const [object] = callOf(element).parameters;
  const property = nodes(object?.["properties"]).find(({ key }) => isNode(key) && nameOf(key) === "type");
  const value = property?.["value"];
  const [literal] = isNode(value) ? callOf(value).parameters : [];
  return literal?.type === "Literal" ? String(literal["value"]) : undefined;
}

/** A zod expression as a type; what is not known here stays as it is written. */
function schemaShape(node: Node, read: Read, depth: number): string {
  const plain = withoutCast(node);
  if (plain.type === "Identifier") return typeName(nameOf(plain));
  if (plain.type === "ArrayExpression") return unionOf(nodes(plain["elements"]), read, depth);
  const { method, parameters } = callOf(plain);
  const [first, second] = parameters;
  switch (method) {
    case "string":
    case "number":
    case "boolean":
    case "null":
      return method;
    case "int":
      return "number";
    case "json":
      return "Json";
    case "literal":
    case "type":
      return first ? written(first, read) : "unknown";
    case "enum":
      return nodes((first?.type === "Identifier" ? read.objects.get(nameOf(first)) : first)?.["elements"])
        .map((element) => written(element, read))
        .join(" | ");
    case "array":
      return first ? listOf(schemaShape(first, read, depth)) : "unknown[]";
    case "optional":
    case "pipe":
      return first ? schemaShape(first, read, depth) : "unknown";
    case "nullable":
      return first ? `${schemaShape(first, read, depth)} | null` : "null";
    case "record":
      return second ? `Record<string, ${schemaShape(second, read, depth)}>` : "Record<string, unknown>";
    case "partial":
      return first ? `Partial<${schemaShape(first, read, depth)}>` : "unknown";
    case "union":
    case "discriminatedUnion":
      return unionOf(nodes(parameters.at(-1)?.["elements"]), read, depth);
    case "object":
    case "strictObject":
      return first ? objectShape(nodes(first["properties"]), read, depth) : "{}";
    default:
      return plain.type === "MemberExpression" ? partOf(plain, read) : written(plain, read);
  }
}

const unionOf = (members: readonly Node[], read: Read, depth: number): string =>
  members.map((member) => schemaShape(member, read, depth)).join(" | ");

function objectShape(properties: readonly Node[], read: Read, depth: number): string {
  const lines = properties
    .flatMap((property) => spreadOf(property, read))
    .map((property) => {
      const { key, value } = property;
      if (!isNode(value)) return { comment: undefined, line: written(property, read) };
      const mark = callOf(value).method === "optional" ? "?" : "";
      const comment = commentBefore(read.text, property.start);
      return { comment, line: `${nameOf(key)}${mark}: ${schemaShape(value, read, depth + 1)}` };
    });
  return braces(lines, depth);
}

/** The properties that `...rates` stands for; any other property stands for itself. */
function spreadOf(property: Node, read: Read): Node[] {
  const object =
    property.type === "SpreadElement" ? read.objects.get(nameOf(property["argument"])) : undefined;
  return object ? nodes(object["properties"]) : [property];
}

/** `inputSchema.shape.when` is `Input["when"]`. */
function partOf(node: Node, read: Read): string {
  const [schema = "", , ...keys] = written(node, read).split(".");
  return `${typeName(schema)}${keys.map((key) => `["${key}"]`).join("")}`;
}

function typeMembers(annotation: unknown, read: Read): Member[] {
  // What is inferred from a schema is told by the schema.
  if (!isNode(annotation) || written(annotation, read).startsWith("z.infer<")) return [];
  const members = annotation.type === "TSUnionType" ? nodes(annotation["types"]) : [annotation];
  return members.map((member) => ({
    type: undefined,
    comment: commentBefore(read.text, member.start),
    shape: tidy(written(member, read)),
    ...typedMember(member, read),
  }));
}

/** A written-out object type, one property a line. */
function typedMember(member: Node, read: Read): Partial<Member> {
  if (member.type !== "TSTypeLiteral") return {};
  let type: string | undefined;
  const lines = nodes(member["members"]).map((property) => {
    const key = isNode(property["key"]) ? nameOf(property["key"]) : "";
    const annotation = property["typeAnnotation"];
    const inner = isNode(annotation) ? annotation["typeAnnotation"] : undefined;
    const value = isNode(inner) ? tidy(written(inner, read)) : "unknown";
    if (key === "type" && value.startsWith('"')) type = value.slice(1, -1);
    const optional = property["optional"] === true;
    const shown = optional ? value.replace(/ \| undefined$/, "") : value;
    return {
      comment: commentBefore(read.text, property.start),
      line: `${key}${optional ? "?" : ""}: ${shown}`,
    };
  });
  return { type, shape: braces(lines, 0) };
}

const shortLine = 90;

/** On one line where it is short and nothing has a comment, otherwise one property a line. */
function braces(lines: readonly { comment: string | undefined; line: string }[], depth: number): string {
  const plain = `{ ${lines.map(({ line }) => line).join("; ")} }`;
  if (plain.length <= shortLine && lines.every(({ comment, line }) => !comment && !line.includes("\n")))
    return plain;
  const indent = "  ".repeat(depth + 1);
  const rows = lines.flatMap(({ comment, line }) => [
    ...(comment ? [`${indent}/** ${comment} */`] : []),
    `${indent}${line};`,
  ]);
  return ["{", ...rows, `${"  ".repeat(depth)}}`].join("\n");
}

const listOf = (shape: string): string =>
  shape.includes(" | ") && !shape.startsWith("{") ? `(${shape})[]` : `${shape}[]`;

/** `z.infer<typeof blockSchema>` is `Block`. */
const tidy = (type: string): string =>
  type
    .replace(/z\.infer<typeof (\w+)Schema>/g, (_, name: string) => typeName(`${name}Schema`))
    .replace(/\s+/g, " ");

const typeName = (schema: string): string => {
  if (!schema.endsWith("Schema")) return schema;
  const name = schema.replace(/Schema$/, "");
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
};

/** The doc comment that stands directly before a place, on one line. */
function commentBefore(text: string, start: number): string | undefined {
  const found = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*\|?\s*$/.exec(text.slice(0, start));
  return found?.[1]
    ?.replace(/^\s*\* ?/gm, " ")
    .replace(/\s+/g, " ")
    .trim();
}

function callOf(node: Node): { method: string | undefined; parameters: Node[] } {
  const callee = node["callee"];
  if (node.type !== "CallExpression" || !isNode(callee)) return { method: undefined, parameters: [] };
  const name = callee.type === "MemberExpression" ? callee["property"] : callee;
  return { method: isNode(name) ? nameOf(name) : undefined, parameters: nodes(node["arguments"]) };
}

function withoutCast(node: Node): Node {
  const inner = node["expression"];
  return node.type === "TSAsExpression" && isNode(inner) ? withoutCast(inner) : node;
}

const nodes = (value: unknown): Node[] => (Array.isArray(value) ? value.filter(isNode) : []);
const nameOf = (node: unknown): string => (isNode(node) ? String(node["name"] ?? node["value"] ?? "") : "");
const written = (node: Node, { text }: Read): string => text.slice(node.start, Number(node["end"]));
