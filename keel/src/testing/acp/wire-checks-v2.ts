/** The checks of version 2 that are about lines, messages, batches and ends, by their ids. */
import { isObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { isResponse } from "./peer.ts";
import { said } from "./stage.ts";
import {
  badBegin,
  type CheckV2,
  errorIn,
  type KitStageV2,
  metV2,
  shown,
  unknownMethod,
  withSessions,
} from "./stage-v2.ts";

const exchange = async (stage: KitStageV2): Promise<string> => {
  const { sessionId } = await stage.begin();
  await stage.turn(sessionId);
  return sessionId;
};

/** The next line that answers something: what the agent says by itself is passed over. */
const nextAnswer = (stage: KitStageV2, from: number, ms = stage.peer.limits.answerMs) =>
  stage.peer.wait(({ messages, text }) => (messages.length === 0 ? text !== "" : messages.some(isResponse)), {
    from,
    ms,
  });

const answerTo = async (stage: KitStageV2, line: string) => {
  const from = stage.peer.lines.length;
  stage.peer.raw(line);
  return nextAnswer(stage, from);
};

/** Says what it does, and whether the connection goes on. */
const recorded = (what: string, line: string): CheckV2 =>
  metV2(async (stage) => {
    const from = stage.peer.lines.length;
    stage.peer.raw(line);
    const answer = await nextAnswer(stage, from, stage.peer.limits.quietMs);
    const goesOn = await stage.peer.request("session/list", {});
    const after = goesOn ? "goes on" : "does not go on";
    return { told: `${what}: ${answer?.text.slice(0, 200) ?? "silence"}; the connection ${after}` };
  });

/** What the other side does by itself, or cannot be seen from here. */
const onlyTold = (what: string): CheckV2 =>
  metV2(async (stage) => {
    const sent = stage.peer.lines.some(({ message }) => message === undefined);
    return { told: `${what}; ${sent ? "it sent a batch" : "it sent none by itself"}` };
  });

const listed = (id: string): JsonObject => ({ jsonrpc: "2.0", id, method: "session/list", params: {} });

const twoAsked = JSON.stringify([listed("batch-a"), listed("batch-b")]);

const badEnvelope = (what: string, response: JsonObject | undefined): string | undefined => {
  if (!response) return said(what, response);
  const isWhole = response["jsonrpc"] === "2.0" && "result" in response !== "error" in response;
  const error = errorIn(response);
  const isError =
    !("error" in response) || (Number.isInteger(error?.["code"]) && typeof error?.["message"] === "string");
  return isWhole && isError ? undefined : said(what, response);
};

/** Every value below that stands under this name. */
function valuesNamed(name: string, value: Json): Json[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesNamed(name, item));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => [
    ...(key === name ? [item as Json] : []),
    ...valuesNamed(name, item as Json),
  ]);
}

