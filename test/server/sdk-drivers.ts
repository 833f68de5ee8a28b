// Programs of the official interface: one that calls `query()` in its own process, and one that is attached to a session
// of a server and speaks the wire by its facts alone.
import { randomUUID } from "node:crypto";
import { WebSocket } from "ws";
import { query } from "../../keel/src/sdk/query/query.ts";
import { stage, webServer } from "../handle/stage.ts";
import type { SdkStage } from "../support/sdk-stage.ts";
import type { Control, SdkScenario, WireMessage } from "./sdk-scenarios.ts";

/** What a program hears in a scenario, to its last result. */
export type Driver = (scenario: SdkScenario) => Promise<WireMessage[]>;

const userMessage = (content: SdkScenario["prompts"][number]) => ({
  type: "user" as const,
  message: { role: "user" as const, content },
  parent_tool_use_id: null,
  session_id: "",
});

export async function inProcess(stage: SdkStage, scenario: SdkScenario): Promise<WireMessage[]> {
  const heard: WireMessage[] = [];
  let turn = Promise.withResolvers<void>();
  const methods: Readonly<Record<string, (request: Record<string, unknown>) => Promise<unknown>>> = {
    interrupt: () => running.interrupt(),
    set_permission_mode: ({ mode }) => running.setPermissionMode(mode as "acceptEdits"),
  };
  const control: Control = async (request) => methods[request.subtype]?.(request);
  async function* prompts() {
    await scenario.first?.(control);
    for (const content of scenario.prompts) {
      turn = Promise.withResolvers();
      yield userMessage(content);
      await turn.promise;
    }
  }
  const running = query({
    prompt: prompts(),
    options: {
      ...stage.options,
      ...scenario.options,
      canUseTool: async (tool, input) => {
        const answer = scenario.answer?.(tool, input) ?? { behavior: "deny", message: "No." };
        if (answer !== "interrupt") return answer;
        void running.interrupt();
        return null;
      },
    },
  });
  try {
    for await (const message of running) {
      const told = message as unknown as WireMessage;
      heard.push(told);
      if (told.type === "result") turn.resolve();
    }
  } catch (thrown) {
    // A program of this process is told of a failure once more, behind the last message.
    if (heard.findLast(({ type }) => type === "result")?.["is_error"] !== true) throw thrown;
  }
  return heard;
}

