// The recipes of AGENTS.md, all followed on one copy of the tree, which must compile and keep to the rules with them.
import { expect } from "vitest";
import { acme, plainHost } from "./support/recipe-sources.ts";
import { recipe } from "./support/recipes.ts";

/** Streams and an environment without anything, for doors that want them. */
const context = `
import { PassThrough } from "node:stream";
import { Output } from "./keel/src/hosts/cli/output.ts";
const sink = new Output(new PassThrough());
const signals = { take: () => () => undefined };
const context = { version: "0", env: {}, cwd: process.cwd(), input: new PassThrough(), out: sink, err: sink, signals, crashes: signals };
`;

recipe("A tool", 4, async (tree) => {
  await tree.write(
    "keel/src/tools/line-count.ts",
    `/** LineCount: how many lines a file has. */
import * as z from "zod/mini";
import { builtInTool, failure, pathField, said } from "./built-in.ts";
import { claimedPath, targetOf } from "./target.ts";

const maxBytes = 1024 * 1024;

export const lineCountTool = builtInTool({
  name: "LineCount",
  family: "reads",
  description: "Says how many lines a file has.",
  input: z.object({ path: pathField }),
  traits: { readOnly: true, concurrent: true, replay: "safe" },
  claims: async ({ path }, context) => [{ action: "read", target: await claimedPath(context, path) }],
  run: async function* ({ path }, context) {
    const target = await targetOf(context, { action: "read", path });
    if (!target.ok) return failure(target.why);
    const read = await context.workspace.files.read(target.facts.path, { maxBytes });
    if (!read.ok) return failure(read.why);
    return said(String(new TextDecoder().decode(read.file.bytes).split("\\n").length - 1));
  },
});
`,
  );
  await tree.insert(
    "keel/src/tools/catalog.ts",
    '  Grep: async () => (await import("./grep.ts")).grepTool,\n',
    '  LineCount: async () => (await import("./line-count.ts")).lineCountTool,\n',
  );
  for (const before of ["ExitPlanMode", "Edit"])
    await tree.insert(
      "keel/src/tools/catalog.test.ts",
      `    "${before}",\n    "Glob",\n    "Grep",\n`,
      '    "LineCount",\n',
    );
  await tree.write(
    "keel/src/tools/line-count.test.ts",
    `import path from "node:path";
import { expect, test } from "vitest";
import { realTools } from "../../../test/support/real-tools.ts";
import { lineCountTool } from "./line-count.ts";

const tools = realTools();

test("LineCount says how many lines a file has, and claims to read it", async () => {
  tools.put("a.txt", "one\\ntwo\\n");
  const { said, claims } = await tools.call(lineCountTool, { path: "a.txt" });
  expect(said).toBe("2");
  expect(claims).toEqual([{ action: "read", target: path.join(tools.cwd, "a.txt") }]);
});

test("LineCount of a file that is not there is a failure", async () => {
  expect(await tools.call(lineCountTool, { path: "b.txt" })).toMatchObject({ failed: true });
});
`,
  );
  await tree.npm("reference");
  tree.test("keel/src/tools/line-count.test.ts", "keel/src/tools/catalog.test.ts");
  return async () => {
    const known = await tree.program(`
      import { familyOf } from "./keel/src/protocol/tool-families.ts";
      import { BUILTIN_TOOL_NAMES } from "./keel/src/sdk/index.ts";
      console.log(JSON.stringify([familyOf("LineCount"), BUILTIN_TOOL_NAMES.includes("LineCount")]));`);
    expect(known).toEqual(["reads", true]);
  };
});

