// The recipes of AGENTS.md, each followed on a copy of the tree.
import { expect } from "vitest";
import { recipe } from "./support/recipes.ts";

/** Streams and an environment without anything, for doors that want them. */
const context = `
import { PassThrough } from "node:stream";
import { Output } from "./keel/src/hosts/cli/output.ts";
const sink = new Output(new PassThrough());
const signals = { take: () => () => undefined };
const context = { version: "0", env: {}, cwd: process.cwd(), input: new PassThrough(), out: sink, err: sink, signals, crashes: signals };
`;

recipe("An option", 2, async (tree) => {
  await tree.insert(
    "keel/src/protocol/options.ts",
    "const rows = {\n",
    '  greeting: row(form.text, "--greeting TEXT", "How the session says hello"),\n',
  );
  await tree.insert(
    "keel/src/app/compose/session-texts.ts",
    "      append: options.appendSystemPrompt",
    " ?? options.greeting",
  );
  return async () => {
    const seen = await tree.program(`${context}
      import { parseArguments } from "./keel/src/hosts/cli/arguments.ts";
      import { commands } from "./keel/src/hosts/cli/command-table.ts";
      import { helpFor } from "./keel/src/hosts/cli/help.ts";
      import { runnerOptions } from "./keel/src/hosts/cli/commands/runner-options.ts";
      import { openOptions } from "./keel/src/hosts/cli/print/open-options.ts";
      import { printOptions } from "./keel/src/hosts/cli/print/print-options.ts";
      import { readFlags } from "./keel/src/hosts/cli/session-flags.ts";
      import { readWireArguments } from "./keel/src/hosts/executable/options.ts";
      import { sessionOptions } from "./keel/src/hosts/executable/session.ts";
      import { openOptionsOf as runnerOptionsOf, readStart } from "./keel/src/hosts/runner/start.ts";
      import { openOptionsOf } from "./keel/src/sdk/options/open-options.ts";
      import { argumentsOf } from "./keel/src/sdk/process/arguments.ts";
      const given = ["--greeting", "hello"];
      const start = readStart({ ok: true, line: '{"type":"start","greeting":"hello"}' });
      const sdk = { greeting: "hello" };
      console.log(JSON.stringify({
        help: (await helpFor(commands[0], commands)).includes("--greeting TEXT"),
        cli: (await openOptions(parseArguments(given, printOptions).values, "new prompt", context)).greeting,
        executable: (await sessionOptions(readWireArguments(given).values, undefined, context)).greeting,
        runner: (await readFlags("runner", parseArguments(given, runnerOptions).values, "/")).greeting,
        line: runnerOptionsOf(start.value, context).greeting,
        sdk: openOptionsOf(sdk, { version: "0", processEnv: {} }).greeting,
        process: argumentsOf(sdk).includes("--greeting=hello"),
      }));`);
    const everywhere = { cli: "hello", executable: "hello", runner: "hello", line: "hello", sdk: "hello" };
    expect(seen).toEqual({ help: true, ...everywhere, process: true });
  };
});

recipe("An inquiry", 2, async (tree) => {
  await tree.insert(
    "keel/src/protocol/inquiry.ts",
    "export const inquiries = {\n",
    '  folder: about("The folder that the session works in", text),\n',
  );
  await tree.insert(
    "keel/src/app/inquiries/inquiries.ts",
    "  facts: ({ info }) => ({ ...info }),\n",
    "  folder: ({ info }) => info.cwd,\n",
  );
  return async () => {
    const seen = await tree.program(`${context}
      import { controls } from "./keel/src/hosts/runner/controls.ts";
      import { answerRequest, readHostRequest } from "./keel/src/sdk/control/host-requests.ts";
      import { processMethods } from "./keel/src/sdk/process/apart.ts";
      import { query } from "./keel/src/sdk/query/query.ts";
      import { openHome } from "./keel/src/app/home.ts";
      const cwd = process.cwd();
      const env = { HOME: cwd, KEEL_HOME: cwd + "/home", ANTHROPIC_API_KEY: "none" };
      const wanted = { version: "0", cwd, env, persist: "memory", model: "haiku" };
      const session = await openHome(wanted).open(wanted);
      const answer = (request) => answerRequest(readHostRequest(request), { session });
      const running = Promise.resolve({ request: answer });
      const waiting = query({ prompt: (async function* () { await new Promise(() => setTimeout(() => {}, 60_000)); })(), options: { cwd, env, persistSession: false, model: "haiku" } });
      const [told] = await controls(session, { type: "inquire", inquiry: "folder" }, { answered: new Set() });
      const seen = {
        app: await session.inquire("folder"),
        runner: told.answer,
        executable: (await answer({ subtype: "inquire", inquiry: "folder" })).answer,
        process: await processMethods(running).inquire("folder"),
        sdk: await waiting.inquire("folder"),
      };
      console.log(JSON.stringify(Object.fromEntries(Object.entries(seen).map(([door, said]) => [door, said === cwd]))));
      process.exit(0);`);
    expect(seen).toEqual({ app: true, runner: true, executable: true, process: true, sdk: true });
  };
});
