// An event that is added tomorrow must not be passed over in silence: a switch over events ends in `never(event)`, and
// whoever is about a few of them names these in a table (`EventHandlers`).
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { durableEventSchema } from "../keel/src/protocol/event/durable.ts";
import { liveEventSchema } from "../keel/src/protocol/event/live.ts";
import { eventChains, eventSwitches } from "./architecture/event-switches.ts";

const root = path.resolve(import.meta.dirname, "..");
const types = new Set<string>(
  [durableEventSchema, liveEventSchema].flatMap(({ def }) =>
    def.options.flatMap((option) => option.shape.type.def.values),
  ),
);
const sources = globSync("keel/src/**/*.ts", { cwd: root })
  .filter((file) => !file.endsWith(".test.ts"))
  .sort()
  .map((file) => [file, readFileSync(path.join(root, file), "utf8")] as const);

describe("the sources", () => {
  test("look at every event in six switches, each of which ends in never", () => {
    const found = sources.flatMap(([file, text]) => eventSwitches(file, text, types));
    expect(found.filter(({ isExhaustive }) => !isExhaustive)).toEqual([]);
    expect(found.map(({ file }) => file)).toEqual([
      "keel/src/core/fold.ts",
      "keel/src/sdk/dialect/dialect.ts",
      "keel/src/sdk/dialect/dialect.ts",
      "keel/src/sdk/dialect/stream.ts",
      "keel/src/view/row-group.ts",
      "keel/src/view/transcript.ts",
    ]);
  });

  test("ask for no more than three events, one if after the other", () => {
    expect(sources.flatMap(([file, text]) => eventChains(file, text, types))).toEqual([]);
  });
});

describe("the rule of switches", () => {
  const read = (end: string) =>
    eventSwitches(
      "a.ts",
      `function a(event) { switch (event.type) { case "turn.started": return 1; ${end} } }`,
      types,
    );

  test.each(["", "default: return [];", "default: return note(event);"])(
    "refuses one that ends in %j",
    (end) => {
      expect(read(end)).toMatchObject([{ line: 1, isExhaustive: false }]);
    },
  );

  test("takes one that ends in never, and leaves alone what is no event", () => {
    expect(read("default: return never(event);")).toMatchObject([{ isExhaustive: true }]);
    expect(eventSwitches("a.ts", 'switch (block.type) { case "text": break; default: }', types)).toEqual([]);
  });

  test("counts questions that follow one another", () => {
    const chain = (names: readonly string[]) =>
      eventChains(
        "a.ts",
        `function a(e) { ${names.map((name) => `if (e.type === "${name}") b();`).join(" ")} }`,
        types,
      );
    expect(chain(["turn.started", "turn.finished", "tool.started", "tool.finished"])).toHaveLength(1);
    expect(chain(["turn.started", "turn.finished", "tool.started"])).toEqual([]);
    expect(chain(["a", "b", "c", "d"])).toEqual([]);
  });
});
