/** A whole session on fakes: the real loop, a scripted model, a log in memory, and a host that answers by itself. */

import type { CondenseStrategy } from "../../keel/src/core/context/condense.ts";
import { defaultLimits, type Limits } from "../../keel/src/core/limits.ts";
import { Session } from "../../keel/src/engine/session.ts";
import type { SharedBudget } from "../../keel/src/engine/step-context.ts";
import { noRules, type Rules } from "../../keel/src/policy/decide.ts";
import type { Briefing } from "../../keel/src/ports/briefing.ts";
import type { CallReviewer } from "../../keel/src/ports/call-review.ts";
import type { Checkpoints } from "../../keel/src/ports/checkpoints.ts";
import type { Clock, Ids } from "../../keel/src/ports/clock.ts";
import { type Hooks, noHooks } from "../../keel/src/ports/hooks.ts";
import type { Memory } from "../../keel/src/ports/memory.ts";
import type { Recall } from "../../keel/src/ports/memory-index.ts";
import type { Model } from "../../keel/src/ports/model.ts";
import type { Log } from "../../keel/src/ports/store.ts";
import type { Tool, Toolbox, ToolHead } from "../../keel/src/ports/tool.ts";
import type { Workspace } from "../../keel/src/ports/workspace.ts";
import type { Answer, Ask } from "../../keel/src/protocol/ask.ts";
import type { Receipt } from "../../keel/src/protocol/command.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import { type Envelope, type EventType, isDurable } from "../../keel/src/protocol/event/envelope.ts";
import { text } from "../../keel/src/protocol/message.ts";
import type { SessionSettings } from "../../keel/src/protocol/settings.ts";
import { countingIds } from "../../keel/src/testing/counting-ids.ts";
import { instantClock } from "../../keel/src/testing/fake-clock.ts";
import { memoryWorkspace } from "../../keel/src/testing/memory-workspace.ts";
import type { RequestLaw } from "../../keel/src/testing/request-law.ts";
import type { Script } from "../../keel/src/testing/script.ts";
import { scriptedModel } from "../../keel/src/testing/scripted-model.ts";

export type TestSessionOptions = {
  readonly script?: Script;
  /** Instead of a script. */
  readonly model?: Model & { readonly law?: RequestLaw | undefined };
  readonly tools?: readonly ToolHead[];
  readonly toolbox?: Toolbox;
  readonly redirects?: Readonly<Record<string, string>>;
  readonly workspace?: Workspace;
  readonly log?: Log;
  readonly checkpoints?: Checkpoints;
  readonly memory?: Memory;
  readonly recall?: Recall;
  readonly asks?: "answered" | "refused";
  readonly briefing?: Briefing;
  readonly condense?: CondenseStrategy;
  readonly clock?: Clock;
  readonly ids?: Ids;
  readonly rules?: Rules;
  readonly hooks?: Partial<Hooks>;
  readonly limits?: Partial<Limits>;
  readonly budget?: SharedBudget;
  readonly settings?: Partial<SessionSettings>;
  /** The path of the file in which a plan is written down; absent when left out. */
  readonly planFile?: string;
  readonly bypass?: "allowed" | "refused";
  readonly reviewer?: CallReviewer;
  readonly system?: readonly string[];
  readonly unfinished?: "continue" | "lost";
  /** Answers every ask; undefined leaves it open. */
  readonly answer?: (ask: Ask) => Answer | undefined;
};

export type TestSession = {
  readonly session: Session;
  readonly events: Envelope[];
  readonly types: () => EventType[];
  /** Sends a text and waits until nothing is left to do. */
  say(words: string, more?: { id?: string; when?: "now" | "after" }): Promise<Receipt>;
  /** The durable events of a type. */
  all<T extends EventType>(type: T): Extract<Envelope, { type: T }>[];
};

