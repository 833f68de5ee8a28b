/** Every wire without a way out: what a request would be, byte for byte, for whoever compares. Nothing is sent. */
import { fault } from "../kernel/fault.ts";
import type { Model, ModelRequest } from "../ports/model.ts";
import type { RequestSums } from "../protocol/usage.ts";
import type { Catalog } from "./catalog.ts";
import { wireOf } from "./connect.ts";
import { type Provider, type ProviderId, providers, type WireId } from "./providers.ts";

export type SilentModel = Pick<Model, "info"> & {
  /** `recorded`: what was written down then, for a request that may have gone by several wires. */
  prepare(request: ModelRequest, recorded: RequestSums | undefined): Promise<RequestSums | undefined>;
};

export async function silentModel(catalog: Catalog): Promise<SilentModel> {
  const wires = await Promise.all(
    providers.flatMap((provider) => wiresOf(provider).map((wire) => silentWire(provider, wire, catalog))),
  );
  return {
    info: (name) => wireFor(wires, name, catalog).info(name),
    prepare: (request, recorded) => sumsLike(wires, request, { recorded, catalog }),
  };
}

type SilentWire = Pick<Model, "info" | "prepare"> & { readonly provider: ProviderId };

/** What may have been spoken to it, likely first: a log does not say whether it was asked at its own address. */
const wiresOf = ({ wire, wireAtHome }: Provider): readonly WireId[] =>
  wireAtHome === undefined ? [wire] : [wireAtHome, wire];

/** A wire that writes requests, and has nowhere to send them. */
async function silentWire(
  { id: provider, baseUrl }: Provider,
  wire: WireId,
  catalog: Catalog,
): Promise<SilentWire> {
  const { open } = await wireOf(wire);
  const model = open({
    endpoint: { provider, baseUrl, wire },
    catalog,
    http: async () => {
      throw fault("unexpected", { reason: "a replay sends nothing" });
    },
    now: () => 0,
  });
  return { provider, info: (name) => model.info(name), prepare: (request) => model.prepare?.(request) };
}

function wireFor(wires: readonly SilentWire[], name: string, { unalias, home }: Catalog): SilentWire {
  const owner = home(unalias(name));
  const found = wires.find(({ provider }) => provider === owner) ?? wires[0];
  if (!found) throw fault("no_model", { reason: "there is no wire." });
  return found;
}

/** A log does not say by which wire a request went: a gateway has models of any name. The one whose bytes fit is meant. */
async function sumsLike(
  wires: readonly SilentWire[],
  request: ModelRequest,
  { recorded, catalog }: { readonly recorded: RequestSums | undefined; readonly catalog: Catalog },
): Promise<RequestSums | undefined> {
  const likely = wireFor(wires, request.model, catalog);
  const first = await likely.prepare?.(request);
  if (!recorded || first?.body.digest === recorded.body.digest) return first;
  for (const wire of wires) {
    const sums = wire === likely ? undefined : await wire.prepare?.(request);
    if (sums?.body.digest === recorded.body.digest) return sums;
  }
  return first;
}
