/** One server as a session sees it: on or off, with the tools that the session has of it. */
import { fault, reasonOf } from "../kernel/fault.ts";
import { never } from "../kernel/result.ts";
import { plainText, shorten } from "../kernel/text.ts";
import type { McpPrompt, McpResource, McpScope, McpServerOptions, McpServerState } from "../protocol/mcp.ts";
import { type InputBlock, type ResultPart, text } from "../protocol/message.ts";
import { boxTools, findTools, type McpTool } from "./as-tools.ts";
import type { Connection } from "./connection.ts";
import { listMs, maxInstructionCharacters } from "./limits.ts";
import type { LinkState } from "./link.ts";
import { wireName } from "./names.ts";
import type { Lease } from "./pool.ts";
import { contentsPart, outcomeOf } from "./results.ts";

export type McpEntryOptions = {
  readonly name: string;
  readonly scope: McpScope;
  readonly config: McpServerOptions;
  readonly callMs: number;
  lease(): Lease;
  /** Something about it is not as it was. */
  changed(): void;
};

export class McpEntry {
  readonly name: string;
  readonly options: McpEntryOptions;
  #lease: Lease | undefined;
  #stop: () => void = () => undefined;
  #tools: readonly McpTool[] = [];
  #problems: readonly string[] = [];
  #changed: readonly string[] = [];
  #looking: Promise<void> = Promise.resolve();

  constructor(options: McpEntryOptions) {
    this.name = options.name;
    this.options = options;
  }

  get tools(): readonly McpTool[] {
    return this.#connected ? this.#tools : [];
  }

  get #connected(): Extract<LinkState, { status: "connected" }> | undefined {
    const state = this.#lease?.link.state;
    return state?.status === "connected" ? state : undefined;
  }

  /** Resolves when it is connected, or is known not to be. Never rejects. */
  async turnOn(): Promise<void> {
    if (!this.#lease) {
      this.#lease = this.options.lease();
      this.#stop = this.#lease.link.onChange(() => void this.#look());
      void this.#look();
    }
    await this.#lease.link.settled;
    await this.#look();
  }

  async turnOff(): Promise<void> {
    const lease = this.#lease;
    this.#lease = undefined;
    this.#stop();
    this.#tools = [];
    this.options.changed();
    await lease?.release();
  }

  async reconnect(): Promise<void> {
    if (!this.#lease) return this.turnOn();
    await this.#lease.link.reconnect();
    await this.#look();
  }

  /** One look after the other: the newest offer counts. */
  #look(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#lookNow()).catch(() => undefined);
    return this.#looking;
  }

  async #lookNow(): Promise<void> {
    const lease = this.#lease;
    const state = this.#connected;
    if (lease && state) {
      const { link, pins } = lease;
      const { tools, problems } = findTools(this.name, state.offer.tools);
      const pinned = await pins.compare(tools);
      this.#problems = problems;
      this.#changed = tools
        .filter(({ name, mark }) => pinned.get(name)?.mark !== mark)
        .map(({ name }) => name);
      this.#tools = boxTools(tools, {
        link,
        pins,
        pinned,
        late: this.options.config.alwaysLoad === true ? "joins" : "announced",
        timeoutMs: this.options.config.timeout ?? this.options.callMs,
        approved: () => void this.#look(),
      });
    }
    this.options.changed();
  }

  status(): McpServerState {
    const about = { name: this.name, scope: this.options.scope, transport: this.options.config.type };
    const state = this.#lease?.link.state;
    if (!state) return { ...about, status: "disabled" };
    switch (state.status) {
      case "connected":
        return {
          ...about,
          status: "connected",
          serverInfo: state.connection.info,
          tools: state.offer.tools.map(({ name, description, annotations }) => ({
            name,
            description,
            annotations,
          })),
          changed: this.#changed,
          problems: this.#problems,
        };
      case "failed":
      case "needs-auth":
        return { ...about, status: state.status, error: state.error };
      case "pending":
        return { ...about, status: "pending", error: state.error };
      default:
        return never(state);
    }
  }

  /** What the server says about its use, bounded. */
  instructions(): string | undefined {
    const words = this.#connected?.connection.instructions?.trim();
    return words ? shorten(plainText(words), maxInstructionCharacters) : undefined;
  }

  prompts(): McpPrompt[] {
    const { prompts = [] } = this.#connected?.offer ?? {};
    return prompts.map(({ name, description = "", arguments: fields = [] }) => ({
      server: this.name,
      name,
      command: wireName(this.name, name),
      description: plainText(description),
      arguments: fields.map((field) => ({
        name: field.name,
        description: field.description,
        required: field.required === true,
      })),
    }));
  }

  resources(): McpResource[] {
    const { resources = [] } = this.#connected?.offer ?? {};
    return resources.map(({ uri, name, description, mimeType }) => ({
      server: this.name,
      uri,
      name,
      description,
      mimeType,
    }));
  }

  /** The words of a prompt, as words of a person. Throws `mcp_failed`. */
  readPrompt(name: string, values: Readonly<Record<string, string>>): Promise<InputBlock[]> {
    return this.#read(async ({ client }) => {
      const { messages } = await client.getPrompt({ name, arguments: { ...values } }, { timeout: listMs });
      return messages.flatMap(({ content }) => outcomeOf({ content: [content] }).content);
    });
  }

  /** What a resource holds. Throws `mcp_failed`. */
  readResource(uri: string): Promise<InputBlock[]> {
    return this.#read(async ({ client }) => {
      const { contents } = await client.readResource({ uri }, { timeout: listMs });
      return contents.map(contentsPart);
    });
  }

  async #read(read: (connection: Connection) => Promise<ResultPart[]>): Promise<InputBlock[]> {
    const link = this.#lease?.link;
    if (!link) throw fault("mcp_failed", { server: this.name, reason: "it is turned off" });
    try {
      const parts = await link.use(read, new AbortController().signal);
      return parts.length > 0 ? parts : [text("(nothing)")];
    } catch (thrown) {
      throw fault("mcp_failed", { server: this.name, reason: reasonOf(thrown), cause: thrown });
    }
  }
}
