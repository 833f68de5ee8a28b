// The page about the server's interface, made from its OpenAPI document.
import { namedShapes } from "../../keel/src/hosts/server/named-shapes.ts";
import { openApiDocument } from "../../keel/src/hosts/server/openapi.ts";
import { operations } from "../../keel/src/protocol/operation.ts";

type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly "x-keel-access"?: string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
};
type Response = {
  readonly description: string;
  readonly content: { readonly "application/json": { readonly schema: unknown } };
};

export function serverPageParts(): string[] {
  const shapes = namedShapes();
  const made = openApiDocument("0");
  const paths = made["paths"] as unknown as Record<string, Record<string, Operation>>;
  const { responses } = made["components"] as unknown as { responses: Record<string, Response> };
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const isSocket = ({ operation }: (typeof rows)[number]): boolean => "101" in operation.responses;
  const isOperation = ({ operation }: (typeof rows)[number]): boolean => operation.operationId in operations;
  const line = ({ path, method, operation }: (typeof rows)[number]): string =>
    `| \`${operation.operationId}\` | \`${method} ${path}\` | ${operation["x-keel-access"] ?? ""} | ${cell(operation.summary)} |`;
  return [
    "What `keel serve` answers. `keel serve --openapi` prints all of it as an OpenAPI 3.1 document with every shape, and a server that runs has it at `/api/openapi.json`. How to come in is told in the [guide](../guide/serve.md#who-may-come-in).",
    "## Operations",
    "By its name over `keel.v1`, by its method and path over HTTP. Names in a path are fields of the question; its other fields stand in the query of a GET and in the body, as JSON, of all else.",
    ["| name | over HTTP | needs | |", "|---|---|---|---|", ...rows.filter(isOperation).map(line)].join("\n"),
    "## Told, not asked",
    [
      "| name | over HTTP | needs | |",
      "|---|---|---|---|",
      ...rows.filter((row) => !isOperation(row) && !isSocket(row)).map(line),
    ].join("\n"),
    "## Sockets",
    [
      "| path | |",
      "|---|---|",
      ...rows.filter(isSocket).map(({ path, operation }) => `| \`${path}\` | ${cell(operation.summary)} |`),
    ].join("\n"),
    "## What is refused",
    'What the door refuses has the body `{"error": …}`; what an operation refuses `{"fault": {"code", "message", "detail"}}`, with the codes of [faults](faults.md).',
    [
      "| status | | faults |",
      "|---|---|---|",
      ...Object.entries(responses).map(
        ([name, { description, content }]) =>
          `| ${name.replace("Refused", "")} | ${cell(description)} | ${codesIn(content)} |`,
      ),
    ].join("\n"),
    "## Questions and answers",
    "Commands and receipts are told in [commands](commands.md), events and asks in [events](events.md). What is named and told nowhere else is a shape of the document.",
    ...Object.entries(operations).map(([name, { question, answer }]) =>
      [
        `### \`${name}\``,
        `\`\`\`ts\n${shapeOf(shapes.whole(question))}\n→ ${shapeOf(shapes.of(answer))}\n\`\`\``,
      ].join("\n\n"),
    ),
  ];
}

/** More than a line of codes is all others. */
function codesIn(content: Response["content"]): string {
  const codes = /"code":\{"enum":\[([^\]]*)\]/.exec(JSON.stringify(content))?.[1]?.split(",") ?? [];
  return codes.length > 8 ? "every other" : codes.map((code) => `\`${code.replaceAll('"', "")}\``).join(", ");
}

type Shape = {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: Record<string, Shape>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
  readonly additionalProperties?: Shape | boolean;
};

const maxDepth = 3;

/** A shape in few words; what lies deep is in the document. */
function shapeOf(json: unknown, depth = 0): string {
  const shape = json as Shape;
  if (shape.$ref !== undefined) return shape.$ref.split("/").at(-1) ?? "";
  if (shape.const !== undefined) return JSON.stringify(shape.const);
  if (shape.enum) return shape.enum.map((one) => JSON.stringify(one)).join(" | ");
  const choices = shape.anyOf ?? shape.oneOf;
  if (choices) {
    const kinds = choices.map(({ properties }) => properties?.["type"]?.const ?? properties?.["kind"]?.const);
    if (kinds.every((kind) => typeof kind === "string"))
      return kinds.map((kind) => `{ ${JSON.stringify(kind)} … }`).join(" | ");
    return choices.map((one) => shapeOf(one, depth + 1)).join(" | ");
  }
  if (shape.type === "array") return `${shapeOf(shape.items ?? {}, depth)}[]`;
  if (shape.type !== "object") return shape.type ?? "Json";
  if (!shape.properties) return "{ [name]: Json }";
  const fields = Object.entries(shape.properties);
  if (fields.length === 0) return "{}";
  if (depth >= maxDepth) return "{ … }";
  const inner = fields.map(
    ([name, value]) => `${name}${shape.required?.includes(name) ? "" : "?"}: ${shapeOf(value, depth + 1)}`,
  );
  return `{ ${inner.join(", ")} }`;
}

const cell = (words: string): string => words.replaceAll("|", "\\|");
