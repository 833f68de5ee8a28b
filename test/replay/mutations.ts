// Changes of Keel that a replay must find: of prompts, tools, settings and prices as data, of the engine in its sources.
import type { ToolSpec } from "../../keel/src/protocol/tool.ts";
import type { ReplayWorld } from "../../keel/src/time/replay/ports-of-log.ts";
import type { DifferenceCause } from "../../keel/src/time/replay/replayed.ts";

type Change = (world: ReplayWorld) => ReplayWorld;
/** A text of a source, which stands there once, and what comes in its place. */
export type SourceChange = { readonly file: string; readonly find: string; readonly put: string };

export type Mutation = {
  readonly name: string;
  readonly causes: readonly DifferenceCause[];
  /** At the first request of a session: what every one of them starts with. */
  readonly first?: true;
} & ({ readonly world: Change } | { readonly source: SourceChange });

const system =
  (change: (recorded: readonly string[]) => readonly string[]): Change =>
  (world) => ({ ...world, systemOf: change });

const spec =
  (name: string, change: Partial<ToolSpec>): Change =>
  (world) => ({
    ...world,
    specOf: (wanted) =>
      wanted === name
        ? { name, description: "Other words.", input: { type: "object" }, ...change }
        : undefined,
  });

const limits =
  (change: Partial<ReplayWorld["limits"]>): Change =>
  (world) => ({ ...world, limits: { ...world.limits, ...change } });

const info =
  (change: Partial<ReturnType<ReplayWorld["model"]["info"]>>): Change =>
  (world) => ({
    ...world,
    model: { ...world.model, info: (name) => ({ ...world.model.info(name), ...change }) },
  });

const body =
  (change: (request: object) => object): Change =>
  (world) => ({
    ...world,
    model: {
      ...world.model,
      prepare: (request, recorded) => world.model.prepare?.(change(request) as typeof request, recorded),
    },
  });

const ofData: readonly Mutation[] = [
  {
    name: "a prompt with one word more",
    causes: ["prompt"],
    first: true,
    world: system(([one = "", ...rest]) => [`${one} Again.`, ...rest]),
  },
  {
    name: "a prompt with a part more",
    causes: ["prompt"],
    first: true,
    world: system((parts) => [...parts, "And this."]),
  },
  {
    name: "a prompt without its last sign",
    causes: ["prompt"],
    first: true,
    world: system(([one = ""]) => [one.slice(0, -1)]),
  },
  { name: "no prompt", causes: ["prompt"], first: true, world: system(() => []) },
  { name: "other words about Look", causes: ["tools"], first: true, world: spec("Look", {}) },
  { name: "other words about Change", causes: ["tools"], first: true, world: spec("Change", {}) },
  {
    name: "another schema of Question",
    causes: ["tools"],
    first: true,
    world: spec("Question", { input: { type: "object", properties: { at: { type: "number" } } } }),
  },
  { name: "another name of Begin", causes: ["tools"], first: true, world: spec("Begin", { name: "Start" }) },
  {
    name: "a description with a blank more",
    causes: ["tools"],
    first: true,
    world: spec("Begin", { description: "Begins something that goes on in the background. " }),
  },
  { name: "a smaller window", causes: ["compaction"], world: info({ windowTokens: 10_000 }) },
  { name: "a larger window", causes: ["compaction"], world: info({ windowTokens: 1_000_000 }) },
  { name: "another price", causes: ["prices", "code"], world: info({ prices: null }) },
  { name: "shorter replies", causes: ["settings"], first: true, world: info({ maxOutputTokens: 1_000 }) },
  {
    name: "no cache",
    causes: ["code"],
    world: info({ abilities: { tools: true, images: true, thinking: "none", cache: false } }),
  },
  { name: "compaction only when asked for", causes: ["compaction"], world: limits({ compact: "asked" }) },
  { name: "fewer tries", causes: ["code"], world: limits({ maxRetries: 0 }) },
  { name: "fewer tries of a stream", causes: ["code"], world: limits({ maxStreamRetries: 0 }) },
  { name: "a cut reply is not continued", causes: ["code"], world: limits({ maxOutputRecoveries: 0 }) },
  {
    name: "a field more in the body",
    causes: ["settings"],
    first: true,
    world: body((request) => ({ ...request, more: true })),
  },
  {
    name: "tools in another order in the bytes",
    causes: ["tools"],
    first: true,
    world: body((request) =>
      "tools" in request && Array.isArray(request.tools)
        ? { ...request, tools: request.tools.toReversed() }
        : request,
    ),
  },
];

