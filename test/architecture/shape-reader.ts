// What a file is made of: how much code, which types, what it changes at its top, and whether anything in it waits.
import { isNode, lineOf, type Node, type Place } from "./syntax.ts";

/** Built once and never changed, or a value without a state that anybody could see. */
const harmless =
  /^(RegExp|TextEncoder|TextDecoder|Error|Fault|URL|Uint8Array|Int8Array|Collator|DateTimeFormat|NumberFormat|Segmenter|PluralRules|ListFormat|RelativeTimeFormat)$/;
const collections = /^(Map|Set|WeakMap|WeakSet|Array)$/;
const changing = /^(set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin)$/;

export class ShapeReader {
  readonly #text: string;
  readonly #types: string[] = [];
  readonly #spreads: number[] = [];
  /** Names whose content is changed somewhere in the file. */
  readonly #changed = new Set<string>();
  #waits = false;

  constructor(text: string) {
    this.#text = text;
  }

  visit(node: Node, { parent }: Place): void {
    if (/^(TSTypeAliasDeclaration|TSInterfaceDeclaration|ClassDeclaration)$/.test(node.type)) {
      const id = node["id"];
      if (isNode(id) && (parent?.type === "Program" || parent?.type === "ExportNamedDeclaration"))
        this.#types.push(String(id["name"]));
    }
    if (node.type === "SpreadElement") {
      const inner = node["argument"];
      const literals = ["ObjectExpression", "ArrayExpression"];
      if (isNode(inner) && literals.includes(inner.type)) this.#spreads.push(lineOf(this.#text, node));
    }
    if (node.type === "AwaitExpression" || node["async"] === true) this.#waits = true;
    if (node.type === "Identifier" && node["name"] === "Promise") this.#waits = true;
    for (const name of changedBy(node)) this.#changed.add(name);
  }

  read(body: readonly Node[]) {
    const declared = body.flatMap((node) => (isNode(node["declaration"]) ? [node["declaration"]] : [node]));
    const variables = declared.filter(({ type }) => type === "VariableDeclaration");
    return {
      codeLines: codeLines(this.#text, body),
      types: this.#types,
      spreadLiterals: this.#spreads,
      waits: this.#waits,
      runs: declared.some(({ type }) => !type.startsWith("TS") && !/^(Import|Export)/.test(type)),
      state: variables.flatMap((variable) => this.#stateOf(variable)),
    };
  }

  #stateOf(variable: Node): { name: string; line: number }[] {
    const line = lineOf(this.#text, variable);
    const declarators = Array.isArray(variable["declarations"])
      ? variable["declarations"].filter(isNode)
      : [];
    return declarators.flatMap((declarator) => {
      const id = declarator["id"];
      const name = isNode(id) && id.type === "Identifier" ? String(id["name"]) : "";
      if (variable["kind"] === "let" || variable["kind"] === "var") return [{ name, line }];
      const value = declarator["init"];
      if (!isNode(value)) return [];
      if (this.#changed.has(name)) return [{ name, line }];
      const made = value.type === "NewExpression" ? calleeOf(value) : undefined;
      if (made === undefined || harmless.test(made) || collections.test(made)) return [];
      return [{ name, line }];
    });
  }
}

function calleeOf(node: Node): string {
  const callee = node["callee"];
  if (!isNode(callee)) return "";
  const property = callee["property"];
  return String(callee["name"] ?? (isNode(property) ? property["name"] : ""));
}

/** `name.x = …`, `name[x]++`, `delete name.x`, `name.set(…)`. */
function changedBy(node: Node): string[] {
  if (node.type === "AssignmentExpression") return owner(node["left"]);
  if (node.type === "UpdateExpression") return owner(node["argument"]);
  if (node.type === "UnaryExpression" && node["operator"] === "delete") return owner(node["argument"]);
  if (node.type !== "CallExpression") return [];
  const callee = node["callee"];
  if (!isNode(callee) || callee.type !== "MemberExpression") return [];
  const method = callee["property"];
  return isNode(method) && changing.test(String(method["name"])) ? owner(callee) : [];
}

function owner(node: unknown): string[] {
  if (!isNode(node) || node.type !== "MemberExpression") return [];
  const object = node["object"];
  if (!isNode(object)) return [];
  return object.type === "Identifier" ? [String(object["name"])] : owner(object);
}

/** Lines of the statements that are no imports, without comments and blank lines. */
function codeLines(text: string, body: readonly Node[]): number {
  const code = body
    .filter(({ type }) => type !== "ImportDeclaration")
    .map((node) => text.slice(node.start, Number(node["end"])))
    .join("\n");
  // A comment stands on lines of its own here: the formatter and our habit see to it.
  const lines = code.split("\n").map((line) => line.trim());
  let inside = false;
  return lines.filter((line) => {
    if (inside) {
      inside = !line.endsWith("*/");
      return false;
    }
    if (line.startsWith("/*")) {
      inside = !line.endsWith("*/");
      return false;
    }
    return line !== "" && !line.startsWith("//");
  }).length;
}
