/** One Model over several providers: a request goes to the provider of the model that it names, and no other is tried. */
import { fault } from "../kernel/fault.ts";
import type { Model } from "../ports/model.ts";
import type { ModelInfo } from "../protocol/usage.ts";
import { type ConnectTools, connectModel } from "./connect.ts";
import { type Endpoint, type ProviderId, providerOf } from "./providers.ts";

export type RouterOptions = ConnectTools & {
  /** Where the session's own model is; a name that nobody knows is one of there, too. */
  readonly home: Endpoint;
  /** All that can be asked. */
  readonly endpoints: readonly Endpoint[];
};

/** More models than a session ever names. */
const maxKnownInfos = 64;

export function routedModel({ home, endpoints, ...tools }: RouterOptions): Model {
  const connected = new Map<ProviderId, Model>();
  // Asked several times in each turn, always for the same one or two.
  const infos = new Map<string, ModelInfo>();

  const route = (name: string): { provider: ProviderId; model: Model | undefined } => {
    const plain = tools.catalog.unalias(name);
    const wanted = tools.catalog.split(plain).provider?.id;
    const owner = wanted ?? tools.catalog.home(plain);
    const endpoint = endpoints.find(({ provider }) => provider === owner) ?? (wanted ? undefined : home);
    if (!endpoint) return { provider: wanted ?? home.provider, model: undefined };
    const model = connected.get(endpoint.provider) ?? connectModel({ endpoint }, tools);
    connected.set(endpoint.provider, model);
    return { provider: endpoint.provider, model };
  };

  return {
    info(name) {
      const known = infos.get(name);
      if (known) return known;
      const info = route(name).model?.info(name) ?? tools.catalog.info(name);
      if (infos.size >= maxKnownInfos) infos.clear();
      infos.set(name, info);
      return info;
    },
    prepare: (request) => route(request.model).model?.prepare?.(request),
    stream(request, signal) {
      const { provider, model } = route(request.model);
      if (!model)
        throw fault("key_missing", {
          provider: providerOf(provider, tools.catalog.providers)?.name ?? provider,
        });
      return model.stream(request, signal);
    },
  };
}
