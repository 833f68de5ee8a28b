/**
 * Many conversations that each wait for their model: plain sessions, or one leader with as many teammates. Then the
 * leader tells one of them things, one after the other, while all others are at work.
 */
import { randomUUID } from "node:crypto";
import type { Session } from "../../keel/src/engine/session.ts";
import type { Model, ModelEvent, ModelRequest } from "../../keel/src/ports/model.ts";
import { type Block, text, textOf } from "../../keel/src/protocol/message.ts";
import { openFleet } from "../open-fleet.ts";
import { heldBytes, runProgram } from "../program.ts";

type Options = { home: string; cwd: string; as: "sessions" | "team"; size: number; messages: number };

await runProgram(async ({ home, cwd, as, size, messages }: Options) => {
  const free = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  let waiting = 0;
  const hold = async (): Promise<void> => {
    waiting++;
    if (waiting === size) held.resolve();
    await free.promise;
  };
  const agentLimits = { maxAtOnce: size + 1, maxUnasked: size + 1 };
  const fleet = openFleet({ home, cwd, model: teamModel(size, hold), agentLimits });
  const before = await heldBytes();
  const say = async (session: Session, words: string): Promise<void> =>
    void (await session.submit({ type: "input", content: [text(words)] }));
  const count = as === "team" ? 1 : size;
  const open = await Promise.all(Array.from({ length: count }, () => fleet.open()));
  await Promise.all(open.map((session) => say(session, as === "team" ? "lead-a-team" : "hold-on")));
  await held.promise;
  const [leader] = open;
  if (as === "team") await leader?.run();
  const bytes = (await heldBytes()) - before;
  const each: number[] = [];
  let startedAt = 0;
  leader?.onEvent((event) => {
    if (event.origin || !("tool" in event) || event.tool !== "SendMessage") return;
    if (event.type === "tool.started") startedAt = performance.now();
    if (event.type === "tool.finished") each.push(performance.now() - startedAt);
  });
  if (as === "team" && leader)
    for (let number = 0; number < messages; number++) {
      await say(leader, `tell member-${1 + (number % 5)} this`);
      await leader.run();
    }
  free.resolve();
  await Promise.all(open.map((session) => session.close("stopped")));
  return { bytes, each };
});

function teamModel(size: number, hold: () => Promise<void>): Model {
  const repliesTo = async (request: ModelRequest): Promise<Block[]> => {
    const answered = request.messages.findLastIndex(({ role }) => role === "assistant");
    const newest = request.messages.slice(answered + 1).flatMap(({ content }) => content);
    const words = textOf(newest);
    const [, to] = /tell (\S+) this/.exec(words) ?? [];
    if (to) return [call("SendMessage", { to, message: "Have you seen it?" })];
    if (words.includes("hold-on")) {
      await hold();
      return [text("Done.")];
    }
    if (words.includes("lead-a-team")) return [call("TeamCreate", { team_name: "crew" })];
    if (JSON.stringify(newest).includes("The team crew is there"))
      return Array.from({ length: size }, (_, index) =>
        call("Agent", {
          description: "work",
          prompt: "hold-on",
          subagent_type: "worker",
          name: `member-${index + 1}`,
        }),
      );
    return [text("Fine.")];
  };
  return {
    info: (id) => ({
      id,
      name: id,
      provider: "bench",
      windowTokens: 1_000_000,
      maxOutputTokens: 32_000,
      prices: null,
      abilities: { tools: true, images: true, thinking: "none", cache: false },
    }),
    async *stream(request): AsyncGenerator<ModelEvent> {
      // As from a network: never in the same breath.
      await new Promise((resolve) => setImmediate(resolve));
      yield { type: "start", model: "fleet" };
      const content = await repliesTo(request);
      for (const [index, block] of content.entries()) {
        yield { type: "block.start", index, block };
        yield { type: "block.end", index, block };
      }
      const usage = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 0, cacheWriteTokens: 0 };
      const stop = content.some(({ type }) => type === "tool_use") ? "tool_use" : "end";
      yield { type: "end", stop, usage, content };
    },
  };
}

function call(name: string, input: Record<string, string>): Block {
  return { type: "tool_use", id: `call_${randomUUID()}`, name, input };
}
