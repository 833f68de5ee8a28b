import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { containersIn, wordsOfRun } from "./container-runtime.ts";

const wish = {
  name: "keel-team-1",
  label: "abc",
  image: "keel:1",
  mounts: [
    { source: "/srv/team", target: "/workspace/group", readonly: false },
    { source: "/srv/docs", target: "/workspace/extra/docs", readonly: true },
  ],
  set: { KEEL_HOME: "/workspace/home" },
  pass: ["ANTHROPIC_API_KEY"],
  cwd: "/workspace/group",
  command: ["keel", "groups", "agent"],
};

test("a container is started in the words of its runtime, and no key stands among them", () => {
  verifies("S2.50", "S2.60");
  expect(wordsOfRun("docker", wish).join(" ")).toBe(
    "run -i --rm --name keel-team-1 --label keel.home=abc -v /srv/team:/workspace/group -v /srv/docs:/workspace/extra/docs:ro -e KEEL_HOME=/workspace/home -e ANTHROPIC_API_KEY -w /workspace/group keel:1 keel groups agent",
  );
  expect(wordsOfRun("podman", wish)).toEqual(wordsOfRun("docker", wish));
  expect(wordsOfRun("container", wish).join(" ")).toContain(
    "--mount type=bind,source=/srv/docs,target=/workspace/extra/docs,readonly",
  );
});

test("orphan listing by the wrong format, seed 002: each runtime's own JSON is read, of those that run and are ours", () => {
  verifies("S2.53");
  const docker = [
    { Names: "ours", State: "running", Labels: "a=b,keel.home=abc" },
    { Names: "ended", State: "exited", Labels: "keel.home=abc" },
    { Names: "theirs", State: "running", Labels: "keel.home=abcd" },
    { Names: "other", State: "running", Labels: "" },
  ];
  expect(containersIn("docker", `${docker.map((row) => JSON.stringify(row)).join("\n")}\n`, "abc")).toEqual([
    "ours",
  ]);
  const podman = docker.map(({ Names, State, Labels }) => ({
    Names: [Names],
    State,
    Labels: Labels === "" ? null : Object.fromEntries(Labels.split(",").map((part) => part.split("="))),
  }));
  expect(containersIn("podman", JSON.stringify(podman), "abc")).toEqual(["ours"]);
  const apple = podman.map(({ Names: [id], State, Labels }) => ({
    status: State,
    configuration: { id, labels: Labels ?? {} },
  }));
  expect(containersIn("container", JSON.stringify(apple), "abc")).toEqual(["ours"]);
  for (const kind of ["docker", "podman", "container"] as const)
    for (const told of ["", "[]", "null", "{}", "not json"])
      expect(containersIn(kind, told, "abc")).toEqual([]);
});