export const wireChecksV2 = {
  "ACP-TRANSPORT-201": withSessions(async (stage) => {
    await exchange(stage);
    const bad = stage.peer.lines.find(
      ({ messages }) => messages.length === 0 || messages.some(({ jsonrpc }) => jsonrpc !== "2.0"),
    );
    return bad && `a line is no message: ${bad.text.slice(0, 200)}`;
  }),
  "ACP-TRANSPORT-002": withSessions(async (stage) => {
    await exchange(stage);
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(stage.peer.output);
      return undefined;
    } catch {
      return "its output is not UTF-8";
    }
  }),
  "ACP-TRANSPORT-203": withSessions(async (stage) => {
    await exchange(stage);
    const bad = stage.peer.lines.find(({ messages }) => messages.length === 0);
    return bad && `a line is only a part of a message: ${bad.text.slice(0, 200)}`;
  }),
  "ACP-JSONRPC-001": metV2(async (stage) => {
    const first = await stage.peer.request("session/list", {}, 424_242);
    if (!first) return "a number as an id does not come back";
    if (!(await stage.peer.request("session/list", {}, "an-id"))) return "a text as an id does not come back";
    stage.peer.raw(twoAsked);
    const both = [await stage.peer.response("batch-a"), await stage.peer.response("batch-b")];
    return both.every((answer) => answer) ? undefined : "the ids of a batch do not come back";
  }),
  "ACP-JSONRPC-002": metV2(async (stage) => {
    const first = stage.peer.lines.find(({ message }) => isResponse(message))?.message;
    return (
      badEnvelope("initialize", first) ??
      badEnvelope("a bad session/new", await stage.peer.request(...badBegin))
    );
  }),
  "ACP-JSONRPC-003": metV2(async (stage) => {
    const from = stage.peer.lines.length;
    const told = { jsonrpc: "2.0", method: "_kit/told", params: {} };
    stage.peer.raw(JSON.stringify(told));
    stage.peer.raw(JSON.stringify([told]));
    const answer = await nextAnswer(stage, from, stage.peer.limits.quietMs);
    return answer && `a notification was answered: ${answer.text.slice(0, 200)}`;
  }),
  "ACP-JSONRPC-004": metV2(async ({ peer }) => {
    const response = await peer.request(unknownMethod);
    return errorIn(response)?.["code"] === -32_601 ? undefined : said(unknownMethod, response);
  }),
  "ACP-JSONRPC-005": metV2(async (stage) => {
    await stage.peer.request(unknownMethod);
    await stage.peer.request(...badBegin);
    stage.peer.raw(JSON.stringify([17, true, null]));
    const response = await stage.peer.request("session/list", {});
    return response ? undefined : "the connection does not go on";
  }),
  "ACP-BATCH-201": metV2(async (stage) => {
    const answer = await answerTo(stage, "[]");
    const isRight = answer?.message?.["id"] === null && errorIn(answer.message)?.["code"] === -32_600;
    return isRight ? undefined : `an empty batch: ${answer?.text.slice(0, 200) ?? "no answer came"}`;
  }),
  "ACP-BATCH-202": metV2(async (stage) => {
    const from = stage.peer.lines.length;
    stage.peer.raw(JSON.stringify([{ jsonrpc: "2.0", method: "_kit/told" }]));
    const answer = await nextAnswer(stage, from, stage.peer.limits.quietMs);
    return answer && `a batch of notifications was answered: ${answer.text.slice(0, 200)}`;
  }),
  "ACP-BATCH-203": metV2(async (stage) => {
    const answer = await answerTo(stage, JSON.stringify([17, true, null]));
    const { messages = [], text = "no answer came" } = answer ?? {};
    const isRight =
      messages.length === 3 &&
      messages.every((one) => one["id"] === null && errorIn(one)?.["code"] === -32_600);
    return isRight ? undefined : `three parts that are no messages: ${text.slice(0, 200)}`;
  }),
  "ACP-BATCH-204": metV2(async (stage) => {
    const answer = await answerTo(stage, twoAsked);
    const { message, messages = [], text = "no answer came" } = answer ?? {};
    return !message && messages.length === 2 ? undefined : `a batch of two: ${text.slice(0, 200)}`;
  }),
  "ACP-BATCH-205": metV2(async (stage) => {
    const answer = await answerTo(stage, twoAsked);
    const byId = new Map((answer?.messages ?? []).map((one) => [one["id"], one]));
    const isRight = ["batch-a", "batch-b"].every((id) => "result" in (byId.get(id) ?? {}));
    return isRight ? undefined : `a batch of two: ${answer?.text.slice(0, 200) ?? "no answer came"}`;
  }),
  "ACP-BATCH-206": metV2(async (stage) => {
    const answer = await answerTo(stage, twoAsked);
    return { told: `in the order ${(answer?.messages ?? []).map(({ id }) => String(id)).join(", ")}` };
  }),
  "ACP-BATCH-207": onlyTold("whether it does cannot be forced"),
  "ACP-BATCH-208": onlyTold("what it puts into one is its own matter"),
  "ACP-INFO-BATCH-201": recorded("a batch that is no JSON", '[{"jsonrpc":"2.0","id":1,"method":'),
  "ACP-INFO-BATCH-202": recorded(
    "a request and a response in one",
    JSON.stringify([
      { jsonrpc: "2.0", id: "mixed", method: unknownMethod },
      { jsonrpc: "2.0", id: "other", result: {} },
    ]),
  ),
  "ACP-EXT-001": metV2(async ({ peer }) => {
    const response = await peer.request("_kit/own", { any: "thing" });
    return response ? undefined : "a request of an own method is not answered";
  }),
  "ACP-EXT-201": metV2(async (stage) => {
    const from = stage.peer.lines.length;
    stage.peer.notify("_kit/told", { any: "thing" });
    const answer = await nextAnswer(stage, from, stage.peer.limits.quietMs);
    if (answer) return `a notification of an own method was answered: ${answer.text.slice(0, 200)}`;
    return (await stage.peer.request("session/list", {})) ? undefined : "the connection does not go on";
  }),
  "ACP-EXT-203": recorded("$/unknown", JSON.stringify({ jsonrpc: "2.0", method: "$/unknown", params: {} })),
  "ACP-META-201": withSessions(async (stage) => {
    await exchange(stage);
    const all = stage.peer.lines.flatMap(({ messages }) => valuesNamed("_meta", [...messages]));
    const bad = all.find((meta) => meta !== null && !isObject(meta));
    return bad === undefined ? undefined : `a _meta is ${shown(bad)}`;
  }),
  "ACP-ERROR-001": metV2(async ({ peer }) => {
    const responses = [await peer.request(unknownMethod), await peer.request(...badBegin)];
    const bad = responses.find((response) => {
      const message = errorIn(response)?.["message"];
      return typeof message === "string" && (message === "" || message.includes("\n"));
    });
    return bad && said("the message of an error", bad);
  }),
  "ACP-SHUTDOWN-001": metV2(async (stage) =>
    (await stage.peer.close()) ? undefined : "it goes on when its input has ended",
  ),
  "ACP-STDERR-001": metV2(async (stage) => ({ told: `${stage.peer.stderrBytes} bytes on standard error` })),
  "ACP-INFO-PARSE-001": recorded("a line that is no JSON", "{this is no JSON"),
  "ACP-INFO-INVALIDREQ-001": recorded("JSON that is no message", '{"foo":"bar"}'),
} as const satisfies Readonly<Record<string, CheckV2>>;
