import path from "node:path";
import { describe, expect, test } from "vitest";
import { realTools } from "../../../test/support/real-tools.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { multiEditTool } from "./edit.ts";
import { readTool } from "./read.ts";

const room = realTools();
const at = (name: string): string => path.join(room.cwd, name);
const edit = (file_path: string, ...pairs: [string, string][]) =>
  room.call(multiEditTool, {
    file_path,
    edits: pairs.map(([old_string, new_string]) => ({ old_string, new_string })),
  });
const given = async (name: string, content: string): Promise<void> => {
  room.put(name, content);
  await room.call(readTool, { file_path: name });
};

describe("MultiEdit", () => {
  test("makes all replacements at once, each on what the ones before it left", async () => {
    await given("a.ts", "one\ntwo\nthree\n");
    const call = await edit("a.ts", ["one", "1"], ["1\ntwo", "1\n2"], ["three", "3"]);
    expect(room.get("a.ts")).toBe("1\n2\n3\n");
    expect(call.said).toBe(`Edited ${at("a.ts")} in 3 places (+3 -3 lines).`);
    expect(call.claims).toEqual([{ action: "write", target: at("a.ts") }]);
    expect(call.data).toMatchObject({ filePath: at("a.ts"), originalFile: "one\ntwo\nthree\n" });
  });

  test("makes none of them when one does not fit, and says which", async () => {
    verifies("G32");
    await given("a.ts", "one\ntwo\n");
    const call = await edit("a.ts", ["one", "1"], ["twoo", "2"]);
    expect(call).toMatchObject({ refused: true });
    expect(call.said).toContain(
      "Edit 2 of 2, and so none of them, was made: old_string does not occur in a.ts.",
    );
    expect(room.get("a.ts")).toBe("one\ntwo\n");
  });

  test("makes a new file from a first replacement of nothing", async () => {
    await edit("new.ts", ["", "one\n"], ["one", "two"]);
    expect(room.get("new.ts")).toBe("two\n");
    expect((await edit("other.ts", ["x", "y"])).said).toContain("No such file: other.ts");
  });

  test("wants the file read, and at least one replacement", async () => {
    room.put("a.ts", "one");
    expect((await edit("a.ts", ["one", "two"])).said).toContain("has not been read");
    expect(multiEditTool.input.parse({ file_path: "a", edits: [] }).ok).toBe(false);
  });
});
