import { describe, expect, test } from "vitest";
import type { SessionPorts } from "../engine/step-context.ts";
import { agentPorts, recoveryPorts } from "./rights.ts";

/** Ports that are nothing but their names. */
const named = <P>(owner: string): P => new Proxy({}, { get: (_, name) => `${owner}'s ${String(name)}` }) as P;

const parent = named<SessionPorts>("parent");

/** What was added to a session tomorrow, and nobody has thought about. */
const tomorrow = { ...spelledOut(parent), deployKey: "parent's deployKey" };

function spelledOut(ports: SessionPorts): SessionPorts {
  const names = Object.keys(agentPorts(ports, named("agent")));
  return Object.fromEntries(names.map((name) => [name, Reflect.get(ports, name)])) as SessionPorts;
}

const owners = (ports: object): Record<string, string[]> => {
  const groups = Object.groupBy(Object.entries(ports), ([, value]) =>
    value === undefined ? "withheld" : String(value).split("'")[0]?.trim() || "other",
  );
  return Object.fromEntries(
    Object.entries(groups).map(([owner, found = []]) => [owner, found.map(([name]) => name).sort()]),
  );
};

describe("of the ports of its parent", () => {
  test("an agent has those that are named, and no other", () => {
    const ports = agentPorts(tomorrow, named("agent"));
    expect(ports).not.toHaveProperty("deployKey");
    expect(owners(ports)).toEqual({
      parent: [
        "asks",
        "budget",
        "bypass",
        "clock",
        "condense",
        "ids",
        "model",
        "redirects",
        "reviewer",
        "traced",
      ],
      agent:
        "above briefing cacheKey hooks limits log promptOnResume recover rules spill system taskFile toolbox tools workspace".split(
          " ",
        ),
      withheld: ["agentTools", "checkpoints", "goals", "memory", "plan", "recall", "startedAs"],
    });
  });

  test("the log of a lost agent is settled with those that are named, and spends nothing", () => {
    const ports = recoveryPorts(tomorrow, named("agent"));
    expect(ports).not.toHaveProperty("deployKey");
    const { agent, withheld } = owners(ports);
    expect(agent).toEqual(["log", "recover", "spill", "taskFile"]);
    expect(withheld).toEqual(
      expect.arrayContaining(["budget", "bypass", "checkpoints", "memory", "plan", "toolbox"]),
    );
  });
});
