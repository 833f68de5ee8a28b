/** From a resolved model to the port that the engine asks. The one place that knows every wire; each is loaded when it is needed. */
import { oneByOne } from "../kernel/one-by-one.ts";
import type { Model, ModelEvent, ModelRequest } from "../ports/model.ts";
import { infoAt } from "./catalog.ts";
import type { Endpoint, ProviderId } from "./providers.ts";
import type { ModelOptions } from "./read-answer.ts";
import type { ResolvedModel } from "./resolve.ts";

export type ConnectTools = Omit<ModelOptions, "endpoint">;

type ProviderWire = {
  open(options: ModelOptions): Model;
  /** What a request to the endpoint says about itself, also one that asks for no reply. */
  headers(endpoint: Endpoint): Record<string, string>;
};

const wires: Readonly<Record<ProviderId, () => Promise<ProviderWire>>> = {
  async anthropic() {
    const { anthropicModel, messagesHeaders } = await import("./anthropic/model.ts");
    return { open: anthropicModel, headers: messagesHeaders };
  },
  async openai() {
    const { openaiModel, chatHeaders } = await import("./openai/model.ts");
    return { open: openaiModel, headers: chatHeaders };
  },
};

/**
 * Loads what a first request needs of Node, a part at a time, while the session waits for its disk: that takes as long as
 * they do, and nothing else is to be done meanwhile.
 */
export function loadAhead({ baseUrl }: Endpoint): void {
  const load = (name: string): void => void process.getBuiltinModule(name);
  setImmediate(() => {
    load("node:crypto");
    setImmediate(load, baseUrl.startsWith("https:") ? "node:https" : "node:http");
  });
}

export const wireOf = (provider: ProviderId): Promise<ProviderWire> => wires[provider]();

/** The port serves every model of the endpoint; `resolved.model` is only the one to start with. */
export function connectModel({ endpoint }: Pick<ResolvedModel, "endpoint">, tools: ConnectTools): Model {
  const { provider } = endpoint;
  let opened: Model | undefined;
  const opening = wireOf(provider).then(({ open }) => {
    opened = open({ endpoint, ...tools });
    return opened;
  });
  // Told to whoever asks.
  opening.catch(() => undefined);
  async function* whenOpen(
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<readonly ModelEvent[]> {
    const stream = (await opening).stream(request, signal);
    for await (const event of stream) yield [event, ...(stream.ready?.() ?? [])];
  }
  return {
    info: (name) => infoAt(provider, name, tools.catalog),
    prepare: (request) =>
      opened
        ? opened.prepare?.(request)
        : opening.then(
            (model) => model.prepare?.(request),
            () => undefined,
          ),
    stream: (request, signal) =>
      opened ? opened.stream(request, signal) : oneByOne(whenOpen(request, signal)),
  };
}
