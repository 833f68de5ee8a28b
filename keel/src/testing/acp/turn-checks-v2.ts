import { asObject, type JsonObject } from "../../kernel/json.ts";
import { isResponse } from "./peer.ts";
import { type CheckOutcome, promptParts, said, stopReasons } from "./stage.ts";
import {
  askWords,
  type CheckV2,
  endsInIdle,
  isDefined,
  isFilled,
  type KitStageV2,
  longWords,
  notApplicable,
  objectsIn,
  ofKind,
  permissionsIn,
  shown,
  statesTold,
  type TurnV2,
  updatesOf,
  withAnnounced,
  withSessions,
  withTurn,
} from "./stage-v2.ts";

const plain = (): undefined => undefined;

const promptCan = (name: string, block: JsonObject): CheckV2 =>
  withAnnounced(["session", "prompt", name], async (stage) => {
    const { sessionId } = await stage.begin();
    return endsInIdle(`a prompt with ${name}`, await stage.turn(sessionId, { blocks: [block] }));
  });

type Cancelled = TurnV2 & {
  readonly sessionId: string;
  readonly cancelledAt: number;
  readonly promptId: string;
};

/** A long turn, cancelled once it is at work. */
async function cancelledTurn(
  stage: KitStageV2,
  how: (sessionId: string) => unknown = (sessionId) => stage.peer.notify("session/cancel", { sessionId }),
): Promise<Cancelled> {
  const { sessionId } = await stage.begin();
  let cancelledAt = 0;
  let promptId = "";
  const turn = await stage.turn(sessionId, {
    words: longWords(stage.options),
    during: (id) => {
      stage.peer.isCancelled = true;
      cancelledAt = stage.peer.lines.length;
      promptId = id;
      return how(sessionId);
    },
  });
  return { ...turn, sessionId, cancelledAt, promptId };
}

const whenCancelled = (judge: (turn: Cancelled, stage: KitStageV2) => CheckOutcome | Promise<CheckOutcome>) =>
  withSessions(async (stage) => judge(await cancelledTurn(stage), stage));

const endsCancelled = ({ idle, response }: TurnV2): CheckOutcome =>
  idle?.["stopReason"] === "cancelled"
    ? undefined
    : `it ended with ${shown(idle ?? response ?? "no answer")}`;

const closedAtWork = withSessions(async (stage) =>
  endsCancelled(
    await cancelledTurn(stage, (sessionId) => stage.peer.request("session/close", { sessionId })),
  ),
);

const clientMethods = new Set([
  "session/request_permission",
  "session/update",
  "elicitation/create",
  "elicitation/complete",
  "mcp/message",
  "auth/status_update",
  "$/cancel_request",
]);

