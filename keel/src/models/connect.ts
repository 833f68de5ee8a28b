/** From a resolved model to the port that the engine asks. The one place that knows every wire; each is loaded when it is needed. */
import { oneByOne } from "../kernel/one-by-one.ts";
import type { Model, ModelEvent, ModelRequest } from "../ports/model.ts";
import { infoAt, infoOn, nameAt } from "./catalog.ts";
import { type Endpoint, type WireId, wireFor } from "./providers.ts";
import type { ModelOptions } from "./read-answer.ts";
import type { ResolvedModel } from "./resolve.ts";

export type ConnectTools = Omit<ModelOptions, "endpoint">;

type ProviderWire = {
  open(options: ModelOptions): Model;
  /** What a request to the endpoint says about itself, also one that asks for no reply. */
  headers(endpoint: Endpoint): Record<string, string>;
};

const wires: Readonly<Record<WireId, () => Promise<ProviderWire>>> = {
  async messages() {
    const { anthropicModel, messagesHeaders } = await import("./anthropic/model.ts");
    return { open: anthropicModel, headers: messagesHeaders };
  },
  async chat() {
    const { openaiModel, chatHeaders } = await import("./openai/model.ts");
    return { open: openaiModel, headers: chatHeaders };
  },
  async responses() {
    const { responsesModel } = await import("./responses/model.ts");
    const { chatHeaders } = await import("./openai/model.ts");
    return { open: responsesModel, headers: chatHeaders };
  },
  async gemini() {
    const { geminiModel, geminiHeaders } = await import("./gemini/model.ts");
    return { open: geminiModel, headers: geminiHeaders };
  },
  async package() {
    const { packageModel } = await import("./package/model.ts");
    return { open: packageModel, headers: () => ({}) };
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

export const wireOf = (wire: WireId): Promise<ProviderWire> => wires[wire]();

/** The port serves every model of the endpoint, each over the wire that is spoken with it. */
export function connectModel({ endpoint }: Pick<ResolvedModel, "endpoint">, tools: ConnectTools): Model {
  const connected = new Map<WireId, AskedModel>();
  const wireWith = (name: string): WireId =>
    wireFor(endpoint, nameAt(endpoint.provider, name, tools.catalog), tools.catalog.providers);
  const model = (name: string): AskedModel => {
    const wire = wireWith(name);
    const found = connected.get(wire) ?? openWire(wire, { endpoint, ...tools });
    connected.set(wire, found);
    return found;
  };
  return {
    info: (name) => infoOn(wireWith(name), infoAt(endpoint.provider, name, tools.catalog)),
    prepare: (request) => model(request.model).prepare?.(request),
    stream: (request, signal) => model(request.model).stream(request, signal),
  };
}

type AskedModel = Pick<Model, "prepare" | "stream">;

/** A model whose wire is on its way: what is asked meanwhile waits for it. */
function openWire(wire: WireId, options: ModelOptions): AskedModel {
  let opened: Model | undefined;
  const opening = wireOf(wire).then(({ open }) => {
    opened = open(options);
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