recipe("A provider", 7, async (tree) => {
  await tree.insert("keel/src/models/providers.ts", "export type WireId = ", '"acme" | ');
  await tree.insert("keel/src/models/providers.ts", '    modelNames: ["OPENAI_MODEL"],\n  },\n', acme.row);
  await tree.write("keel/src/models/acme/encode.ts", acme.encode);
  await tree.write("keel/src/models/acme/decode.ts", acme.decode);
  await tree.write("keel/src/models/acme/model.ts", acme.model);
  await tree.insert(
    "keel/src/models/connect.ts",
    "    return { open: openaiModel, headers: chatHeaders };\n  },\n",
    acme.wire,
  );
  const catalog = "keel/src/models/catalog-data.ts";
  await tree.insert(catalog, 'const openaiAsOf = "2026-11-05";\n', acme.info);
  await tree.insert(catalog, "[...claudeModels, ...gptModels", ", acmeModel");
  await tree.insert(catalog, '  openai: "gpt-6-sol",\n', '  acme: "acme-1",\n');
  await tree.write("keel/src/models/acme/model.test.ts", acme.test);
  tree.test("keel/src/models/acme/model.test.ts", "keel/src/models/catalog.test.ts");
  return async () => {
    // Whoever has only its key speaks with its default model.
    const said = await tree.program(`
      import { openHome } from "./keel/src/app/home.ts";
      import { loopback } from "./test/support/loopback.ts";
      const events = ['{"text":"hello"}', '{"end":"stop","input":3,"output":1}'];
      const server = await loopback((response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(events.map((data) => "data: " + data + "\\n\\n").join(""));
      });
      const cwd = process.cwd();
      const env = { HOME: cwd + "/home", ACME_API_KEY: "none", ACME_BASE_URL: server.url };
      const options = { version: "0", cwd, env, persist: "memory" };
      const session = await openHome(options).open(options);
      const said = [];
      session.onEvent((event) => event.type === "model.finished" && said.push(event.model, event.content, event.costUsd));
      await session.submit({ type: "input", content: [{ type: "text", text: "hi" }] });
      await session.idle();
      console.log(JSON.stringify([server.seen.map(({ path }) => path), ...said]));
      process.exit(0);`);
    expect(said).toEqual([["/generate"], "acme-1", [{ type: "text", text: "hello" }], 5e-6]);
  };
});

