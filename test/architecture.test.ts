// The architecture, kept by a test: the tables are in test/architecture/.
// Every rule is first shown to fail on a small fixture; a rule that cannot fail guards nothing.
import { beforeAll, describe, expect, test } from "vitest";
import { readRepository } from "./architecture/repository.ts";
import { barrelFiles, forbiddenImports, importCycles, strayCapabilities } from "./architecture/rules.ts";
import { crumbs, longFiles, moduleState, spreadLiterals, typesDeclaredTwice } from "./architecture/shape.ts";
import { readSource, type Source } from "./architecture/source.ts";

describe("the repository", () => {
  let repository: readonly Source[] = [];
  // To parse every source takes seconds of a processor that may be lent to others.
  beforeAll(() => {
    repository = readRepository();
  }, 300_000);

  test("imports only what its layers allow", () => {
    expect(forbiddenImports(repository)).toEqual([]);
  });

  test("has no import cycle", () => {
    expect(importCycles(repository)).toEqual([]);
  });

  test("has no barrel file", () => {
    expect(barrelFiles(repository)).toEqual([]);
  });

  test("gives every type name one meaning", () => {
    expect(typesDeclaredTwice(sourcesOf(repository))).toEqual([]);
  });

  test("keeps nothing in a module: what a process shares belongs to its home", () => {
    expect(moduleState(sourcesOf(repository))).toEqual([]);
  });

  test("waits for nothing in its core", () => {
    const core = sourcesOf(repository).filter(({ file }) => file.startsWith("keel/src/core/"));
    expect(core.filter(({ waits }) => waits).map(({ file }) => file)).toEqual([]);
  });

  test("has only types in its ports, and what stands for none of them", () => {
    const running = ["keel/src/ports/define-tool.ts", "keel/src/ports/hooks.ts", "keel/src/ports/memory.ts"];
    const ports = sourcesOf(repository).filter(({ file }) => file.startsWith("keel/src/ports/"));
    expect(ports.filter(({ runs }) => runs).map(({ file }) => file)).toEqual(running);
  });

  test("touches clock, chance, environment, console, files, processes and network only where they belong", () => {
    expect(strayCapabilities(repository)).toEqual([]);
  });
});

/** What is built: tests declare and keep what they like. */
const sourcesOf = (sources: readonly Source[]): Source[] =>
  sources.filter(({ file }) => file.startsWith("keel/src/") && !file.endsWith(".test.ts"));

describe("the rule of layers", () => {
  const wrong = (file: string, text: string) => forbiddenImports([readSource(file, text)]);

  test.each([
    ["a static import", 'import { append } from "../store/jsonl.ts";'],
    ["a type import", 'import type { Jsonl } from "../store/jsonl.ts";'],
    ["an inline type import", 'import { type Jsonl } from "../store/jsonl.ts";'],
    ["an import for its effect", 'import "../store/jsonl.ts";'],
    ["a re-export", 'export { append } from "../store/jsonl.ts";'],
    ["a re-export of all", 'export * from "../store/jsonl.ts";'],
    ["a type re-export", 'export type { Jsonl } from "../store/jsonl.ts";'],
    ["a dynamic import", 'const store = await import("../store/jsonl.ts");'],
    ["an import inside a type", 'type Jsonl = import("../store/jsonl.ts").Jsonl;'],
  ])("sees %s", (_kind, text) => {
    expect(wrong("keel/src/engine/session.ts", text)).toEqual([
      "keel/src/engine/session.ts:1: engine may not import store (../store/jsonl.ts)",
    ]);
  });

  test("is not fooled by comments and strings", () => {
    const text = '// import "../store/jsonl.ts"\nconst code = \'import("../store/jsonl.ts")\';';
    expect(wrong("keel/src/engine/session.ts", text)).toEqual([]);
  });

  test.each([
    ["keel/src/kernel/text.ts", "../protocol/event/durable.ts"],
    ["keel/src/view/totals.ts", "../engine/state.ts"],
    ["keel/src/core/state/state.ts", "../../view/totals.ts"],
    ["keel/src/core/state/state.ts", "../../transport/lines.ts"],
    ["keel/src/tools/read.ts", "../workspace/files.ts"],
    ["keel/src/models/http.ts", "../mcp/client.ts"],
    ["keel/src/hosts/runner/main.ts", "../../engine/session.ts"],
    ["keel/src/hosts/runner/main.ts", "../desktop/main.ts"],
    ["keel/src/testing/fakes.ts", "../store/jsonl.ts"],
    ["keel/src/app/close.ts", "../hosts/cli/main.ts"],
    ["keel/src/core/state/state.ts", "../../../../test/budget.ts"],
    ["keel/src/core/state/state.ts", "lodash"],
    ["keel/src/app/inquiries/info.ts", "keel/protocol"],
    ["keel/src/misc/thing.ts", "./other.ts"],
    ["web/src/main.tsx", "../../keel/src/engine/state.ts"],
    ["web/src/main.tsx", "keel"],
  ])("forbids %s to import %s", (file, specifier) => {
    expect(wrong(file, `import { thing } from "${specifier}";`)).toHaveLength(1);
  });

  test.each([
    ["keel/src/core/state/state.ts", "../../protocol/event/durable.ts"],
    ["keel/src/models/http.ts", "../transport/sse.ts"],
    ["keel/src/app/open-session.ts", "../store/jsonl.ts"],
    ["keel/src/hosts/cli/main.ts", "../../sdk/dialect.ts"],
    ["keel/src/testing/fakes.ts", "../store/memory/memory.ts"],
    ["keel/src/engine/state.test.ts", "../store/jsonl.ts"],
    ["web/src/main.tsx", "keel/view"],
  ])("allows %s to import %s", (file, specifier) => {
    expect(wrong(file, `import { thing } from "${specifier}";`)).toEqual([]);
  });

  test("lets the command load other hosts late, and only late", () => {
    expect(wrong("keel/src/hosts/cli/main.ts", 'await import("../tui/main.ts");')).toEqual([]);
    expect(wrong("keel/src/hosts/cli/main.ts", 'import { run } from "../tui/main.ts";')).toHaveLength(1);
  });
});

