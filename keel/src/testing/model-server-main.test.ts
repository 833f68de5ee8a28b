import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startModelServer } from "./model-server.ts";
import { runModelServer, runRecordingProxy } from "./model-server-main.ts";

const started: ChildProcess[] = [];
let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "keel-model-server-"));
});
afterEach(async () => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
  await rm(folder, { recursive: true });
});

const source = path.resolve(import.meta.dirname, "model-server-main.ts");

/** Runs the server in a process of its own, as the command does. */
async function run(options: object, stdin: "pipe" | "ignore" = "pipe", which = "runModelServer") {
  const program = `
    import { ${which} as run } from ${JSON.stringify(source)};
    await run({ ...${JSON.stringify(options)}, write: (text) => process.stdout.write(text) });
    process.stdout.write("ended");`;
  const child = spawn(process.execPath, ["--input-type=module-typescript", "--eval", program], {
    cwd: folder,
    stdio: [stdin, "pipe", which === "runReplayServer" ? "ignore" : "inherit"],
  });
  started.push(child);
  let output = "";
  child.stdout?.on("data", (chunk) => {
    output += chunk;
  });
  while (!output.includes("\n")) await once(child.stdout ?? child, "data");
  const [line = ""] = output.split("\n");
  const address: { port: number; url: string } = JSON.parse(line);
  return { child, address, output: () => output, exit: once(child, "exit") };
}

const script = async (content: unknown) => {
  const file = path.join(folder, "script.json");
  await writeFile(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
};

const ask = async (url: string): Promise<unknown> => {
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "anthropic-version": "2023-06-01", "x-api-key": "a-very-secret-key" },
    body: JSON.stringify({
      model: "m",
      max_tokens: 1,
      messages: [{ role: "user", content: "line\u2028end" }],
    }),
  });
  return response.json();
};

describe("the model server as a command", () => {
  test("prints its address, answers from the file, writes down what it saw, and ends with its input", async () => {
    const requestsFile = path.join(folder, "requests.jsonl");
    const scriptFile = await script({ replies: ["I work in {{cwd}}", "two"] });
    const { child, address, exit, output } = await run({ scriptFile, requestsFile });
    expect(address.url).toBe(`http://127.0.0.1:${address.port}`);
    expect(await ask(address.url)).toMatchObject({ content: [{ text: `I work in ${folder}` }] });
    await ask(address.url);
    child.stdin?.end();
    expect(await exit).toEqual([0, null]);
    expect(output()).toContain("ended");
    const lines = (await readFile(requestsFile, "utf8")).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).number)).toEqual([1, 2]);
    expect(lines.join()).not.toContain("a-very-secret");
    expect(lines[0]).toContain("line\\u2028end");
  });

  test("ends on SIGTERM although a reply is under way, and does not mind an input that is nowhere", async () => {
    const scriptFile = await script({ replies: [{ named: "silence" }] });
    const { child, address, exit } = await run({ scriptFile }, "ignore");
    const asking = ask(address.url).catch(() => "cut off");
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(child.exitCode).toBeNull();
    child.kill("SIGTERM");
    expect(await exit).toEqual([0, null]);
    expect(await asking).toBe("cut off");
  });

  test.each([
    ["is not JSON", "{", "is not JSON"],
    ["is not a script", { replys: [] }, "is not valid"],
  ])("refuses a script that %s", async (_, content, reason) => {
    const scriptFile = await script(content);
    await expect(runModelServer({ scriptFile, write: () => undefined })).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining(reason),
    });
  });

  test("refuses a script that is not there, and a port that it cannot have", async () => {
    const missing = path.join(folder, "none.json");
    await expect(runModelServer({ scriptFile: missing, write: () => undefined })).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining("cannot be read"),
    });
    const scriptFile = await script({});
    const taken = await startModelServer({ script: { replies: [] } });
    await expect(
      runModelServer({ scriptFile, port: taken.port, write: () => undefined }),
    ).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining("cannot listen"),
    });
    await taken.close();
  });
});

describe("cassettes as commands", () => {
  test("one process records what a server answers; another plays it, and does not end well when asked for more", async () => {
    const cassetteFile = path.join(folder, "tape.jsonl");
    const kept = { blocks: [{ type: "text" as const, text: "kept" }] };
    const server = await startModelServer({ script: { replies: [kept] } });
    const recorder = await run({ cassetteFile, upstream: server.url }, "pipe", "runRecordingProxy");
    const live = await ask(recorder.address.url);
    recorder.child.stdin?.end();
    expect(await recorder.exit).toEqual([0, null]);
    expect(recorder.output()).toContain("ended");
    await server.close();
    expect(await readFile(cassetteFile, "utf8")).not.toContain("a-very-secret");

    const player = await run({ cassetteFile }, "pipe", "runReplayServer");
    expect(await ask(player.address.url)).toEqual(live);
    expect(await ask(player.address.url)).toMatchObject({
      error: { message: expect.stringMatching(/recorded once and is asked once more/) },
    });
    player.child.stdin?.end();
    expect(await player.exit).toEqual([1, null]);
  });

  test("an upstream that is no address is refused", async () => {
    const options = {
      cassetteFile: path.join(folder, "tape.jsonl"),
      upstream: "nowhere",
      write: () => undefined,
    };
    await expect(runRecordingProxy(options)).rejects.toMatchObject({ code: "usage" });
  });
});
