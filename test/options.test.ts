// Every option of the table, seen at every door that has it.
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { parseArguments } from "../keel/src/app/flags/arguments.ts";
import { readFlags } from "../keel/src/app/flags/session-flags.ts";
import { openOptionsOf } from "../keel/src/app/options.ts";
import { runnerOptions } from "../keel/src/hosts/cli/commands/runner.ts";
import type { Context } from "../keel/src/hosts/cli/context.ts";
import { Output } from "../keel/src/hosts/cli/output.ts";
import { printOptions } from "../keel/src/hosts/cli/print/root.ts";
import { readWireArguments } from "../keel/src/hosts/executable/options.ts";
import { sessionOptions as wireSessionOptions } from "../keel/src/hosts/executable/session.ts";
import { readStart } from "../keel/src/hosts/runner/start.ts";
import {
  type FlagDoor,
  fieldOf,
  flagAt,
  fromPlain,
  type OptionRow,
} from "../keel/src/protocol/option-row.ts";
import { rowsOf, toolPresets } from "../keel/src/protocol/options.ts";
import { argumentsOf, introductionOf } from "../keel/src/sdk/process/arguments.ts";

/** A value of each kind: as JSON says it, and as a flag does. */
function sampleOf({
  form: { kind, choices, min = 0 },
}: OptionRow): [plain: unknown, text: string | undefined] {
  const [first = "one"] = choices ?? [];
  switch (kind) {
    case "flag":
    case "off":
      return [true, undefined];
    case "count":
      return [min + 1, String(min + 1)];
    case "amount":
      return [0.5, "0.5"];
    case "choice":
    case "thinking":
      return [first, first];
    case "rules":
    case "names":
    case "folders":
    case "plugins":
    case "tools":
      return [[first], first];
    case "joined":
      return ["a,b", "a,b"];
    case "servers": {
      const servers = { one: { type: "http", url: "http://127.0.0.1:1/" } };
      return [servers, JSON.stringify({ mcpServers: servers })];
    }
    case "object":
    case "settings":
    case "schema":
      return [{ a: "b" }, JSON.stringify({ a: "b" })];
    case "text":
      return ["a text", "a text"];
  }
}

const flagTables = { cli: printOptions, runner: runnerOptions };
const sink = new Output(new PassThrough());
const context = { version: "0", env: {}, cwd: "/work", err: sink } as unknown as Context;

async function given(door: FlagDoor, args: readonly string[]): Promise<Record<string, unknown>> {
  if (door === "executable")
    return { ...(await wireSessionOptions(readWireArguments(args).values, undefined, context)) };
  return { ...(await readFlags(door, parseArguments(args, flagTables[door]).values, "/work")) };
}

const argument = (row: OptionRow, door: FlagDoor): string[] => {
  const [, text] = sampleOf(row);
  const name = `--${flagAt(door, row)?.name}`;
  return text === undefined ? [name] : [name, text];
};

const at = (door: FlagDoor) => rowsOf().filter(([, row]) => flagAt(door, row) !== undefined);

describe.each(["cli", "executable", "runner"] as const)("at the door %s", (door) => {
  // The executable puts the two texts of a prompt together.
  const rows = at(door).filter(([name]) => door !== "executable" || !/systemPrompt$/i.test(name));
  test.each(rows)("the flag of %s says what the SDK's field says", async (name, row) => {
    const [plain] = sampleOf(row);
    const expected = name === "enableFileCheckpointing" ? true : fromPlain(row.form, plain);
    expect((await given(door, argument(row, door)))[name]).toEqual(expected);
  });
});

test.each(at("runner"))("%s in a first line says what the SDK's field says", (name, row) => {
  const [plain] = sampleOf(row);
  const read = readStart({ ok: true, line: JSON.stringify({ type: "start", [fieldOf(row) ?? ""]: plain }) });
  expect(read).toEqual({ ok: true, value: { [name]: fromPlain(row.form, plain) } });
});

test.each(rowsOf().filter(([name]) => name !== "enableFileCheckpointing"))(
  "%s reaches a process of its own, by an argument or in the introduction",
  async (name, row) => {
    const [plain] = sampleOf(row);
    const options = { [name]: fromPlain(row.form, plain) };
    const said = JSON.parse(JSON.stringify(introductionOf(options, {})));
    const { values } = readWireArguments(argumentsOf(options));
    const arrived: Record<string, unknown> = { ...(await wireSessionOptions(values, said, context)) };
    if (/systemPrompt$/i.test(name)) expect(JSON.stringify(arrived["systemPrompt"])).toContain(plain);
    else expect(arrived[name]).toEqual(options[name]);
  },
);

const host = { version: "0", env: {}, cwd: "/work" };

test("a program chooses tools by Keel's presets in two ways; those of others stand for everything", () => {
  for (const preset of toolPresets) {
    expect(openOptionsOf({ toolPreset: preset }, host).tools).toBe(preset);
    expect(openOptionsOf({ tools: { type: "preset", preset } }, host).tools).toBe(preset);
  }
  expect(openOptionsOf({ tools: { type: "preset", preset: "claude_code" } }, host).tools).toBe("full");
  expect(() => openOptionsOf({ tools: ["Read"], toolPreset: "full" }, host)).toThrow("not both");
});

test("what goes on keeps nothing back that the session is opened with", () => {
  expect(
    openOptionsOf({ agent: "scout", effort: "high", title: "A title", persistSession: false }, host),
  ).toMatchObject({ agent: "scout", effort: "high", title: "A title", persist: "memory" });
});
