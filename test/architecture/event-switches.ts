// Places that look at the type of an event, as far as they could pass over one that is added tomorrow.
import { isNode, lineOf, type Node, visitFile } from "./syntax.ts";

export type EventSwitch = {
  readonly file: string;
  readonly line: number;
  /** Whether it ends in `never(…)`, so that it does not compile while an event has no case. */
  readonly isExhaustive: boolean;
};

/** Switches of which a case names an event. */
export function eventSwitches(file: string, text: string, types: ReadonlySet<string>): EventSwitch[] {
  const found: EventSwitch[] = [];
  visitFile(file, text, (node) => {
    if (node.type !== "SwitchStatement") return;
    const cases = nodes(node["cases"]);
    if (!cases.some(({ test }) => isNode(test) && types.has(String(test["value"])))) return;
    const isExhaustive = cases.some((each) => each["test"] === null && endsInNever(each));
    found.push({ file, line: lineOf(text, node), isExhaustive });
  });
  return found;
}

/** Functions that ask for more events than this, one `if` after the other, are switches without a `never`. */
const maxQuestions = 3;

export function eventChains(file: string, text: string, types: ReadonlySet<string>): string[] {
  const found: string[] = [];
  visitFile(file, text, (node) => {
    const questions = nodes(node["body"]).filter(
      (each) => each.type === "IfStatement" && asksForEvent(each["test"], types),
    );
    if (questions.length > maxQuestions) found.push(`${file}:${lineOf(text, node)}`);
  });
  return found;
}

/** Whether it compares the type of something with an event's; what is only a record is not read as an event. */
function asksForEvent(test: unknown, types: ReadonlySet<string>): boolean {
  if (!isNode(test)) return false;
  const { left, right } = test;
  if (test.type === "LogicalExpression") return [left, right].some((each) => asksForEvent(each, types));
  if (test.type !== "BinaryExpression" || !isNode(left) || !isNode(right)) return false;
  return left.type === "MemberExpression" && types.has(String(right["value"]));
}

function endsInNever(node: Node): boolean {
  const [only] = nodes(node["consequent"]);
  const call = only?.["argument"] ?? only?.["expression"];
  const callee = isNode(call) ? call["callee"] : undefined;
  return isNode(callee) && callee["name"] === "never";
}

const nodes = (value: unknown): Node[] => (Array.isArray(value) ? value.filter(isNode) : []);
