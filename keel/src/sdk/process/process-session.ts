/**
 * A session in a process of its own, driven over the same wire that an SDK of the interface drives: what the program
 * answers by callbacks is asked over it, and whatever ends the query ends the process.
 */
import { randomUUID } from "node:crypto";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fault, reasonOf } from "../../kernel/fault.ts";
import { type JsonObject, toLine } from "../../kernel/json.ts";
import type { Queue } from "../../kernel/queue.ts";
import { Channel } from "../control/channel.ts";
import { readFrame } from "../control/frames.ts";
import { answerWith, localServers, wireHooks } from "../control/local-callbacks.ts";
import type { HeardServer } from "../control/local-server.ts";
import type { JsonRpc } from "../control/process-requests.ts";
import { LastResult } from "../dialect/failed-result.ts";
import { matchedTexts } from "../dialect/matched-texts.ts";
import type { SDKSentMessage } from "../messages/messages.ts";
import type { UserMessage } from "../messages/read-content.ts";
import type { Options } from "../options/options.ts";
import { AbortError, type Prompt } from "../query/conversation.ts";
import type { SDKControlInitializeResponse } from "../query/responses.ts";
import type { SessionKey, SessionStoreEntry } from "../stored/session-store.ts";
import type { ServerConfigs } from "../tools/mcp-server.ts";
import { argumentsOf, environmentFor, hasCallbacks, introductionOf } from "./arguments.ts";
import { ExecutableProcess } from "./child.ts";

/** A program that reads this far behind stops the process from telling more. */
const maxUnread = 10_000;
const lookEveryMs = 20;
/** An executable of somebody else may not answer everything. */
const maxPatienceMs = 2_000;

export class ProcessSession {
  readonly #options: Options;
  readonly #out: Queue<SDKSentMessage>;
  readonly #child: ExecutableProcess;
  readonly #channel: Channel;
  readonly #gone = new AbortController();
  readonly #servers: Map<string, HeardServer>;
  /** Messages that were taken and whose end was not told yet. What is no message, such as `/compact`, is never here. */
  readonly #open = new Set<string>();
  /** Ids that are not the program's: it does not hear of them. */
  readonly #own = new Set<string>();
  /** What the process says about itself. */
  readonly introduced: Promise<SDKControlInitializeResponse>;
  #inputDone = false;
  #state: string | undefined;
  #asking: Promise<void> | undefined;
  #hadResult = false;
  readonly #last = new LastResult();
  #closing: Promise<void> | undefined;
  #requests = 0;
  #mirrored: Promise<void> = Promise.resolve();

