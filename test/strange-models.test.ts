// Weak and strange models: each of their ways ends in words that the model can act on or in a typed end, none in a crash or a spin.
import { afterEach, expect, test } from "vitest";
import { nodeClock } from "../keel/src/app/node-ports.ts";
import { catalog } from "../keel/src/models/catalog.ts";
import { openHttp } from "../keel/src/models/http.ts";
import { routedModel } from "../keel/src/models/router.ts";
import { text } from "../keel/src/protocol/message.ts";
import { turnReasonSchema } from "../keel/src/protocol/reasons.ts";
import { dot } from "./every-wire/stage.ts";
import { type Behaviour, behaviours } from "./strange-models/behaviours.ts";
import { endpoints, plain } from "./strange-models/wires.ts";
import { type Loopback, loopback } from "./support/loopback.ts";
import { openTestSession } from "./support/test-session.ts";
import { changeTool, lookTool } from "./support/test-tools.ts";
import { verifies } from "./support/verifies.ts";

const http = openHttp();
let server: Loopback | undefined;
afterEach(async () => {
  await server?.close();
});

/** More requests than this for one input are a spin. */
const maxRequests = 60;
const names = {
  chat: "strange",
  responses: "gpt-5.4",
  gemini: "gemini-2.5-flash",
  messages: "claude-haiku-4-5",
};

async function play({ wire = "chat", answers, always, says }: Behaviour) {
  let asked = 0;
  server = await loopback((response) => {
    const at = asked++;
    const answer = answers[at] ?? (always ? answers.at(-1) : undefined) ?? plain[wire];
    answer(response);
  });
  const endpoint = endpoints[wire](server.url);
  const images = { id: "strange", provider: "openai", abilities: { images: true } };
  const trace: string[] = [];
  const stage = await openTestSession({
    model: routedModel({
      home: endpoint,
      endpoints: [endpoint],
      catalog: catalog({ extra: [images] }),
      http: http.send,
      now: () => Date.now(),
    }),
    clock: nodeClock(),
    tools: [lookTool(trace), changeTool(trace)],
    settings: { model: names[wire] },
    limits: { backoff: { firstMs: 1, maxMs: 2 }, maxStreamRetries: 1, silenceMs: 400, firstByteMs: 5_000 },
  });
  if (says === "image") {
    await stage.session.submit({ type: "input", content: [text("look"), dot] });
    await stage.session.run();
  } else await stage.say("look");
  if (says === "twice") await stage.say("again");
  const ran = trace.flatMap(
    (line) => /^(?:look|change) ([\s\S]*?)(?: starts)?$/.exec(line.endsWith(" ends") ? "" : line)?.[1] ?? [],
  );
  return { ...stage, ran, requests: server.seen.map(({ body }) => body) };
}

test("there are at least sixty of them, each by a name of its own", () => {
  expect(behaviours.length).toBeGreaterThanOrEqual(60);
  expect(new Set(behaviours.map(({ wire, name }) => `${wire} ${name}`)).size).toBe(behaviours.length);
});

test.each(behaviours.map((row) => [`${row.wire ?? "chat"}: ${row.name}`, row] as const))(
  "%s",
  async (_, row) => {
    verifies("P9");
    const { all, ran, requests } = await play(row);
    const reasons = all("turn.finished").map(({ reason }) => reason);
    expect(reasons.every((reason) => turnReasonSchema.safeParse(reason).success)).toBe(true);
    expect(reasons.at(-1)).toBe(row.ends ?? "completed");
    expect(requests.length).toBeLessThan(maxRequests);
    if (row.told) expect(requests[1]).toMatch(row.told);
    if (row.ran) expect(ran).toEqual(row.ran);
    if (row.notice)
      expect(all("notice.raised").map((event) => event.text)).toEqual([expect.stringMatching(row.notice)]);
    if (!row.always && !row.isSilent) {
      const said = all("model.finished").at(-1)?.content ?? [];
      expect(said.map((block) => (block.type === "text" ? block.text : ""))).toContainEqual(
        expect.stringMatching(/fine|saw a|no more|Teleport/),
      );
    }
  },
);
