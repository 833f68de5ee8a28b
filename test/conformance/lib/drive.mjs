/**
 * Runs a scenario in this process (a child of run.mjs), reports the
 * projection of everything that was observed, and waits for the next.
 */
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startModelServer } from "../model-server.mjs";
import { Kit } from "./kit.mjs";
import { loadFamily } from "./load.mjs";
import { project } from "./project.mjs";

const FIXTURES = fileURLToPath(new URL("../fixtures/", import.meta.url));

process.on("message", async (job) => {
  try {
    process.send({ projection: await drive(job) });
  } catch (error) {
    process.send({ failure: error.stack });
  }
});

// The parent ends this process when it has its answers.
process.on("disconnect", () => process.exit());

async function drive(job) {
  const scenario = (await loadFamily(job.scenarioFile))[job.name];
  const cwd = path.join(job.directory, "work");
  const home = path.join(job.directory, "home");
  const outside = path.join(job.directory, "outside");
  for (const directory of [cwd, home, outside]) fs.mkdirSync(directory);

  const places = { cwd, home, outside, fixtures: FIXTURES };
  const requests = [];
  const server = await startModelServer({
    script: fill(scriptOf(scenario), places),
    onRequest: (request) => requests.push(request),
  });

  const env = {
    PATH: process.env.PATH,
    LANG: "C.UTF-8",
    HOME: home,
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: "test-key",
    IS_SANDBOX: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    ...fill(scenario.env ?? {}, places),
  };
  useEnvironment(env);

  const sdk = await import(job.sdkUrl);
  const z = job.zodUrl ? (await import(job.zodUrl)).z : undefined;
  const kit = new Kit({ sdk, z, ...places, env, executable: job.executable, requests });

  writeFiles(kit, cwd, fill(scenario.files, places));
  writeFiles(kit, home, fill(scenario.homeFiles, places));
  writeFiles(kit, outside, fill(scenario.outsideFiles, places));

  await scenario.setup?.(kit);
  if (scenario.run) await scenario.run(kit);
  else await runPlainly(scenario, kit, places);
  await scenario.after?.(kit);
  server.close();

  const observation = { timeline: kit.timeline, notes: kit.notes, requests };
  if (job.rawFile) fs.writeFileSync(job.rawFile, JSON.stringify(observation, null, 1));
  return project(observation, { scenario, directories: { cwd, home, outside } });
}

function writeFiles(kit, directory, files = {}) {
  for (const [name, content] of Object.entries(files)) kit.write(path.join(directory, name), content);
}

async function runPlainly(scenario, kit, places) {
  const options = optionsOf(scenario, kit, places);
  const onMessage = (message, query, input) => scenario.onMessage?.(message, query, kit, input);
  if (scenario.turns) {
    await kit.converse(fill(scenario.turns, places), options, onMessage);
    return;
  }
  const query = kit.query(fill(scenario.prompt ?? "hello", places), options);
  await kit.consume(query, (message) => onMessage(message, query));
}

/** Turns the shorthands of a scenario (`permission`, `hooks`) into SDK options. */
function optionsOf(scenario, kit, places) {
  const options = fill(
    typeof scenario.options === "function" ? scenario.options(kit) : (scenario.options ?? {}),
    places,
  );
  if (scenario.permission) options.canUseTool = kit.canUseTool(scenario.permission);
  if (scenario.hooks) {
    options.hooks = {};
    for (const [event, entries] of Object.entries(scenario.hooks)) {
      options.hooks[event] = entries.map(({ output, ...matcher }) => ({
        ...matcher,
        hooks: [kit.hook(output)],
      }));
    }
  }
  return options;
}

function scriptOf({ replies, side, otherwise }) {
  return { replies, side, otherwise };
}

/** Puts the real directories in place of `{{cwd}}` and so on, in plain data only. */
function fill(value, places) {
  if (typeof value === "string")
    return value.replace(/\{\{(cwd|home|outside|fixtures)\}\}/g, (_, name) => places[name]);
  if (Array.isArray(value)) return value.map((item) => fill(item, places));
  if (value && Object.getPrototypeOf(value) === Object.prototype) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, places)]));
  }
  return value;
}

function useEnvironment(env) {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
}