describe("the rule of cycles", () => {
  const files = (texts: Record<string, string>) =>
    Object.entries(texts).map(([file, text]) => readSource(file, text));

  test("finds a cycle, also one that only types close", () => {
    const sources = files({
      "keel/src/kernel/a.ts": 'import { b } from "./b.ts";',
      "keel/src/kernel/b.ts": 'import { c } from "./c.ts";',
      "keel/src/kernel/c.ts": 'import type { A } from "./a.ts";',
    });
    expect(importCycles(sources)).toEqual([
      "keel/src/kernel/a.ts → keel/src/kernel/b.ts → keel/src/kernel/c.ts → keel/src/kernel/a.ts",
    ]);
  });

  test("accepts two ways to one file", () => {
    const sources = files({
      "keel/src/kernel/a.ts": 'import { b } from "./b.ts"; import { c } from "./c.ts";',
      "keel/src/kernel/b.ts": 'import { c } from "./c.ts";',
      "keel/src/kernel/c.ts": "export const c = 1;",
    });
    expect(importCycles(sources)).toEqual([]);
  });
});

describe("the rule of barrels", () => {
  const wrong = (file: string, text: string) => barrelFiles([readSource(file, text)]);

  test.each([
    'export { a } from "./a.ts";',
    'export * from "./a.ts";',
    'import { a } from "./a.ts"; export { a };',
    'export type { A } from "./a.ts";',
  ])("finds %s", (text) => {
    expect(wrong("keel/src/engine/index.ts", text)).toHaveLength(1);
  });

  test("spares files that own something, and the doors of the package", () => {
    expect(wrong("keel/src/core/state/state.ts", 'export { a } from "./a.ts"; export const b = 1;')).toEqual(
      [],
    );
    expect(wrong("keel/src/sdk/index.ts", 'export { a } from "./a.ts";')).toEqual([]);
  });
});

describe("the rule of capabilities", () => {
  const wrong = (file: string, text: string) => strayCapabilities([readSource(file, text)]);

  test.each([
    ["Date.now();", "the clock"],
    ["new Date();", "the clock"],
    ["const at = Date();", "the clock"],
    ["performance.now();", "the clock"],
    ["setTimeout(go, 1);", "a timer"],
    ["globalThis.setInterval(go, 1);", "a timer"],
    ["const later = setImmediate;", "a timer"],
    ["AbortSignal.timeout(5);", "a timer"],
    ["Math.random();", "chance"],
    ["crypto.randomUUID();", "chance"],
    ["fetch(url);", "the network"],
    ["new WebSocket(url);", "the network"],
    ["console.log(1);", "the console"],
    ["process.exit();", "Node itself"],
    ["Buffer.from(text);", "Node itself"],
    ['import path from "node:path";', "Node itself"],
    ['import type { Stats } from "fs";', "Node itself"],
  ])("forbids the engine %s", (text, name) => {
    expect(wrong("keel/src/engine/session.ts", text).join()).toContain(`touches ${name};`);
  });

  test.each([
    ["keel/src/app/open-session.ts", "Date.now();"],
    ["keel/src/store/jsonl/store.ts", "process.env.HOME;"],
    ["keel/src/config/settings/paths.ts", 'process["env"];'],
    ["keel/src/config/settings/paths.ts", "const { env } = process;"],
    ["keel/src/config/settings/paths.ts", 'import { env } from "node:process";'],
    ["keel/src/hosts/cli/main.ts", "process.chdir(folder);"],
    ["keel/src/hosts/cli/main.ts", "console.error(1);"],
    ["keel/src/tools/read.ts", 'import { readFile } from "node:fs/promises";'],
    ["keel/src/models/http.ts", 'import { readFileSync } from "node:fs";'],
    ["keel/src/engine/asks.ts", 'throw new TypeError("no");'],
    ["keel/src/config/definitions/plugins.ts", 'import { spawn } from "node:child_process";'],
    ["keel/src/hosts/runner/main.ts", 'const http = await import("node:http");'],
    ["keel/src/config/settings/trust.ts", 'import { randomUUID } from "node:crypto";'],
    ["keel/src/transport/lines.ts", "Buffer.alloc(1);"],
    ["web/src/main.tsx", "Buffer.alloc(1);"],
  ])("forbids %s %s", (file, text) => {
    expect(wrong(file, text)).toHaveLength(1);
  });

  test.each([
    [
      "keel/src/engine/session.ts",
      "new Date(at); clock.now(); clock.setTimeout(go, 1); const x = { fetch: 1 };",
    ],
    ["keel/src/engine/session.ts", "type Send = typeof fetch; // Date.now()\nconst hint = 'process.env';"],
    ["keel/src/app/node-ports.ts", 'Date.now(); import { randomUUID } from "node:crypto";'],
    ["keel/src/config/settings/trust.ts", 'import { createHash } from "node:crypto";'],
    ["keel/src/transport/node/stdio.ts", "process.stdin; setTimeout(go, 1);"],
    ["keel/src/hosts/cli/main.ts", "process.env.HOME; Date.now();"],
    ["keel/src/engine/session.test.ts", "Date.now();"],
  ])("allows %s %s", (file, text) => {
    expect(wrong(file, text)).toEqual([]);
  });
});

