/** The Model port over a package of the AI SDK: its wire is its own, deadlines and faults are ours. */
import { Fault, fault } from "../../kernel/fault.ts";
import { asText, isObject, type JsonObject, own } from "../../kernel/json.ts";
import { oneByOne } from "../../kernel/one-by-one.ts";
import type { Model, ModelEvent, ModelRequest } from "../../ports/model.ts";
import { infoAt, nameAt } from "../catalog.ts";
import { geminiFault } from "../gemini/errors.ts";
import { errorInBody, providerFault } from "../openai/errors.ts";
import { toolNames } from "../openai/names.ts";
import { reasonFrom, retryAfterMs } from "../provider-error.ts";
import { type ModelOptions, malformed } from "../read-answer.ts";
import type { PackageModel, StreamPart } from "./contract.ts";
import { partDecoder } from "./decode.ts";
import { promptOf } from "./encode.ts";
import { fetchOver } from "./fetch.ts";
import { loadPackage } from "./load.ts";

export function packageModel({ endpoint, catalog, http, now }: ModelOptions): Model {
  const { provider } = endpoint;
  const secrets = endpoint.credential ? [endpoint.credential.value] : [];
  const name = endpoint.package?.name ?? "";
  const wishes = own(requestWishes, name) ?? {};
  let make: ((model: string) => PackageModel) | undefined;
  const models = new Map<string, PackageModel>();

  const modelOf = (id: string): PackageModel => {
    make ??= loadPackage(endpoint, fetchOver(http));
    const found = models.get(id) ?? make(id);
    models.set(id, found);
    return found;
  };

  async function* batches(asked: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]> {
    const request = { ...asked, model: nameAt(provider, asked.model, catalog) };
    const { model } = request;
    const errorOf = (thrown: unknown): Fault => faultOf(thrown, { name, model, secrets, now: now() });
    const decoder = partDecoder({ model, nameOf: toolNames(request.tools), errorOf });
    const info = infoAt(provider, model, catalog);
    try {
      const asking = modelOf(model);
      const prompt = promptOf(request, info, asking.specificationVersion);
      const options = { ...prompt, abortSignal: signal, includeRawChunks: false, ...wishes } as const;
      const { stream } = await unlessAborted(Promise.resolve(asking.doStream(options)), signal);
      for await (const part of partsOf(stream, signal)) yield decoder.push(part);
    } catch (thrown) {
      if (signal.aborted) throw fault("aborted", { cause: signal.reason });
      throw errorOf(thrown);
    }
    const end = decoder.ended();
    if (!end) throw fault("stream_cut", {});
    yield [end];
  }

  return {
    info: (model) => infoAt(provider, model, catalog),
    stream: (asked, signal) => oneByOne(batches(asked, signal)),
  };
}

/** Nothing is kept at a provider, also not where its package would have it so. */
const requestWishes: Readonly<Record<string, { readonly providerOptions: JsonObject }>> = {
  "@ai-sdk/openai": { providerOptions: { openai: { store: false } } },
  "@ai-sdk/azure": { providerOptions: { azure: { store: false }, openai: { store: false } } },
};

/** A package that does not hear its signal is left behind. */
async function* partsOf(stream: ReadableStream<StreamPart>, signal: AbortSignal): AsyncGenerator<StreamPart> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await unlessAborted(reader.read(), signal);
      if (done) return;
      if (!isObject(value)) throw malformed("a part that is no object");
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const gone = Promise.withResolvers<never>();
  const stop = (): void => gone.reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, gone.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
    work.catch(() => undefined);
  }
}

type PackageFacts = {
  readonly name: string;
  readonly model: string;
  readonly secrets: readonly string[];
  readonly now: number;
};

/** Errors of these packages have a status, or a name of theirs; a fault of ours may stand behind either. */
function faultOf(thrown: unknown, { name, model, secrets, now }: PackageFacts): Fault {
  const ours = faultBehind(thrown);
  if (ours) return ours;
  const error = isObject(thrown) ? thrown : {};
  const words = thrown instanceof Error ? thrown.message : asText(error["message"]) || JSON.stringify(thrown);
  const status = error["statusCode"];
  const headers = isObject(error["responseHeaders"]) ? error["responseHeaders"] : {};
  if (typeof status === "number") {
    const wire = errorInBody(asText(error["responseBody"]) || words);
    // One family of wires says by a name what went wrong, all others by a code or a type.
    const isNamed = isObject(wire) && typeof wire["status"] === "string";
    return (isNamed ? geminiFault : providerFault)({
      wire,
      status,
      model,
      secrets,
      retryAfterMs: retryAfterMs((header) => asText(headers[header]) || undefined, now),
    });
  }
  const reason = reasonFrom(words ?? "", secrets);
  switch (asText(error["name"])) {
    case "AI_LoadAPIKeyError":
    case "AI_LoadSettingError":
      return fault("package_refused", { package: name, reason });
    case "AI_NoSuchModelError":
      return fault("model_unknown", { model, reason });
    case "AI_UnsupportedFunctionalityError":
    case "AI_InvalidPromptError":
    case "AI_InvalidArgumentError":
      return fault("model_bad_request", { reason });
    default:
      // An error inside the stream, as the provider's own words say it; what is none of its shapes cannot be read.
      return isObject(thrown) && !(thrown instanceof Error)
        ? providerFault({ wire: errorInBody(JSON.stringify(thrown)), model, secrets })
        : fault("stream_malformed", { reason });
  }
}

function faultBehind(thrown: unknown): Fault | undefined {
  for (let at = thrown, depth = 0; depth < 5 && isErrorLike(at); at = at.cause, depth++)
    if (at instanceof Fault) return at;
  return undefined;
}

const isErrorLike = (value: unknown): value is Error => value instanceof Error;
