// Connections of a bridge cut at seeded places, either end started anew, the same registered again and again: each piece
// of work is done once, no session is lost, and what the server has is what the logs there say.
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import type { Durable } from "../keel/src/protocol/event/durable.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import type { Reply } from "../keel/src/testing/script.ts";
import { bridgeStage, pause, type RunningBridge, until } from "./bridge/stage.ts";
import { randomOf } from "./store/random.ts";
import { countOf, seed } from "./support/budget.ts";
import { verifies } from "./support/verifies.ts";

/** By what the conversation holds: each first reply wants to write a file, which is asked about. */
const script = (_: unknown, { assistantTurns }: { readonly assistantTurns: number }): Reply =>
  assistantTurns % 3 === 0
    ? reply(toolUse("Bash", { command: `echo ${assistantTurns} >> trace-$PPID.txt` }))
    : reply(`Reply ${assistantTurns} `, "in a few ", "pieces.");

test("cuts, restarts of either end and registrations that come twice cost no work and no event", async () => {
  verifies("S4.73", "S4.76");
  const places = countOf("bridge-cuts");
  const made = { reset: 0, goodbye: 0, silence: 0, server: 0, bridge: 0, registered: 0 };
  for (let done = 0, number = seed(); done < places; number++) {
    const random = randomOf(number);
    const at = await bridgeStage(script);
    const config = { bridgeId: crypto.randomUUID() };
    const via = [undefined, "websocket", "sse"][random.below(3)] as "websocket" | "sse" | undefined;
    let running: RunningBridge = await at.startBridge({ via, config });
    await until("the bridge", async () => (await at.client().bridges.list()).some((one) => one.connected));
    const environment = running.state.environmentId;
    at.proxy.cuts = 12;
    at.proxy.endAll();
    const given: string[] = [];
    const said = new Map<string, string[]>();
    const fail = (thrown: unknown): never => {
      throw new Error(`seed ${number}: ${thrown instanceof Error ? thrown.stack : thrown}`);
    };
    // Whoever asks again and again is answered in the end, whatever happens in between.
    const patiently = async <T>(what: string, ask: () => Promise<T>): Promise<T> => {
      const deadline = performance.now() + 30_000;
      for (;;) {
        try {
          return await ask();
        } catch (thrown) {
          const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
          if (performance.now() > deadline || (code !== "link_lost" && code !== "session_closed"))
            return fail(`${what}: ${thrown}`);
          await pause(20);
        }
      }
    };
    const person = { access: "work", name: "a person" } as const;
    const call = <T>(
      name: Parameters<ReturnType<typeof at.served>["call"]>[0],
      question: object,
    ): Promise<T> => patiently(name, () => at.served().call(name, question, person) as Promise<T>);
    const working = (async () => {
      for (let count = 0; count < 3; count++) {
        const prompt = `Work ${count}`;
        const id = crypto.randomUUID();
        const { session } = await call<{ session: string }>("giveWork", { bridge: environment, id, prompt });
        given.push(session);
        said.set(session, [prompt]);
        await pause(random.below(60));
      }
      for (const session of given) {
        const id = crypto.randomUUID();
        const content = [{ type: "text", text: `More for ${session}` }];
        await call("submit", { session, commandId: id, command: { type: "input", id, content } });
        said.get(session)?.push(`More for ${session}`);
      }
    })();
    const answering = new AbortController();
    const answers = (async () => {
      while (!answering.signal.aborted) {
        for (const session of [...given])
          for (const ask of await call<{ id: string }[]>("asks", { session })) {
            const command = { type: "answer", askId: ask.id, answer: { verdict: "allow" } };
            await call("submit", { session, commandId: `answer ${ask.id}`, command });
          }
        await pause(10);
      }
    })();
    // Whatever stops it is told where it is waited for.
    answers.catch(() => undefined);
    for (const what of ["server", "bridge", "registered"].toSorted(() => random.below(3) - 1) as (
      | "server"
      | "bridge"
      | "registered"
    )[]) {
      await pause(random.below(150));
      made[what] += 1;
      if (what === "server") await at.restartServer();
      if (what === "bridge") {
        await running.stop();
        running = await at.startBridge({ via, config: { bridgeId: crypto.randomUUID() } });
      }
      if (what === "registered")
        for (let twice = 0; twice < 2; twice++)
          await fetch(`${at.url}/v1/environments/bridge`, {
            method: "POST",
            headers: { authorization: `Bearer ${at.bridgeSecret}`, "content-type": "application/json" },
            body: JSON.stringify(running.bridge.config),
          }).catch(() => undefined);
    }
    await working.catch(fail);
    const logs = () =>
      Promise.all(given.map((session) => Array.fromAsync(at.there().sessions.read(session)).catch(() => [])));
    // The second words may have joined the turn of the first.
    const isDone = (log: readonly Durable[]): boolean => {
      const ended = log.flatMap((event) => (event.type === "turn.finished" ? event.inputIds : []));
      const inputs = log.flatMap((event) => (event.type === "input.accepted" ? [event.input.id] : []));
      return inputs.length === 2 && inputs.every((id) => ended.includes(id));
    };
    await until(`seed ${number}: all turns`, async () => (await logs()).every(isDone)).catch(fail);
    answering.abort();
    await answers.catch(fail);
    await until(`seed ${number}: all of it at the server`, async () => {
      const there = await logs();
      const here = await Promise.all(
        given.map(async (session) => (await call<{ events: unknown[] }>("history", { session })).events),
      );
      return isDeepStrictEqual(here, there);
    }).catch(fail);
    const all = await logs();
    for (const [index, session] of given.entries()) {
      const log = all[index] ?? [];
      const inputs = log.flatMap((event) =>
        event.type === "input.accepted"
          ? event.input.content.map((block) => (block.type === "text" ? block.text : ""))
          : [],
      );
      expect(inputs, `seed ${number}`).toEqual(said.get(session));
      const calls = log.flatMap((event) => (event.type === "tool.started" ? [event.callId] : []));
      expect(calls).toHaveLength(new Set(calls).size);
    }
    // Each piece of work is one session there, and no other was begun.
    const listed = await at.there().sessions.list({});
    expect(listed.map(({ id }) => id).toSorted(), `seed ${number}`).toEqual(given.toSorted());
    expect(await call<unknown[]>("bridges", {})).toHaveLength(1);
    for (const kind of ["reset", "goodbye", "silence"] as const) made[kind] += at.proxy.made[kind];
    done += 3 + at.proxy.made.reset + at.proxy.made.goodbye + at.proxy.made.silence;
    await running.stop();
  }
  expect(made.reset + made.goodbye + made.silence).toBeGreaterThan(0);
}, 3_600_000);
