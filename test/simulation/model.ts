/** A model that says whatever a seed makes it say: calls in parallel, nonsense, cuts, refusals, silence, errors. */
import { defaultLimits } from "../../keel/src/core/limits.ts";
import { Fault, fault } from "../../keel/src/kernel/fault.ts";
import type { Json } from "../../keel/src/kernel/json.ts";
import type { Model, ModelEvent, ModelRequest } from "../../keel/src/ports/model.ts";
import type { Block } from "../../keel/src/protocol/message.ts";
import type { Stop } from "../../keel/src/protocol/reasons.ts";
import type { RequestLaw } from "../../keel/src/testing/request-law.ts";
import { testModelInfo } from "../../keel/src/testing/scripted-model.ts";
import { forbidden, senseless, temptation } from "./tools.ts";
import type { World } from "./world.ts";
import { Written } from "./written.ts";

type Said = { readonly content: Block[]; readonly stop: Stop };

export type SimulatedModel = Model & { readonly requests: number; readonly violations: string[] };

export type ModelSurroundings = {
  readonly names: readonly string[];
  readonly law: RequestLaw;
  /** Says what is wrong with a request at the moment it arrives. */
  readonly onRequest: (request: ModelRequest) => readonly string[];
  readonly prepare?: Model["prepare"];
  readonly hasTeam: boolean;
};

/** Names that members of a team may have. */
const members = ["ann", "ben", "cleo"] as const;

/** Times are sums of fractions. */
const roundingMs = 0.001;

/** After so many requests it only says goodbye: worlds must end. */
const maxRequests = 60;

/** A small window, so that compaction happens often. */
export const simulatedInfo: Model["info"] = (model) => ({
  ...testModelInfo,
  id: model,
  name: model,
  windowTokens: 50_000,
});