export const turnChecksV2 = {
  "ACP-PROMPT-201": withTurn(plain, ({ response, messageId }) =>
    isFilled(messageId) ? undefined : said("a prompt", response),
  ),
  "ACP-PROMPT-203": withTurn(plain, ({ updates, messageId, idle }) => {
    const before = updates.slice(0, idle ? updates.indexOf(idle) : updates.length);
    const told = ofKind(before, "user_message", "user_message_chunk");
    return told.some((update) => update["messageId"] === messageId)
      ? undefined
      : `the message ${shown(messageId)} is not told`;
  }),
  "ACP-PROMPT-205": withTurn(plain, (_, stage, sessionId) => {
    const updates = stage.peer.lines.flatMap(({ messages }) =>
      messages.filter(({ method }) => method === "session/update"),
    );
    const foreign = updates.find(({ params }) => asObject(params)["sessionId"] !== sessionId);
    if (foreign) return `an update of another session: ${shown(foreign)}`;
    return updates
      .map(({ params }) => stage.check.params("session/update", params))
      .find((sentence) => sentence !== "");
  }),
  "ACP-PROMPT-003": withSessions(async (stage) => {
    const { sessionId } = await stage.begin();
    return endsInIdle("a prompt with a link", await stage.turn(sessionId, { blocks: [promptParts.link] }));
  }),
  "ACP-STATE-201": withTurn(plain, ({ updates, idle }) => {
    if (!idle) return notApplicable("no idle with a reason was told");
    const before = updates.slice(0, updates.indexOf(idle));
    return statesTold(before).includes("running") ? undefined : "idle came without running before it";
  }),
  "ACP-STATE-202": withTurn(plain, ({ updates }) => {
    const states = statesTold(updates);
    if (!states.includes("running")) return notApplicable("no work was told");
    return states.lastIndexOf("idle") > states.indexOf("running")
      ? undefined
      : "running is not followed by idle";
  }),
  "ACP-STATE-203": withTurn(plain, ({ updates, idle }) => {
    if (!statesTold(updates).includes("running")) return notApplicable("no work was told");
    const reason = idle?.["stopReason"];
    return isDefined(reason, [...stopReasons].map(String))
      ? undefined
      : `the work ended with ${shown(reason)}`;
  }),
  "ACP-PROMPTCAP-001": promptCan("image", promptParts.image),
  "ACP-PROMPTCAP-002": promptCan("audio", promptParts.audio),
  "ACP-PROMPTCAP-003": promptCan("embeddedContext", promptParts.resource),
  "ACP-PERM-201": withTurn(askWords, (turn, stage, sessionId) => {
    const asked = permissionsIn(stage, turn.from);
    if (asked.length === 0) return notApplicable("no permission was asked for");
    for (const { params } of asked) {
      const wrong = stage.check.params("session/request_permission", params);
      const { title, options, sessionId: about } = asObject(params);
      const isWhole =
        about === sessionId &&
        isFilled(title) &&
        objectsIn(options).length > 0 &&
        objectsIn(options).every(
          (one) => isFilled(one["optionId"]) && isFilled(one["name"]) && isFilled(one["kind"]),
        );
      if (wrong !== "" || !isWhole) return wrong || `a request for permission is ${shown(params)}`;
    }
    return endsInIdle("a prompt with a permission", turn);
  }),
  "ACP-CLIENTCAP-201": withTurn(askWords, (_, stage) =>
    stage.peer.wanted.includes("elicitation/create") ? "it asked for a form" : undefined,
  ),
  "ACP-CLIENTCAP-202": withTurn(askWords, (_, stage) => {
    const strange = stage.peer.lines
      .flatMap(({ messages }) =>
        messages.flatMap(({ method }) => (typeof method === "string" ? [method] : [])),
      )
      .find((method) => !clientMethods.has(method) && !method.startsWith("_"));
    return strange && `it called ${strange}`;
  }),
  "ACP-CANCEL-201": whenCancelled(endsCancelled),
  "ACP-CANCEL-202": whenCancelled(async (turn, stage) => {
    if (turn.idle?.["stopReason"] !== "cancelled") return notApplicable("it did not end as cancelled");
    const behind = stage.peer.lines.findIndex((line) =>
      updatesOf(line, turn.sessionId).includes(turn.idle ?? {}),
    );
    const later = ofKind(await stage.later(turn.sessionId, behind + 1), "state_update");
    return later.length === 0 ? undefined : `after the end came ${shown(later[0])}`;
  }),
  "ACP-CANCEL-203": whenCancelled(({ response, idle }) => {
    if (response && "error" in response) return said("a cancelled prompt", response);
    const reason = idle?.["stopReason"];
    return reason !== "cancelled" && stopReasons.has(reason) ? `it ended with ${shown(reason)}` : undefined;
  }),
  "ACP-CANCEL-204": whenCancelled(({ idle }) => ({ told: `it ended with ${shown(idle?.["stopReason"])}` })),
  "ACP-CANCEL-205": whenCancelled((turn, stage) => {
    const answered = stage.peer.lines
      .slice(turn.cancelledAt)
      .flatMap(({ messages }) => messages)
      .find((message) => isResponse(message) && message["id"] !== turn.promptId);
    return answered && `session/cancel was answered: ${shown(answered)}`;
  }),
  "ACP-CANCEL-206": withSessions(async (stage) => {
    const more = { _meta: { kit: true } };
    const turn = await cancelledTurn(stage, (sessionId) =>
      stage.peer.notify("session/cancel", { sessionId, ...more }),
    );
    return endsCancelled(turn);
  }),
  "ACP-CANCEL-207": whenCancelled(endsCancelled),
  "ACP-CANCEL-208": closedAtWork,
  "ACP-INFO-CANCEL-201": withSessions(async (stage) => {
    const { sessionId } = await stage.begin();
    const from = stage.peer.lines.length;
    stage.peer.notify("session/cancel", { sessionId });
    stage.peer.notify("session/cancel", { sessionId: "kit-no-such-session" });
    const told = await stage.later(sessionId, from);
    return { told: told.length === 0 ? "it says nothing" : `it says ${shown(told)}` };
  }),
  "ACP-INFO-CANCEL-202": withSessions(async (stage) => {
    const { sessionId } = await stage.begin();
    stage.peer.outcome = "never";
    const from = stage.peer.lines.length;
    await stage.turn(sessionId, {
      words: askWords(stage.options),
      during: async () => {
        await stage.peer.wait(
          ({ messages }) => messages.some(({ method }) => method === "session/request_permission"),
          { from, ms: stage.peer.limits.quietMs * 4 },
        );
        stage.peer.notify("session/cancel", { sessionId });
      },
    });
    const isTakenBack = stage.peer.lines.some(({ messages }) =>
      messages.some(({ method }) => method === "$/cancel_request"),
    );
    return { told: isTakenBack ? "it takes back what it asked" : "it takes nothing back" };
  }),
  "ACP-INFO-CONCURRENT-201": withSessions(async (stage) => {
    const { sessionId } = await stage.begin();
    const prompt = [{ type: "text", text: "and another" }];
    let second: JsonObject | undefined;
    await stage.turn(sessionId, {
      words: longWords(stage.options),
      during: async () => {
        second = await stage.peer.request("session/prompt", { sessionId, prompt }, "second");
        stage.peer.notify("session/cancel", { sessionId });
      },
    });
    return { told: said("a second prompt", second) };
  }),
  "ACP-INFO-UNKNOWNSESSION-001": withSessions(async (stage) => {
    await stage.begin();
    const prompt = [{ type: "text", text: "hello" }];
    const answer = await stage.peer.request("session/prompt", { sessionId: "kit-no-such-session", prompt });
    return { told: said("a prompt to no session", answer) };
  }),
  "ACP-CLOSE-202": closedAtWork,
} as const satisfies Readonly<Record<string, CheckV2>>;