export async function openTestSession(options: TestSessionOptions = {}): Promise<TestSession> {
  const { reviewer } = options;
  const clock = options.clock ?? instantClock();
  const model = options.model ?? scriptedModel(options.script ?? { replies: [] }, { clock });
  const session = await Session.open(
    {
      log: options.log ?? memoryLog(),
      model,
      clock,
      ids: options.ids ?? countingIds(),
      workspace: options.workspace ?? memoryWorkspace(),
      tools: await loadedTools(options.tools ?? []),
      toolbox: options.toolbox,
      redirects: options.redirects,
      rules: options.rules ?? noRules,
      hooks: { ...noHooks, ...options.hooks },
      spill: async (name, content) => ({ path: `/spilled/${name}`, bytes: content.length }),
      limits: { ...defaultLimits, ...options.limits },
      budget: options.budget,
      ...(options.planFile === undefined
        ? {}
        : { plan: { path: options.planFile, ready: async () => undefined } }),
      ...(options.bypass ? { bypass: options.bypass } : {}),
      ...(reviewer ? { reviewer: async () => reviewer } : {}),
      ...(options.checkpoints ? { checkpoints: options.checkpoints } : {}),
      ...(options.memory ? { memory: options.memory } : {}),
      ...(options.recall ? { recall: options.recall } : {}),
      ...(options.asks ? { asks: options.asks } : {}),
      ...(options.briefing ? { briefing: options.briefing } : {}),
      ...(options.condense ? { condense: options.condense } : {}),
      system: options.system ?? ["You are a test."],
      promptOnResume: "logged",
    },
    {
      start: {
        keel: "test",
        cwd: "/project",
        settings: {
          model: "test-model",
          permissionMode: "default",
          thinking: { kind: "off" },
          ...options.settings,
        },
      },
      ...(options.unfinished ? { unfinished: options.unfinished } : {}),
    },
  );
  if (model.law) session.onEvent(model.law.hear);
  return watch(session, options.answer ?? (() => ({ verdict: "allow" })));
}

/**
 * Tools and what the engine loads with the first call, loaded before they are called: to a clock that hurries, a module
 * on its way from the disk looks like standing still.
 */
export async function loadedTools(tools: readonly ToolHead[]): Promise<Tool[]> {
  await Promise.all([
    import("../../keel/src/policy/look-at-command.ts"),
    import("../../keel/src/engine/calls/early.ts"),
    import("../../keel/src/engine/steps/run-tools.ts"),
    import("../../keel/src/engine/steps/compact.ts"),
    import("../../keel/src/engine/steps/try-goal.ts"),
    import("../../keel/src/agents/launcher.ts"),
    import("../../keel/src/agents/team.ts"),
  ]);
  return await Promise.all(tools.map((tool) => tool.load()));
}

function watch(session: Session, answer: (ask: Ask) => Answer | undefined): TestSession {
  const events: Envelope[] = [];
  const reply = (ask: Ask): void => {
    const given = answer(ask);
    // The receipt says whether it came too late; a session that broke meanwhile says so by its own events.
    if (given) session.submit({ type: "answer", askId: ask.id, answer: given }).catch(() => undefined);
  };
  session.onEvent((envelope) => {
    events.push(envelope);
    if (envelope.type === "ask.opened") reply(envelope.ask);
  });
  for (const ask of session.state.asks) queueMicrotask(() => reply(ask));
  return {
    session,
    events,
    types: () => events.filter(isDurable).map(({ type }) => type),
    async say(words, more = {}) {
      const receipt = await session.submit({ type: "input", content: [text(words)], ...more });
      await session.run();
      return receipt;
    },
    all: <T extends EventType>(type: T) =>
      events.filter((envelope): envelope is Extract<Envelope, { type: T }> => envelope.type === type),
  };
}

/** A log that is an array. Hand in the events of a former life, or keep the array to look at. */
export function memoryLog({
  events = [],
  session = "00000000-0000-7000-8000-00000000005e",
}: {
  events?: Durable[];
  session?: string;
} = {}): Log & { readonly events: readonly Durable[] } {
  return {
    events,
    session,
    notices: [],
    get lastSeq() {
      return events.at(-1)?.seq ?? 0;
    },
    append: async (added) => void events.push(...added),
    async *read(after = 0) {
      yield* events.filter(({ seq }) => seq > after);
    },
    close: async () => undefined,
  };
}
