// Reads one source file into the facts that the rules need: what it imports, which globals it names, how long it is.
import { ShapeReader } from "./shape-reader.ts";
import { isNode, linesOf, type Node, type Place, visitFile } from "./syntax.ts";

export type Import = {
  readonly specifier: string;
  readonly how: "static" | "dynamic";
  /** Imported names; `*` for the whole module. */
  readonly names: readonly string[];
  readonly line: number;
};

export type Source = {
  readonly file: string;
  readonly lines: number;
  /** Lines that hold code: no imports, no comments, nothing blank. */
  readonly codeLines: number;
  /** Types, interfaces and classes that it declares. */
  readonly types: readonly string[];
  /** What it declares at its top and changes while it runs. */
  readonly state: readonly { readonly name: string; readonly line: number }[];
  /** Lines with a literal that is spread into another one. */
  readonly spreadLiterals: readonly number[];
  /** Whether anything of it waits: an `async`, an `await`, a `Promise`. */
  readonly waits: boolean;
  /** Whether anything of it exists when it runs; false for a file of types. */
  readonly runs: boolean;
  readonly imports: readonly Import[];
  /** Dotted names of free-looking references: `process.env.HOME`, `new Date()`, `setTimeout`. */
  readonly references: readonly { readonly name: string; readonly line: number }[];
  /** It declares nothing of its own and only passes on what others own. */
  readonly isBarrel: boolean;
};

export function readSource(file: string, text: string): Source {
  const imports: Import[] = [];
  const references: { name: string; line: number }[] = [];
  const shape = new ShapeReader(text);
  const lineOf = linesOf(text);
  const body = visitFile(file, text, (node, place) => {
    const found = importOf(node);
    if (found) imports.push({ ...found, line: lineOf(node) });
    for (const name of referencesOf(node, place)) references.push({ name, line: lineOf(node) });
    shape.visit(node, place);
  });
  return {
    file,
    lines: countLines(text),
    imports,
    references,
    isBarrel: isBarrel(body),
    ...shape.read(body),
  };
}

function importOf(node: Node): Omit<Import, "line"> | undefined {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportNamedDeclaration":
      return withSource(node["source"], "static", namesOf(node["specifiers"]));
    case "ExportAllDeclaration":
      return withSource(node["source"], "static", ["*"]);
    case "ImportExpression":
      // A path that is computed cannot be judged; it is reported under this name and no layer is called so.
      return (
        withSource(node["source"], "dynamic", ["*"]) ?? {
          specifier: "<computed>",
          how: "dynamic",
          names: ["*"],
        }
      );
    case "TSImportType":
      return withSource(node["source"] ?? node["argument"], "static", ["*"]);
    default:
      return undefined;
  }
}

function withSource(
  source: unknown,
  how: Import["how"],
  names: readonly string[],
): Omit<Import, "line"> | undefined {
  const literal = isNode(source) && source.type === "TSLiteralType" ? source["literal"] : source;
  if (!isNode(literal) || literal.type !== "Literal") return undefined;
  return { specifier: String(literal["value"]), how, names };
}

function namesOf(specifiers: unknown): string[] {
  if (!Array.isArray(specifiers)) return [];
  return specifiers.filter(isNode).map((specifier) => {
    const name =
      specifier["imported"] ?? (specifier.type === "ExportSpecifier" ? specifier["local"] : undefined);
    return isNode(name) ? String(name["name"] ?? name["value"]) : "*";
  });
}

/** Strict on purpose: a local variable called `fetch` counts too, so that shadowing cannot hide a use. */
function referencesOf(node: Node, { parent, key }: Place): string[] {
  if (node.type === "Identifier" || node.type === "MemberExpression") {
    const isPartOfChain =
      parent?.type === "MemberExpression" && (key === "object" || parent["computed"] !== true);
    if (isPartOfChain || (parent && isNameOnly(parent, key))) return [];
    const name = dotted(node);
    return name ? [name] : [];
  }
  if (node.type === "NewExpression" && /^(?:Type|Range)?Error$/.test(dotted(node["callee"]) ?? ""))
    return ["new Error(…)"];
  if (node.type === "NewExpression" && isEmpty(node["arguments"])) return [`new ${dotted(node["callee"])}()`];
  if (node.type === "CallExpression" && dotted(node["callee"]) === "Date") return ["Date()"];
  if (node.type === "VariableDeclarator") return destructured(node["id"], dotted(node["init"]));
  return [];
}

/** Where an identifier is a mere name (of a property, in a type) and refers to nothing that runs. */
function isNameOnly(parent: Node, key: string): boolean {
  if (parent.type.startsWith("TS")) return key !== "expression";
  if (/^(Import|Export).*Specifier$/.test(parent.type)) return true;
  const named = ["Property", "PropertyDefinition", "MethodDefinition", "AccessorProperty"];
  return named.includes(parent.type) && key === "key" && parent["computed"] !== true;
}

function dotted(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === "Identifier") return String(node["name"]);
  if (node.type === "ChainExpression") return dotted(node["expression"]);
  const property = node["property"];
  if (node.type !== "MemberExpression" || !isNode(property)) return undefined;
  const object = dotted(node["object"]);
  if (object === undefined) return undefined;
  if (node["computed"] === true && property.type !== "Literal") return object;
  const name = String(property["name"] ?? property["value"]);
  return object === "globalThis" ? name : `${object}.${name}`;
}

/** `const { env } = process` names `process.env`. */
function destructured(pattern: unknown, object: string | undefined): string[] {
  if (
    !object ||
    !isNode(pattern) ||
    pattern.type !== "ObjectPattern" ||
    !Array.isArray(pattern["properties"])
  )
    return [];
  const keys = pattern["properties"]
    .filter(isNode)
    .map((property) => property["key"])
    .filter(isNode);
  return keys.map(
    (key) => (object === "globalThis" ? "" : `${object}.`) + String(key["name"] ?? key["value"]),
  );
}

function isBarrel(body: readonly Node[]): boolean {
  const passesOn = (node: Node) =>
    node.type === "ExportAllDeclaration" ||
    (node.type === "ExportNamedDeclaration" && !isNode(node["declaration"]));
  return body.some(passesOn) && body.every((node) => passesOn(node) || node.type === "ImportDeclaration");
}

const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;
const countLines = (text: string) => text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