const source = (
  name: string,
  causes: readonly DifferenceCause[],
  file: string,
  find: string,
  put: string,
): Mutation => ({
  name,
  causes,
  source: { file, find, put },
});

const ofSources: readonly Mutation[] = [
  source(
    "replies of half the length",
    ["settings"],
    "core/context/request.ts",
    "maxReplyTokens = 32_000",
    "maxReplyTokens = 16_000",
  ),
  source(
    "another tag around notes",
    ["code", "messages"],
    "core/context/blocks.ts",
    'const tag = "keel-note"',
    'const tag = "note"',
  ),
  source(
    "other words after a cut reply",
    ["code"],
    "core/model-text.ts",
    "Continue exactly where it stopped",
    "Go on exactly where it stopped",
  ),
  source(
    "other words after a refusal",
    ["code"],
    "core/model-text.ts",
    "The reply was stopped. If part",
    "The reply was ended. If part",
  ),
  source(
    "other words after an empty reply",
    ["code"],
    "core/model-text.ts",
    "Your reply was empty. Continue",
    "Your reply was blank. Continue",
  ),
  source(
    "another request for notes",
    ["messages"],
    "core/model-text.ts",
    "Write the notes that you need to continue without it.",
    "Write notes.",
  ),
  source(
    "another introduction of notes",
    ["compaction", "messages"],
    "core/model-text.ts",
    "were replaced by these notes:",
    "are now these notes:",
  ),
  source(
    "a refusal is asked about twice",
    ["code"],
    "core/next-step.ts",
    "f.turn.recoveries.refusal < 1",
    "f.turn.recoveries.refusal < 2",
  ),
  source(
    "an empty reply is never asked about",
    ["code"],
    "core/next-step.ts",
    "f.turn.recoveries.empty < 1 &&",
    "f.turn.recoveries.empty < 0 &&",
  ),
  source(
    "a paused reply ends the turn",
    ["code"],
    "core/next-step.ts",
    '(f) => f.stop === "pause" && !isBlank(f) && mayAsk(f)',
    "() => false",
  ),
  source(
    "a reserve of another size",
    ["compaction"],
    "core/limits.ts",
    "const reserveTokens = 20_000",
    "const reserveTokens = 2_000",
  ),
  source(
    "a cache of a minute",
    ["code"],
    "core/predict.ts",
    "cacheLifeMs = 5 * 60_000",
    "cacheLifeMs = 1_000",
  ),
  source(
    "another count of tokens",
    ["code"],
    "kernel/text.ts",
    "Math.ceil(text.length / 4)",
    "Math.ceil(text.length / 3)",
  ),
  source(
    "more is kept when it is shortened",
    ["compaction", "code"],
    "core/context/condense.ts",
    "const keptPart = 0.5",
    "const keptPart = 0.05",
  ),
  source(
    "attempts are counted from nought",
    ["code"],
    "engine/steps/ask-model.ts",
    "(work.state.turn?.failures ?? 0) + 1",
    "work.state.turn?.failures ?? 0",
  ),
  source(
    "a lost request is not tried again",
    ["code"],
    "core/settle.ts",
    "      retryable: true,",
    "      retryable: false,",
  ),
  source(
    "a million is another number",
    ["prices", "code"],
    "protocol/bill.ts",
    "const million = 1_000_000",
    "const million = 1_000_001",
  ),
  source(
    "blank texts are sent",
    ["messages", "code"],
    "core/context/blocks.ts",
    'block.text.trim() === "" ? [] : [block]',
    "[block, block]",
  ),
  source(
    "a failure that began is free",
    ["code"],
    "engine/steps/ask-model.ts",
    "usage: begun ? null : noUsage",
    "usage: noUsage",
  ),
  source(
    "the newest message is left out",
    ["messages", "code"],
    "core/context/request.ts",
    ": state.history.slice(),",
    ": state.history.slice(0, -1),",
  ),
];

/** In turn, so that a part of them has both kinds. */
export const mutations: readonly Mutation[] = ofData.flatMap((mutation, at) => [
  mutation,
  ...ofSources.slice(at, at + 1),
]);
