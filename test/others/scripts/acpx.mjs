// acpx drives an ACP agent from the command line: one prompt, sessions that stay, permissions by flags.
import { execFile } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { check, executable, project, same } from "./kit.mjs";

const adapter = path.resolve("node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js");
const agent = ["--agent", `${process.execPath} ${adapter}`];
const env = { ...process.env, ...(executable ? { CLAUDE_CODE_EXECUTABLE: executable } : {}) };

/** What it printed; a failure too, as its code. */
const acpx = (...words) =>
  promisify(execFile)(
    process.execPath,
    [path.resolve("node_modules/acpx/dist/cli.js"), "--cwd", project, ...words],
    {
      env,
      cwd: project,
      timeout: 60_000,
    },
  ).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout, stderr }) => ({ code, stdout: `${stdout}\n${stderr}` }),
  );
const file = (name) => path.join(project, name);

const once = await acpx("--format", "quiet", ...agent, "exec", "say: hello there");
same("one prompt is answered", [once.code, once.stdout.trim()], [0, "hello there"]);
const json = await acpx("--format", "json", ...agent, "exec", "say: hello there");
await check(
  "as lines of JSON too",
  () =>
    json.stdout
      .trim()
      .split("\n")
      .every((line) => JSON.parse(line)) && json.stdout.includes("agent_message_chunk"),
);
writeFileSync(file("notes.txt"), "alpha\n");
const read = await acpx(
  "--format",
  "quiet",
  ...agent,
  "exec",
  `call: Read {"file_path":"${file("notes.txt")}"}`,
);
await check("a file is read", () => read.stdout.includes("It worked") && read.stdout.includes("alpha"));
const made = await acpx(
  "--approve-all",
  "--format",
  "quiet",
  ...agent,
  "exec",
  'call: Bash {"command":"touch made.txt"}',
);
await check("with approval a command runs", () => made.code === 0 && existsSync(file("made.txt")));
const denied = await acpx(
  "--deny-all",
  "--format",
  "quiet",
  ...agent,
  "exec",
  'call: Bash {"command":"touch never.txt"}',
);
await check(
  "without it none does",
  () => !existsSync(file("never.txt")) && !denied.stdout.includes("It worked"),
);
const opened = await acpx(...agent, "sessions", "new");
same("a session is opened", opened.code, 0);
const [first, second] = [
  await acpx("--format", "quiet", ...agent, "say: one"),
  await acpx("--format", "quiet", ...agent, "say: two"),
];
same("it is prompted twice", [first.stdout.trim(), second.stdout.trim()], ["one", "two"]);
const history = await acpx(...agent, "sessions", "history");
await check("and has its history", () =>
  ["say: one", "two"].every((words) => history.stdout.includes(words)),
);
const listed = await acpx(...agent, "sessions", "list");
await check("it is listed", () => listed.code === 0 && listed.stdout.trim() !== "");
same("and closed", (await acpx(...agent, "sessions", "close")).code, 0);
