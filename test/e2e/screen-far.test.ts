// The same scenarios on a session here, on one of the server, and on one whose server is killed in the middle: each row
// stands once and in order, as the log has it. `npm run test:long -- screen-far` plays all of them.
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openHome } from "../../keel/src/app/home.ts";
import type { SessionHandle } from "../../keel/src/protocol/handle.ts";
import { countingIds } from "../../keel/src/testing/counting-ids.ts";
import { partOf } from "../support/budget.ts";
import { verifies } from "../support/verifies.ts";
import { expectFrames, expectPrinted } from "../tui/law.ts";
import { playScenario, type Scenario, scenarios, scriptOf } from "../tui/scenarios.ts";
import { openScreen, type Screen } from "../tui/screen.ts";
import { leave, openScreenStage, ready } from "../tui/stage.ts";
import { clientOf, openServeStage, type ServeStage } from "./serve-stage.ts";
import { command } from "./stage.ts";

type Run = { readonly scenario: Scenario; readonly where: "here" | "far" | number };

/** Those with a kill first: of the others less can go wrong, and other tests have them. */
function runsInOrder(seed: number): Run[] {
  const { random } = countingIds({ seed });
  const killed = scenarios.flatMap((scenario) =>
    Array.from({ length: scenario.moments }, (_, where): Run => ({ scenario, where })),
  );
  const shuffled = killed
    .map((run) => ({ run, at: random() }))
    .sort((left, right) => left.at - right.at)
    .map(({ run }) => run);
  const others = (["far", "here"] as const).flatMap((where) =>
    scenarios.map((scenario): Run => ({ scenario, where })),
  );
  return [...shuffled, ...others];
}

const said = ({ scenario, where }: Run): string =>
  `${scenario.name}, ${typeof where === "number" ? `killed at its moment ${where + 1}` : where}`;

describe("the law of the screen holds for", () => {
  test.for(partOf("screen-far", runsInOrder).map((run) => [said(run), run] as const))(
    "%s",
    { timeout: 600_000 },
    async ([, run]) => {
      verifies("S4.71");
      await (run.where === "here" ? playHere(run.scenario) : playFar(run.scenario, run.where));
    },
  );
});

async function playHere(scenario: Scenario): Promise<void> {
  const stage = await openScreenStage(scriptOf(scenario, () => stage.project));
  const { permissionMode: mode } = scenario;
  const screen = stage.open(mode ? ["--permission-mode", mode] : [], { live: scenario.live });
  await playScenario(scenario, { screen, project: stage.project, moment: async () => undefined });
  await leave(screen);
}

async function playFar(scenario: Scenario, killAt: number | "far"): Promise<void> {
  const stage = await openServeStage(scriptOf(scenario, () => stage.project));
  let served = await stage.serve();
  const client = await clientOf(served.state);
  const { permissionMode } = scenario;
  const handle = await client.open({
    cwd: stage.project,
    options: {
      ...(permissionMode ? { permissionMode } : {}),
      ...(permissionMode === "bypassPermissions" ? { allowDangerouslySkipPermissions: true } : {}),
    },
  });
  const screen = attached(stage, handle);
  await playScenario(scenario, {
    screen,
    project: stage.project,
    async moment(at) {
      if (at !== killAt) return;
      served.child.kill("SIGKILL");
      await screen.until("the loss", ({ rows }) => rows().some((row) => row.includes("connection lost")));
      served = await stage.serve();
      await screen.until(
        "the way back",
        ({ rows }) => !rows().some((row) => row.includes("connection lost")),
      );
    },
  });
  await atRest(stage, handle, screen);
  await leave(screen);
  expect(screen.text()).toContain("Left. It goes on at the server");
  expectFrames(screen);
  expectPrinted(screen, await logOf(stage, handle.id), {
    project: stage.project,
    folder: path.dirname(stage.project),
    live: scenario.live,
    name: "keel attach on this machine",
  });
}

/** A server that was killed tells the model what it left: the screen leaves when that is said too, and has it all. */
async function atRest(stage: ServeStage, { id }: SessionHandle, screen: Screen): Promise<void> {
  for (let open = 1; open > 0; ) {
    await ready(screen);
    await screen.settled(300);
    const turns = await logOf(stage, id);
    open = turns.reduce(
      (sum, { type }) => sum + Number(type === "turn.started") - Number(type === "turn.finished"),
      0,
    );
  }
  await ready(screen);
}

/** The screen as a client of the server. */
function attached(stage: ServeStage, { id }: SessionHandle): Screen {
  const source = process.env["KEEL_SCREEN_SOURCE"];
  const screen = openScreen({
    command: source ? process.execPath : command,
    parameters: [...(source ? [source] : []), "attach", id],
    cwd: stage.project,
    env: { PATH: process.env["PATH"], ...stage.env, ANTHROPIC_API_KEY: "none", PWD: stage.project },
  });
  onTestFinished(() => screen.kill("SIGKILL"));
  return screen;
}

async function logOf({ project, env }: ServeStage, id: string) {
  const home = openHome({ cwd: project, env });
  return await Array.fromAsync(home.sessions.read(id));
}