recipe("A host", 5, async (tree) => {
  await tree.write("keel/src/hosts/plain/dialect.ts", plainHost.dialect);
  await tree.write("keel/src/hosts/plain/main.ts", plainHost.main);
  await tree.insert("keel/src/hosts/cli/command-table.ts", "  ...mcpCommands(command),\n", plainHost.row);
  const layers = "test/architecture/layers.ts";
  await tree.insert(layers, "const otherHosts = [\n", '  "hosts/plain",\n');
  await tree.insert(
    layers,
    '  "hosts/console": { imports: host },\n',
    '  "hosts/plain": { imports: host, lines: 100 },\n',
  );
  await tree.write("keel/src/hosts/plain/dialect.test.ts", plainHost.test);
  await tree.npm("reference");
  tree.test("keel/src/hosts/plain/dialect.test.ts");
  return async () => {
    const said = await tree.program(`${context}
      import { commands } from "./keel/src/hosts/cli/command-table.ts";
      import { startModelServer } from "./keel/src/testing/model-server.ts";
      import { reply } from "./keel/src/testing/reply.ts";
      const server = await startModelServer({ script: { replies: [reply("One."), reply("Two.")] } });
      const env = { HOME: process.cwd() + "/home", ANTHROPIC_API_KEY: "none", ANTHROPIC_BASE_URL: server.url };
      const told = new PassThrough();
      context.input.end("first\\n\\nsecond\\n");
      const plain = commands.find(({ name }) => name === "plain");
      const code = await plain.start([], { ...context, env, out: new Output(told) });
      console.log(JSON.stringify({ code, told: told.read().toString().split("\\n") }));
      process.exit(0);`);
    const told = ["One.", "(turn 1: completed)", "Two.", "(turn 2: completed)", ""];
    expect(said).toEqual({ code: 0, told });
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
  await tree.npm("reference");
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
  await tree.npm("reference");
  return async () => {
    const seen = await tree.program(`${context}
      import { parseArguments } from "./keel/src/app/flags/arguments.ts";
      import { commands } from "./keel/src/hosts/cli/command-table.ts";
      import { helpFor } from "./keel/src/hosts/cli/help.ts";
      import { runnerOptions } from "./keel/src/hosts/cli/commands/runner.ts";
      import { openOptions } from "./keel/src/hosts/cli/print/print.ts";
      import { printOptions } from "./keel/src/hosts/cli/print/root.ts";
      import { readFlags } from "./keel/src/app/flags/session-flags.ts";
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

recipe("A hook point", 3, async (tree) => {
  await tree.insert(
    "keel/src/protocol/hook.ts",
    '      source: "register_repo_root",\n    }),\n  }),\n',
    `  settingsChanged: point({
    event: "ConfigChange",
    opinion: "none",
    matcher: "source",
    tell: ({ by }: { by: string }) => ({ source: by }),
  }),
`,
  );
  await tree.insert(
    "keel/src/engine/change-settings.ts",
    "  if (!heard) return;\n",
    '  await hooks.settingsChanged({ by: "host" }, site);\n',
  );
  await tree.insert(
    "keel/src/hooks/moments.test.ts",
    'toMatchObject({ hook_event_name: "DirectoryAdded", directory: "/elsewhere" });\n});\n',
    `
test("a changed setting is told, and by whom", async () => {
  const { session, say, seen } = await watched({ script: { replies: [reply("One.")] } });
  await say("go");
  await session.submit({ type: "set", patch: { title: "Paint" } });
  expect(seen.at(-1)).toMatchObject({ hook_event_name: "ConfigChange", source: "host" });
});
`,
  );
  tree.test("keel/src/hooks/moments.test.ts");
});

recipe("An event", 7, async (tree) => {
  const durable = "keel/src/protocol/event/durable.ts";
  await tree.insert(durable, "sessionSettingsSchema, ", "effortSchema, ");
  await tree.insert(
    durable,
    '    why: z.enum(["host", "fallback", "plan", "resume", "hook"]),\n  }),\n',
    '  /** A person chose how hard to think. */\n  z.object({ type: z.literal("effort.chosen"), effort: effortSchema }),\n',
  );
  await tree.insert(
    "keel/src/core/fold.ts",
    "        seen: see(state.seen, event.patch.seen),\n      };\n",
    `    case "effort.chosen":
      return { ...state, settings: state.settings && { ...state.settings, effort: event.effort } };
`,
  );
  await tree.insert(
    "keel/src/view/transcript.ts",
    "      return noteSettings(group, event);\n",
    '    case "effort.chosen":\n      return note(group, event, { text: `Effort: ${event.effort}.` });\n',
  );
  await tree.insert(
    "keel/src/sdk/dialect/dialect.ts",
    '    case "files.rewound":\n',
    '    case "effort.chosen":\n',
  );
  await tree.insert(
    "keel/src/engine/change-settings.ts",
    '  work.record({ type: "settings.changed", patch, why: "host" });\n',
    '  if (patch.effort !== undefined) work.record({ type: "effort.chosen", effort: patch.effort });\n',
  );
  await tree.write(
    "keel/src/engine/change-settings.test.ts",
    `import { expect, test } from "vitest";
import { openTestSession } from "../../../test/support/test-session.ts";
import { rowsOf, transcriptOf } from "../view/transcript.ts";

test("the effort that a person chooses is recorded, folded and shown", async () => {
  const { session, all, events } = await openTestSession();
  await session.submit({ type: "set", patch: { effort: "low" } });
  expect(all("effort.chosen")).toMatchObject([{ effort: "low" }]);
  expect(session.state.settings?.effort).toBe("low");
  expect(rowsOf(transcriptOf(events)).at(-1)).toMatchObject({ kind: "notice", text: "Effort: low." });
});
`,
  );
  await tree.insert(
    "test/store/every-event.ts",
    '    patch: { permissionMode: "acceptEdits", thinking: { kind: "adaptive" } },\n    why: "host",\n  },\n',
    '  { type: "effort.chosen", effort: "high" },\n',
  );
  await tree.npm("reference");
  await tree.npm("golden-log", "effort");
  const files = ["keel/src/engine/change-settings.test.ts", "test/golden.test.ts"];
  tree.test(...files, "keel/src/view/transcript-keys.test.ts");
});
