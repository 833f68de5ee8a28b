/**
 * Compares a projection with an expected pattern.
 *
 * A pattern is plain JSON. Objects may have more keys than the pattern; arrays
 * must have the same length; "<any>" stands for any string. Operators:
 *   { "$any": true }            anything
 *   { "$contains": [..] }       a string that contains all of these
 *   { "$matches": "regex" }     a string that matches
 *   { "$includes": [..] }       an array with an element for each pattern
 *   { "$excludes": [..] }       an array without such elements
 *   { "$oneOf": [..] }          one of these patterns
 *   { "$type": "number" }       a value of this type
 *   { "$min": n }               a number of at least n
 *   { "$absent": true }         no such key
 * and, as elements of an array:
 *   { "$maybe": pattern }       may be missing
 *   { "$several": pattern }     any number of times, also none
 */

/** Returns the differences: an empty list means a match. */
export function compare(pattern, actual, path = "") {
  if (isOperator(pattern)) return compareOperator(pattern, actual, path);
  if (pattern === "<any>") return typeof actual === "string" ? [] : [differ(path, "a string", actual)];
  if (Array.isArray(pattern)) return compareArray(pattern, actual, path);
  if (pattern !== null && typeof pattern === "object") return compareObject(pattern, actual, path);
  return Object.is(pattern, actual) ? [] : [differ(path, pattern, actual)];
}

/** An expected file holds one pattern, or several of which one must match. */
export function compareExpected(expected, projection) {
  const variants = expected.variants ?? [{ name: "expected", ...expected }];
  let closest;
  for (const { name, note, ...pattern } of variants) {
    const differences = compare({ problems: [], ...pattern }, projection);
    if (differences.length === 0) return { matched: name, differences: [] };
    if (!closest || differences.length < closest.differences.length)
      closest = { matched: null, variant: name, differences };
  }
  return closest;
}

function compareObject(pattern, actual, path) {
  if (actual === null || typeof actual !== "object" || Array.isArray(actual))
    return [differ(path, pattern, actual)];
  return Object.entries(pattern).flatMap(([key, value]) => {
    const where = path === "" ? key : `${path}.${key}`;
    if (value?.$absent) return actual[key] === undefined ? [] : [differ(where, "nothing", actual[key])];
    return compare(value, actual[key], where);
  });
}

/** Walks both lists; on a mismatch of flexible elements it tries the alternatives. */
function compareArray(pattern, actual, path) {
  if (!Array.isArray(actual)) return [differ(path, pattern, actual)];
  const attempt = (p, a) => {
    if (p === pattern.length) {
      return a === actual.length ? [] : [`${path}[${a}]: unexpected ${show(actual[a])}`];
    }
    const element = pattern[p];
    const where = `${path}[${a}]`;
    if (element?.$maybe !== undefined || element?.$several !== undefined) {
      const skipped = attempt(p + 1, a);
      if (skipped.length === 0 || a === actual.length) return skipped;
      const here = compare(element.$maybe ?? element.$several, actual[a], where);
      if (here.length > 0) return skipped;
      const taken = attempt(element.$several === undefined ? p + 1 : p, a + 1);
      return taken.length <= skipped.length ? taken : skipped;
    }
    if (a === actual.length) return [`${where}: missing ${show(element)}`];
    const here = compare(element, actual[a], where);
    if (here.length > 0 && describe(element) !== describe(actual[a]))
      return [`${where}: expected ${describe(element)}, got ${show(actual[a])}`];
    return [...here, ...attempt(p + 1, a + 1)];
  };
  return attempt(0, 0);
}

function isOperator(pattern) {
  return (
    pattern !== null && typeof pattern === "object" && Object.keys(pattern).some((key) => key.startsWith("$"))
  );
}

function compareOperator(pattern, actual, path) {
  return Object.entries(pattern).flatMap(([operator, argument]) => {
    const holds = OPERATORS[operator];
    if (!holds) throw new Error(`unknown operator ${operator} at ${path}`);
    return holds(argument, actual) ? [] : [differ(path, pattern, actual)];
  });
}

const matches = (pattern, actual) => compare(pattern, actual).length === 0;

const OPERATORS = {
  $any: () => true,
  $contains: (parts, actual) => typeof actual === "string" && parts.every((part) => actual.includes(part)),
  $matches: (regex, actual) => typeof actual === "string" && new RegExp(regex).test(actual),
  $includes: (patterns, actual) =>
    Array.isArray(actual) && patterns.every((pattern) => actual.some((item) => matches(pattern, item))),
  $excludes: (patterns, actual) =>
    Array.isArray(actual) && !patterns.some((pattern) => actual.some((item) => matches(pattern, item))),
  $oneOf: (patterns, actual) => patterns.some((pattern) => matches(pattern, actual)),
  $type: (type, actual) => typeOf(actual) === type,
  $min: (least, actual) => typeof actual === "number" && actual >= least,
  $absent: (_, actual) => actual === undefined,
};

function typeOf(value) {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** The kind of an array element, to tell a missing element from a changed one. */
function describe(element) {
  if (element === null || typeof element !== "object") return String(element);
  const { type, subtype, hook, callback, event, name, content } = element;
  const blocks =
    type === "assistant" || type === "user"
      ? [].concat(content ?? []).map((block) => block?.type ?? "?")
      : [];
  const label = [type, subtype, hook, callback, event, name]
    .filter((part) => typeof part === "string")
    .join("/");
  return label === "" ? typeOf(element) : `${label}${blocks.length > 0 ? `(${blocks.join(", ")})` : ""}`;
}

function differ(path, expected, actual) {
  return `${path}: expected ${show(expected)}, got ${show(actual)}`;
}

function show(value) {
  const json = value === undefined ? "nothing" : JSON.stringify(value);
  return json.length > 300 ? `${json.slice(0, 300)}…` : json;
}
