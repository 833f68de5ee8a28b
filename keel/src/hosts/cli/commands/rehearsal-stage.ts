/**
 * The stage of a rehearsal: a temporary folder with the project to mend, a home of its own, and the scripted model on
 * a real HTTP server. Nothing of the user's is read or touched.
 */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { OpenOptions } from "../../../app/options.ts";
import type { Context } from "../context.ts";

export type Stage = AsyncDisposable & {
  readonly project: string;
  readonly home: string;
  readonly prompt: string;
  options(context: Context): Pick<OpenOptions, "cwd" | "home" | "env" | "model" | "settingSources">;
  /** The folder stays when this was called: somebody wants to look at it. */
  keep(): void;
};

export async function openStage(): Promise<Stage> {
  // Loaded here and nowhere else: a real session needs nothing of the testing kit.
  const { rehearsalFiles, rehearsalModel, rehearsalPrompt, rehearsalScript } = await import(
    "../../../testing/rehearsal.ts"
  );
  const { startModelServer } = await import("../../../testing/model-server.ts");
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), "keel-rehearsal-")));
  const project = path.join(folder, "project");
  const home = path.join(folder, "home");
  await mkdir(project);
  for (const [name, content] of Object.entries(rehearsalFiles))
    await writeFile(path.join(project, name), content);
  const server = await startModelServer({ script: rehearsalScript(project) });
  let isKept = false;
  return {
    project,
    home,
    prompt: rehearsalPrompt,
    options: ({ env }) => ({
      cwd: project,
      home,
      model: rehearsalModel,
      settingSources: [],
      env: stageEnvironment(env, server.url),
    }),
    keep() {
      isKept = true;
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      if (!isKept) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The user's own, but with our server and without any way to another one. */
function stageEnvironment(env: Context["env"], url: string): Context["env"] {
  const foreign = /^(?:ANTHROPIC_|OPENAI_|KEEL_|https?_proxy$)/i;
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !foreign.test(name)));
  // The command of the rehearsal is `node …`: the one that runs us will do where the path has none.
  const programs = [env["PATH"], path.dirname(process.execPath)].filter(Boolean).join(path.delimiter);
  return { ...own, PATH: programs, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "rehearsal-needs-no-key" };
}
