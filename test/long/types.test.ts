// Keel's types and those of the interface itself, which are installed for this test only: each name fits in both
// directions, so that a value of one goes where the other is wanted. What does not fit is named here with its reason.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, "../..");
const official = "@anthropic-ai/claude-agent-sdk";
const version = "0.3.325";

/** `ours`: Keel's does not go where theirs is wanted; `theirs`: the other way round. */
const apart: Readonly<Record<string, { of: string; why: string }>> = {
  AnyZodRawShape: { of: "ours", why: "any Standard Schema is a field, not only one of zod" },
  BUILTIN_TOOL_NAMES: { of: "ours theirs", why: "the tools are Keel's" },
  createSdkMcpServer: {
    of: "ours theirs",
    why: "its instance is a server of Keel, and a class has its own type",
  },
  InMemorySessionStore: { of: "ours theirs", why: "a class with private fields fits nothing else" },
  McpSdkServerConfigWithInstance: { of: "ours", why: "the same as createSdkMcpServer" },
  McpServerConfig: { of: "ours", why: "the same" },
  Options: { of: "ours", why: "it holds servers, and presets of tools that only Keel has" },
  ORG_POLICY_LIMIT_PREFIXES: { of: "ours", why: "Keel says none of these texts" },
  USAGE_LIMIT_ERROR_PREFIXES: { of: "ours", why: "the same" },
  USAGE_TRANSITION_PREFIXES: { of: "ours", why: "the same" },
  USAGE_WARNING_PREFIXES: { of: "ours", why: "the same" },
  Query: { of: "theirs", why: "Keel's has more methods" },
  query: { of: "theirs", why: "the same" },
  prewarm: { of: "theirs", why: "the same" },
  startup: { of: "theirs", why: "the same" },
  SpareProcess: { of: "theirs", why: "the same" },
  WarmQuery: { of: "theirs", why: "the same" },
  SDKControlRequest: {
    of: "ours",
    why: "which requests there are, only the two ends of the wire need to know",
  },
  Transport: { of: "ours", why: "the same" },
  SdkMcpToolDefinition: { of: "ours theirs", why: "the same as AnyZodRawShape" },
  tool: { of: "ours theirs", why: "the same" },
};

describe("the types of the interface", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "keel-types-"));
    await writeFile(path.join(folder, "package.json"), '{ "type": "module", "private": true }');
    const wanted = [
      `${official}@${version}`,
      "--ignore-scripts",
      "--omit=optional",
      "--no-audit",
      "--no-fund",
    ];
    await run("npm", ["install", ...wanted], { cwd: folder });
    await symlink(path.join(root, "keel"), path.join(folder, "node_modules/keel"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("have every name, and fit Keel's in both directions but where a reason is named", async () => {
    const text = await readFile(path.join(folder, `node_modules/${official}/sdk.d.ts`), "utf8");
    const names = [...text.matchAll(/^export declare (\w+) (\w+)/gm)].map(([, kind = "", name = ""]) => ({
      name,
      isValue: kind === "function" || kind === "const",
    }));
    expect(names.length).toBeGreaterThan(250);
    expect(await misfits(names)).toEqual(
      names.flatMap(({ name }) => (apart[name]?.of.split(" ") ?? []).map((of) => `${name}: ${of}`)).sort(),
    );
  });

  test("fit the program that Keel's fit", async () => {
    const manual = await readFile(path.join(root, "test/types/manual/manual.ts"), "utf8");
    expect(await errorsOf(manual.replace('from "keel"', `from "${official}"`))).toEqual([]);
  });

  async function misfits(names: readonly { name: string; isValue: boolean }[]): Promise<string[]> {
    const lines = names.flatMap(({ name, isValue }) => {
      const [ours, theirs] = ["Ours", "Theirs"].map((of) =>
        isValue ? `typeof ${of}.${name}` : `${of}.${name}${name === "InferShape" ? "<{}>" : ""}`,
      );
      return [
        `export const ours${name}: ${theirs} = null as never as ${ours};`,
        `export const theirs${name}: ${ours} = null as never as ${theirs};`,
      ];
    });
    const imports = [`import type * as Theirs from "${official}";`, 'import type * as Ours from "keel";'];
    const wrong = await errorsOf([...imports, ...lines].join("\n"));
    const found = wrong.map((line) => {
      const index = Number(/\((\d+),/.exec(line)?.[1]) - imports.length - 1;
      return `${names[Math.floor(index / 2)]?.name ?? line}: ${index % 2 === 0 ? "ours" : "theirs"}`;
    });
    return [...new Set(found)].sort();
  }

  /** What the compiler says of a program, a line for each error. */
  async function errorsOf(program: string): Promise<string[]> {
    await writeFile(path.join(folder, "program.ts"), program);
    const compilerOptions = {
      strict: true,
      noEmit: true,
      module: "nodenext",
      target: "es2024",
      lib: ["es2024", "esnext.disposable"],
      skipLibCheck: true,
      types: ["node"],
      typeRoots: [path.join(root, "node_modules/@types")],
    };
    const project = path.join(folder, "tsconfig.json");
    await writeFile(project, JSON.stringify({ compilerOptions, files: ["program.ts"] }));
    const tsc = path.join(root, "node_modules/typescript/bin/tsc");
    const { stdout } = await run(process.execPath, [tsc, "-p", project], { cwd: folder }).catch(
      (failed: { stdout: string }) => failed,
    );
    return stdout.split("\n").filter((line) => /^\S.*error TS/.test(line));
  }
});
