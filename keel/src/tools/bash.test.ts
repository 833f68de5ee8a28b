import { describe, expect, test } from "vitest";
import { realTools } from "../../../test/support/real-tools.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { bashTool } from "./bash.ts";

const room = realTools();
const bash = (command: string, more: { timeout?: number; signal?: AbortSignal } = {}) => {
  const { signal, ...input } = more;
  return room.call(bashTool, { command, ...input }, signal ? { signal } : {});
};

describe("Bash", () => {
  test("returns what a command prints, in the working directory", async () => {
    verifies("S4.9", "S1.12");
    const call = await bash("pwd; echo problem >&2");
    expect(call).toMatchObject({
      failed: false,
      said: `${room.cwd}\nproblem`,
      claims: [{ action: "execute", target: "pwd; echo problem >&2" }],
      data: { stdout: `${room.cwd}\nproblem`, stderr: "", interrupted: false },
      display: {
        kind: "terminal",
        command: "pwd; echo problem >&2",
        output: `${room.cwd}\nproblem`,
        exitCode: 0,
      },
    });
  });

  test("says when there was nothing to print", async () => {
    expect((await bash("true")).said).toBe("(Bash completed with no output)");
  });

  test("fails with the exit code, or with the signal as a shell counts it", async () => {
    expect(await bash("echo half; exit 3")).toMatchObject({
      failed: true,
      said: "Exit code 3\nhalf",
      display: { exitCode: 3 },
    });
    expect(await bash("kill -9 $$")).toMatchObject({ failed: true, said: "Exit code 137\nEnded by SIGKILL" });
    expect(await bash("no-such-program-here")).toMatchObject({
      said: expect.stringMatching(/^Exit code 127\n/),
    });
  });

  test("stops a command at its time limit and says so", async () => {
    const call = await bash("echo before; sleep 30", { timeout: 200 });
    expect(call).toMatchObject({
      failed: true,
      said: "Exit code 143\nCommand timed out after 0.2s\nbefore",
      data: { timedOutAfterMs: 200, interrupted: false },
    });
  });

  test("shows the exact command and its output while it runs", async () => {
    verifies("S4.19");
    const command = "echo one; sleep 0.2; echo two";
    const { shown } = await bash(command);
    expect(shown).toEqual([
      { kind: "terminal", command, output: "one\n", exitCode: null },
      { kind: "terminal", command, output: "one\ntwo\n", exitCode: null },
    ]);
  });

  test("ends with an interrupt, and says that the command may have had effects", async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 100);
    const call = await bash("echo started; sleep 30", { signal: controller.signal });
    expect(call).toMatchObject({ failed: true, data: { interrupted: true } });
    expect(call.said).toBe("The command was interrupted; it may have had effects.\nstarted");
  });

  test("keeps both ends of a long output, and less of it for screens and programs", async () => {
    const { said, display, data } = await bash("seq 1 200000");
    expect(said.length).toBeGreaterThan(900_000);
    expect(said).toMatch(/^1\n2\n[\s\S]* bytes left out …\][\s\S]*\n200000$/);
    expect(JSON.stringify(display).length).toBeLessThan(50_000);
    expect(JSON.stringify(data).length).toBeLessThan(50_000);
  });

  test.each([
    ["a NUL byte", "echo a\0b"],
    ["half a surrogate pair", "echo \ud800"],
    ["nothing", "  \n"],
  ])("refuses %s before anyone is asked", async (_, command) => {
    expect(await bash(command)).toMatchObject({ refused: true });
  });

  test.each([
    { command: 1 },
    {},
    { command: "a", timeout: 600_001 },
    { command: "a", timeout: 0 },
    { command: "a", timeout: "5" },
  ])("does not take the input %j", (input) => {
    expect(bashTool.input.parse(input).ok).toBe(false);
  });

  test("is careful by its traits, unless the command only reads", () => {
    const careful = { readOnly: false, concurrent: false, replay: "never" };
    const reading = { readOnly: true, concurrent: true, replay: "never" };
    expect(bashTool.traits({ command: "touch a" })).toEqual(careful);
    expect(bashTool.traits({ command: "ls -la | wc -l" })).toEqual(reading);
    expect(bashTool.traits({ command: "ls", run_in_background: true })).toEqual(careful);
    expect(bashTool.traits({ command: "ls; touch a" })).toEqual(careful);
  });
});