export function simulatedModel(
  world: World,
  { names, law, onRequest, prepare, hasTeam }: ModelSurroundings,
): SimulatedModel {
  // Follows whatever it reads in a result.
  const isObedient = world.draw() < 0.3;
  const violations: string[] = [];
  /** Of each session: a provider may repeat an id within a conversation. */
  const usedIds = new Map<string, string[]>();
  const written = new Written();
  let requests = 0;

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    requests += 1;
    violations.push(...law.check(request), ...onRequest(request));
    // A connection that does not let go: it hears no signal.
    const isDeaf = world.goesWrong("deaf-model");
    let spokeAt = world.monotonicMs;
    await wait(world.between(1, 400));
    if (world.goesWrong("http-error")) throw httpFault();
    if (world.goesWrong("too-long")) throw fault("prompt_too_long", { reason: "too long" });
    const said = speak(request);
    const events = eventsOf(said, request, written.messages(request.messages).length);
    const cutAt = world.goesWrong("cut") ? world.between(1, events.length - 1) : Number.POSITIVE_INFINITY;
    const stallAt = world.goesWrong("stall") ? world.between(0, events.length - 1) : Number.POSITIVE_INFINITY;
    for (const [index, event] of events.entries()) {
      if (index === cutAt) throw fault("stream_cut");
      if (index === stallAt) {
        const limitMs = index === 0 ? defaultLimits.firstByteMs : defaultLimits.silenceMs;
        await wait(Number.MAX_SAFE_INTEGER).finally(() => mustBeInTime(signal, limitMs));
      }
      await wait(world.between(0, 20));
      spokeAt = world.monotonicMs;
      yield event;
    }

    /** Silence is found out within a second of its limit, and never before, whatever the clock on the wall says. */
    function mustBeInTime({ reason }: AbortSignal, limitMs: number): void {
      if (isDeaf || !(reason instanceof Fault && reason.code === "stream_stalled")) return;
      const silentMs = world.monotonicMs - spokeAt;
      if (silentMs < limitMs - roundingMs || silentMs > limitMs + 1_000)
        violations.push(`a silence was found out after ${silentMs} ms`);
    }

    async function wait(ms: number): Promise<void> {
      if (isDeaf) return world.sleep(ms);
      if (!signal.aborted) await world.sleep(ms, signal);
      if (signal.aborted) throw fault("aborted");
    }
  }

  function httpFault(): Fault {
    const code = world.pick(["rate_limited", "overloaded", "server_error", "unreachable"] as const);
    return fault(code, {
      reason: code,
      ...(code === "rate_limited" ? { retryAfterMs: world.between(1, 5_000) } : {}),
    });
  }

  function speak(request: ModelRequest): Said {
    const last = JSON.stringify(request.messages.at(-1)?.content);
    if (last.includes("about to be shortened")) return { content: [words("notes ")], stop: "end" };
    if (requests > maxRequests) return { content: [words("goodbye ")], stop: "end" };
    const calling = callsFor(request, last);
    if (isObedient && last.includes(temptation))
      return { content: [calling.call("Change", forbidden)], stop: "tool_use" };
    const { calls } = calling;
    // A team comes first, where there is to be one; otherwise few worlds would have theirs.
    if (hasTeam && requests < 4 && world.draw() < 0.8)
      return {
        content: requests === 1 ? [calling.call("TeamCreate")] : members.map(() => calling.call("Agent")),
        stop: "tool_use",
      };
    const dice = world.draw();
    if (dice < 0.55) return { content: [words("calling "), ...calls()], stop: "tool_use" };
    if (dice < 0.88) return { content: [words("done ")], stop: "end" };
    if (dice < 0.91) return { content: [words("cut "), ...calls().slice(0, 1)], stop: "output_limit" };
    if (dice < 0.93) return { content: [words("no ")], stop: "refusal" };
    if (dice < 0.95) return { content: [], stop: "end" };
    if (dice < 0.97) return { content: [{ type: "thinking", text: "hm", signature: "s" }], stop: "end" };
    return { content: [words("wait "), pausedSearch], stop: "pause" };
  }

  function callsFor({ session }: ModelRequest, last: string) {
    const used = usedIds.get(session) ?? [];
    usedIds.set(session, used);
    const place = [...usedIds.keys()].indexOf(session);
    const call = (name: string, at?: string): Block => {
      const old = used.length > 0 && world.draw() < 0.05 ? world.pick(used) : undefined;
      const id = old ?? `call-${place}-${used.length}`;
      used.push(id);
      const use = {
        type: "tool_use" as const,
        id,
        name,
        input: inputFor(name, at ?? String(used.length), last),
      };
      return world.draw() < 0.05 ? { ...use, input: {}, broken: '{"at": ' } : use;
    };
    const calls = (): Block[] =>
      Array.from({ length: world.between(1, 4) }, (): Block => {
        const name = world.draw() < 0.05 ? "Missing" : world.pick(names);
        const dice = world.draw();
        return call(name, dice < 0.03 ? forbidden : dice < 0.06 ? senseless : undefined);
      });
    return { call, calls };
  }

  function inputFor(name: string, at: string, last: string): Json {
    switch (name) {
      case "Agent":
        return {
          ...(hasTeam && world.draw() < 0.8 ? { name: world.pick(members) } : {}),
          description: `part ${at}`,
          prompt: `Do part ${at}.`,
          subagent_type: world.draw() < 0.03 ? "nobody" : "worker",
          run_in_background: world.draw() < 0.5,
          ...(world.draw() < 0.1 ? { isolation: "worktree" } : {}),
        };
      case "SendMessage":
        // Some agent that it has just heard of, or whoever started it.
        if (hasTeam && world.draw() < 0.8)
          return { to: world.pick([...members, "*", "main"]), message: `word ${at}` };
        return {
          to: world.draw() < 0.7 ? (/\ba[0-9a-f]{16}\b/.exec(last)?.[0] ?? "main") : "main",
          message: `word ${at}`,
        };
      case "TeamCreate":
        return { team_name: "crew" };
      case "TeamShutdown":
        return {
          timeout: world.between(1, 30),
          ...(world.draw() < 0.5 ? { members: [world.pick(members)] } : {}),
          ...(world.draw() < 0.2 ? { force: true } : {}),
        };
      case "ShutdownReply":
        return world.draw() < 0.6 ? { approve: true } : { approve: false, reason: "Not yet." };
      case "TaskCreate":
        return { subject: `todo ${at}`, description: "" };
      case "TaskUpdate":
        return {
          taskId: String(world.between(1, 3)),
          status: world.pick(["pending", "in_progress", "completed"]),
          ...(world.draw() < 0.2 ? { owner: world.pick([...members, "main"]) } : {}),
          ...(world.draw() < 0.1 ? { addBlockedBy: [String(world.between(1, 3))] } : {}),
        };
      default:
        return { at };
    }
  }

  const words = (start: string): Block => ({ type: "text", text: start.repeat(world.between(1, 30)) });

  return {
    get requests() {
      return requests;
    },
    violations,
    info: simulatedInfo,
    ...(prepare ? { prepare } : {}),
    stream,
  };
}

/** A tool of the provider's own that is not done yet. */
const pausedSearch: Block = {
  type: "foreign",
  provider: "simulated",
  data: { type: "server_tool_use", id: "srv", name: "web_search", input: {} },
};

function eventsOf({ content, stop }: Said, request: ModelRequest, characters: number): ModelEvent[] {
  const inputTokens = Math.ceil(characters / 3);
  const usage = { inputTokens, outputTokens: 50, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const blocks = content.flatMap((block, index): ModelEvent[] => [
    { type: "block.start", index, block },
    { type: "block.end", index, block },
  ]);
  return [{ type: "start", model: request.model, usage }, ...blocks, { type: "end", stop, usage, content }];
}
