// The package in an empty project, as a newcomer has it: every door, both kinds of modules, strict types, the command.
import { execFile } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { check, executable, project, same } from "./kit.mjs";

const run = promisify(execFile);
const turn = `const texts = [];
for await (const message of query({ prompt: "say: hello there", options: { cwd: ${JSON.stringify(project)} } }))
  if (message.type === "result") texts.push(message.result);
console.log(texts.join());`;
const output = async (file, text, args = []) => {
  writeFileSync(file, text);
  return (await run(process.execPath, [...args, file])).stdout.trim();
};

same(
  "a module runs a turn",
  await output("turn.mjs", `import { query } from "keel";\n${turn}`).catch(String),
  "hello there",
);
same(
  "so does CommonJS",
  await output("turn.cjs", `const { query } = require("keel");\n(async () => {\n${turn}\n})();`).catch(
    String,
  ),
  "hello there",
);
const doors = ["keel", "keel/protocol", "keel/client", "keel/view", "keel/testing"];
for (const door of doors) {
  await check(`${door} is imported`, async () => Object.keys(await import(door)).length > 0);
  await check(
    `${door} is required`,
    async () =>
      (await output("door.cjs", `console.log(Object.keys(require("${door}")).length > 0)`)) === "true",
  );
}
const program = `import { type Options, query, type SDKMessage, tool } from "keel";
import type { BashInput } from "keel/sdk-tools";
import { reply } from "keel/testing";
import { z } from "zod";
const options: Options = { maxTurns: 2 };
export async function texts(): Promise<string[]> {
  const found: string[] = [];
  for await (const message of query({ prompt: "x", options })) found.push(textOf(message));
  return found;
}
const textOf = (message: SDKMessage): string => (message.type === "result" && message.subtype === "success" ? message.result : "");
export const input: BashInput = { command: "true" };
export const double = tool("double", "Doubles", { value: z.number() }, async ({ value }) => ({ content: [{ type: "text", text: String(value * 2) }] }));
export const first = reply("x");
`;
writeFileSync("program.ts", program);
for (const module of ["nodenext", "preserve"]) {
  const words = [
    "--strict",
    "--noEmit",
    "--module",
    module,
    "--target",
    "es2022",
    "--types",
    "node",
    "program.ts",
  ];
  const said = await run("node_modules/.bin/tsc", words).catch(({ stdout }) => ({ stdout }));
  same(`strict TypeScript compiles, with module ${module}`, said.stdout, "");
}
const own = "node_modules/.bin/keel";
await check("the command rehearses", async () =>
  (await run(own, ["rehearse"])).stdout.includes("That was a rehearsal."),
);
await check("and says its version", async () =>
  /^\d+\.\d+\.\d+/.test((await run(own, ["--version"])).stdout),
);
await check("the README and the licence are there", () =>
  ["README.md", "LICENSE"].every((name) => existsSync(`node_modules/keel/${name}`)),
);
await check("no test ran another Keel", () => executable !== undefined);