/** A server, and a session in it that was opened for the scenario. */
export async function serving(scenario: Pick<SdkScenario, "replies" | "options">) {
  const at = await stage({ replies: scenario.replies });
  const { url, secret } = await webServer(at);
  const call = async (method: string, address: string, body?: unknown) => {
    const response = await fetch(`${url}${address}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer;
  };
  const options = { model: "claude-sonnet-4-5", settingSources: [], ...scenario.options };
  const session = String((await call("POST", "/api/sessions", { cwd: at.cwd, options }))["session"]);
  const base = `${url}/v1/code/sessions/${session}`;
  return { at, url, secret, session, base, call };
}

/** Lines out and in, however they travel. */
export type LineWire = {
  send(line: object): void;
  onLine(listener: (line: WireMessage) => void): void;
  close(): void;
};

/** A client made of the wire's facts: it introduces itself, says its prompts, and answers what it is asked. */
export async function attached(wire: LineWire, scenario: SdkScenario): Promise<WireMessage[]> {
  const heard: WireMessage[] = [];
  const asked = new Map<string, PromiseWithResolvers<unknown>>();
  let turn = Promise.withResolvers<void>();
  const control: Control = (request) => {
    const request_id = randomUUID();
    const answer = Promise.withResolvers<unknown>();
    asked.set(request_id, answer);
    wire.send({ type: "control_request", request_id, request });
    return answer.promise;
  };
  wire.onLine((line) => {
    if (line.type === "control_response") {
      const response = line["response"] as { request_id: string; subtype: string; response?: unknown };
      const waiting = asked.get(response.request_id);
      if (response.subtype === "success") waiting?.resolve(response.response);
      else waiting?.reject(new Error(JSON.stringify(response)));
      return;
    }
    if (line.type === "control_cancel_request") return;
    if (line.type === "control_request") {
      const { subtype, tool_name, input } = line["request"] as Record<string, unknown>;
      if (subtype !== "can_use_tool") throw new Error(`asked for ${subtype}`);
      const response = scenario.answer?.(String(tool_name), input as Record<string, unknown>) ?? {
        behavior: "deny",
        message: "No.",
      };
      if (response === "interrupt") void control({ subtype: "interrupt" });
      else
        wire.send({
          type: "control_response",
          response: { subtype: "success", request_id: line["request_id"], response },
        });
      return;
    }
    heard.push(line);
    if (line.type === "result") turn.resolve();
  });
  await control({ subtype: "initialize" });
  await scenario.first?.(control);
  for (const content of scenario.prompts) {
    turn = Promise.withResolvers();
    wire.send(userMessage(content));
    await turn.promise;
  }
  return heard;
}

export async function socketWire(address: string, secret: string): Promise<LineWire> {
  const socket = new WebSocket(address);
  let listener: (line: WireMessage) => void = () => undefined;
  socket.on("message", (data) => {
    for (const line of String(data).split("\n")) if (line !== "") listener(JSON.parse(line));
  });
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.send(`${JSON.stringify({ type: "auth", credential: { type: "oauth", token: secret } })}\n`);
  return {
    send: (line) => socket.send(`${JSON.stringify(line)}\n`),
    onLine: (heard) => {
      listener = heard;
    },
    close: () => socket.terminate(),
  };
}

export type SseFrame = {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: WireMessage;
};

/** Frames as they come; ends when it is stopped or the other side ends. */
export async function openStream(
  address: string,
  { secret, after = 0 }: { readonly secret: string; readonly after?: number },
): Promise<{ frames: AsyncGenerator<SseFrame>; stop(): void }> {
  const stopped = new AbortController();
  const response = await fetch(address, {
    headers: {
      authorization: `Bearer ${secret}`,
      accept: "text/event-stream",
      ...(after > 0 ? { "last-event-id": String(after) } : {}),
    },
    signal: stopped.signal,
  });
  if (!response.ok || !response.body) throw new Error(`the stream was refused: ${response.status}`);
  const pieces = response.body.pipeThrough(new TextDecoderStream());
  async function* frames(): AsyncGenerator<SseFrame> {
    let rest = "";
    try {
      for await (const piece of pieces) {
        rest += piece;
        for (let end = rest.indexOf("\n\n"); end !== -1; end = rest.indexOf("\n\n")) {
          const block = rest.slice(0, end);
          rest = rest.slice(end + 2);
          const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
          yield { event: field("event") ?? "", id: field("id"), data: JSON.parse(field("data") ?? "null") };
        }
      }
    } catch (thrown) {
      if (!stopped.signal.aborted) throw thrown;
    }
  }
  return { frames: frames(), stop: () => stopped.abort() };
}

export async function streamWire(
  base: string,
  {
    secret,
    session,
    query = "",
  }: { readonly secret: string; readonly session: string; readonly query?: string },
): Promise<LineWire & { readonly frames: SseFrame[] }> {
  const { frames, stop } = await openStream(`${base}/events/stream${query}`, { secret });
  const seen: SseFrame[] = [];
  let listener: (line: WireMessage) => void = () => undefined;
  void (async () => {
    for await (const frame of frames) {
      seen.push(frame);
      if (frame.event !== "client_event" && frame.event !== "ephemeral_event") continue;
      listener(frame.data["payload"] as WireMessage);
    }
  })();
  let sending: Promise<unknown> = Promise.resolve();
  return {
    frames: seen,
    // One after the other, each with an id of its own, as the official client posts them.
    send(line) {
      const payload = { uuid: randomUUID(), ...line };
      sending = sending.then(() =>
        fetch(`${base}/events${query}`, {
          method: "POST",
          headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
          body: JSON.stringify({ session_id: session, events: [{ payload }] }),
        }).then((response) => {
          if (!response.ok) throw new Error(`a post was refused: ${response.status}`);
        }),
      );
    },
    onLine: (heard) => {
      listener = heard;
    },
    close: stop,
  };
}

/** The same for the same conversation: ids by their order, no times, no folders of the moment. */
export function comparable(messages: readonly WireMessage[], folder: string): unknown[] {
  const ids = new Map<string, string>();
  const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
  const agent = /\ba[0-9a-f]{16}\b/g;
  const timeless = (key: string, value: unknown): unknown => {
    if (/(_ms|Ms|^timestamp|_at|^end_time|^duration\w*|^claude_code_version|^apiKeySource)$/.test(key))
      return "time";
    // A client over a wire names what it says, so that its answers name it too; a program of this process did not.
    if (/^user_message_uuids?$/.test(key)) return undefined;
    if (key === "run_id") return "run";
    return value;
  };
  const text = JSON.stringify(messages, timeless)
    .replaceAll(folder, "FOLDER")
    .replaceAll(/FOLDER\/home\/projects\/[\w-]+/g, "PROJECT")
    .replaceAll(agent, "AGENT")
    .replaceAll(/(Time of the provider:) [^"\\]+/g, "$1 some")
    .replaceAll(uuid, (id) => {
      const known = ids.get(id) ?? `id ${ids.size}`;
      ids.set(id, known);
      return known;
    });
  return JSON.parse(text);
}