describe("the rules of shape", () => {
  const read = (text: string, file = "keel/src/core/thing.ts") => readSource(file, text);

  test("count code, and neither imports nor comments", () => {
    const source = read(`import { a } from "./a.ts";\n/** Why. */\n// More.\n\n${"a();\n".repeat(301)}`);
    expect(source.codeLines).toBe(301);
    expect(longFiles([source])).toEqual(["keel/src/core/thing.ts: 301 lines of code"]);
    expect(longFiles([read("a();\n".repeat(300))])).toEqual([]);
  });

  test("find a literal that is spread into another", () => {
    expect(spreadLiterals([read("const a = {\n  ...{ b, c },\n  ...d,\n};")])).toEqual([
      "keel/src/core/thing.ts:2",
    ]);
    expect(spreadLiterals([read('const a = [...["b", "c"]];')])).toHaveLength(1);
    expect(spreadLiterals([read("const a = { ...(b ? { c } : {}) };")])).toEqual([]);
  });

  test("find a crumb whose only reader is its neighbour", () => {
    const small = read("export const a = 1;", "keel/src/core/a.ts");
    const reader = read('import { a } from "./a.ts";\nexport const b = a;', "keel/src/core/b.ts");
    const late = read('const a = await import("./a.ts");', "keel/src/core/c.ts");
    expect(crumbs([small, reader])).toEqual([{ file: "keel/src/core/a.ts", importer: "keel/src/core/b.ts" }]);
    expect(crumbs([small, reader, late])).toEqual([]);
  });

  test("find a type name with two declarations", () => {
    const twice = [read("export type Place = 1;"), read("interface Place {}", "keel/src/core/b.ts")];
    expect(typesDeclaredTwice(twice)).toEqual(["Place: keel/src/core/thing.ts, keel/src/core/b.ts"]);
  });

  test.each([
    ["a variable", "let count = 0;"],
    ["a map that is written to", "const known = new Map();\nexport const put = (k, v) => known.set(k, v);"],
    ["a set", "const seen = new Set();\nfunction take(x) { seen.add(x); }"],
    ["an object", "const memo = {};\nexport function put(k, v) { memo[k] = v; }"],
    ["a list", "const all = [];\nexport const take = (x) => all.push(x);"],
    ["an object of a class", "const pool = new Pool();"],
  ])("find what a module keeps for itself: %s", (_what, text) => {
    expect(moduleState([read(text)])).toHaveLength(1);
  });

  test.each([
    ["a table", 'const names = new Set(["a"]);\nexport const has = (x) => names.has(x);'],
    ["a map within a function", "export const make = () => { const m = new Map(); m.set(1, 2); return m; };"],
    ["a pattern", 'const word = new RegExp("a");'],
  ])("leave alone what nobody changes: %s", (_what, text) => {
    expect(moduleState([read(text)])).toEqual([]);
  });

  test("know whether anything of a file waits, and whether anything of it runs", () => {
    expect(read("export const a = async () => 1;").waits).toBe(true);
    expect(read("export type A = Promise<1>;").waits).toBe(true);
    expect(read("export const a = () => 1;").waits).toBe(false);
    expect(read("export type A = 1;").runs).toBe(false);
    expect(read("export const a = 1;").runs).toBe(true);
  });
});