  /** Throws `usage` when the executable cannot be started. */
  constructor(options: Options, out: Queue<SDKSentMessage>) {
    this.#options = options;
    this.#out = out;
    const hooks = wireHooks(options);
    this.#servers = this.#listen(options.mcpServers ?? {});
    this.#channel = new Channel({
      send: (frame) => void this.#child.write(toLine(frame)),
      answer: answerWith(options, { hooks: hooks.callbacks, servers: this.#servers }),
      newId: () => `keel-${++this.#requests}`,
    });
    this.#child = new ExecutableProcess(options, {
      args: argumentsOf(options),
      env: environmentFor(options, process.env),
      signal: this.#gone.signal,
      on: { line: (line) => this.#take(line), stderr: (text) => options.stderr?.(text) },
    });
    void this.#untilGone();
    // What an executable says about itself in its introduction is what the interface returns.
    this.introduced = this.request(
      introductionOf(options, hooks.named),
    ) as Promise<SDKControlInitializeResponse>;
    this.introduced.catch(() => undefined);
  }

  request(request: { subtype: string } & Record<string, unknown>, signal?: AbortSignal): Promise<unknown> {
    return this.#channel.request(request, signal);
  }

  /** From now on these answer; returned as the wire names them. */
  serve(servers: ServerConfigs): Record<string, unknown> {
    for (const [name, server] of this.#listen(servers)) this.#servers.set(name, server);
    return Object.fromEntries(
      Object.entries(servers).map(([name, config]) => [
        name,
        config.type === "sdk" ? { type: "sdk", name } : config,
      ]),
    );
  }

  /** From the first word to the last. */
  async live(prompt: Prompt): Promise<void> {
    const { abortController } = this.#options;
    const abort = (): void => this.#abort();
    abortController?.signal.addEventListener("abort", abort, { once: true });
    if (abortController?.signal.aborted) return this.#abort();
    try {
      if (typeof prompt === "string") await this.say(prompt);
      else await this.send(prompt);
      this.#inputDone = true;
      // Without callbacks nothing needs the wire; a text still waits for its result, as the interface does.
      if (typeof prompt !== "string" && !hasCallbacks(this.#options) && !this.#options.keepOpen)
        this.#child.endInput();
      this.#lookAtEnd();
    } catch (thrown) {
      this.#out.fail(thrown);
      void this.close();
    }
  }

  async send(messages: AsyncIterable<UserMessage>): Promise<void> {
    for await (const message of messages) {
      if (this.#closing !== undefined) return;
      await this.say(message);
    }
  }

  async say(message: string | UserMessage): Promise<void> {
    const content = [{ type: "text", text: message }];
    const user: UserMessage =
      typeof message === "string" ? { type: "user", message: { role: "user", content } } : message;
    const id = user.uuid ?? randomUUID();
    if (user.uuid === undefined) this.#own.add(id);
    const composed = this.#options.verbatimPrompts ? { client_composed: true } : {};
    const line = { session_id: "", parent_tool_use_id: null, ...composed, ...user, uuid: id };
    await this.#child.write(toLine(line));
  }

  close(): Promise<void> {
    this.#closing ??= this.#child.stop().then(() => this.#out.end());
    return this.#closing;
  }

  #abort(): void {
    this.#out.fail(new AbortError(matchedTexts.aborted));
    void this.close();
  }

  #take(line: JsonObject): void {
    const frame = this.#channel.take(readFrame(line));
    if (!frame) return;
    if (frame.kind === "other" && frame.type === "keep_alive") return;
    if (frame.kind === "other" && frame.type === "transcript_mirror") return this.#mirror(frame.line);
    // Messages are the executable's: whatever it says is passed on, also what only newer ones know.
    this.#hear(line as unknown as SDKSentMessage);
  }

  #hear(message: SDKSentMessage): void {
    if (message.type === "system" && message.subtype === "session_state_changed") {
      this.#state = message.state;
      this.#lookAtEnd();
      if ("sdk_host_only" in message) return;
    }
    if (message.type === "command_lifecycle") {
      const isOver = message.state === "completed" || message.state === "cancelled";
      if (isOver) this.#open.delete(message.command_uuid);
      else this.#open.add(message.command_uuid);
      if (this.#own.has(message.command_uuid)) return;
    }
    if (message.type === "result") this.#hadResult = true;
    this.#last.hear(message);
    this.#out.push(this.#withoutOwn(message));
    if (this.#out.length > maxUnread) void this.#wait();
    this.#lookAtEnd();
  }

  /** Names that only this end gave are not told to the program. */
  #withoutOwn(message: SDKSentMessage): SDKSentMessage {
    if (message.type !== "result" && message.type !== "assistant") return message;
    if (!message.user_message_uuids?.some((id) => this.#own.has(id))) return message;
    const { user_message_uuid: _, user_message_uuids, ...rest } = message;
    const named = user_message_uuids.filter((id) => !this.#own.has(id));
    const [first] = named;
    return first === undefined ? rest : { ...rest, user_message_uuid: first, user_message_uuids: named };
  }

  /** Records go to the program's store in their order; one that fails is told, and the session goes on. */
  #mirror({ filePath, entries }: JsonObject): void {
    const { sessionStore } = this.#options;
    if (!sessionStore || typeof filePath !== "string" || !Array.isArray(entries)) return;
    const key = keyOf(filePath);
    // The executable writes them in the form that stores take.
    const batch = entries as SessionStoreEntry[];
    this.#mirrored = this.#mirrored
      .then(() => sessionStore.append(key, batch))
      .catch((thrown: unknown) => {
        const error = reasonOf(thrown);
        const about = { uuid: randomUUID(), session_id: key.sessionId };
        this.#out.push({ type: "system", subtype: "mirror_error", error, key, ...about });
      });
  }

  /** Everything was said and answered, and nothing works any more: the process may go. */
  #lookAtEnd(): void {
    if (!this.#mayGo()) return;
    if (!hasCallbacks(this.#options) || this.#state === undefined) return this.#child.endInput();
    this.#asking ??= this.#isTrulyIdle().then((isIdle) => {
      this.#asking = undefined;
      if (isIdle) this.#child.endInput();
    });
  }

  #mayGo(): boolean {
    if (!this.#inputDone || this.#options.keepOpen) return false;
    if (!hasCallbacks(this.#options) || this.#state === undefined) return this.#hadResult;
    return this.#state === "idle" && this.#open.size === 0;
  }

  /**
   * `idle` may be older than our last message, whose callbacks would then find a closed wire. This request is handled
   * after all lines before it: if nothing has begun by its answer, nothing will.
   */
  async #isTrulyIdle(): Promise<boolean> {
    const nobody = { subtype: "cancel_async_message", message_uuid: randomUUID() };
    const late = AbortSignal.timeout(maxPatienceMs);
    await this.request(nobody, late).catch(() => undefined);
    return this.#mayGo();
  }

  async #wait(): Promise<void> {
    this.#child.pause();
    while (this.#out.length > maxUnread / 2 && this.#closing === undefined) await pause(lookEveryMs);
    this.#child.resume();
  }

  async #untilGone(): Promise<void> {
    try {
      const { code, signal } = await this.#child.exited;
      if (code !== 0 && this.#closing === undefined) {
        const reason = `${matchedTexts.exited(signal ?? code)}. ${this.#child.lastWords}`.trim();
        // After a failed result the code only repeats it.
        this.#out.fail(this.#last.failure ?? fault("unexpected", { reason }));
      }
    } catch (thrown) {
      this.#out.fail(thrown);
    } finally {
      await this.#mirrored;
      this.#channel.stop("The executable has ended.");
      this.#gone.abort();
      this.#out.end();
    }
  }

  #listen(mcpServers: ServerConfigs): Map<string, HeardServer> {
    return localServers({ mcpServers: { ...mcpServers } }, (name) => (message) => this.#tell(name, message));
  }

  #tell(server: string, message: JsonRpc): void {
    void this.#channel
      .request({ subtype: "mcp_message", server_name: server, message })
      .catch(() => undefined);
  }
}

/** A transcript stands in the folder of its project, under the id of its session. */
function keyOf(filePath: string): SessionKey {
  const { dir, name } = path.parse(filePath);
  return { projectKey: path.basename(dir), sessionId: name };
}
