#!/usr/bin/env node
/**
 * Checks the kit itself: that the comparison accepts what it should and, above
 * all, that it can fail. Needs no SDK: a toy one is included.
 *   node selftest.mjs
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { compare, compareExpected } from "./lib/compare.mjs";
import { loadScenarios } from "./lib/load.mjs";
import { project } from "./lib/project.mjs";
import { findViolations } from "./lib/request-rules.mjs";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const DIRECTORIES = { cwd: "/run/work", home: "/run/home", outside: "/run/outside" };

let checks = 0;
const check = (name, condition) => {
  checks += 1;
  assert.ok(condition, name);
};
const accepts = (name, pattern, actual) => check(name, compare(pattern, actual).length === 0);
const rejects = (name, pattern, actual) => check(name, compare(pattern, actual).length > 0);

checkPatterns();
checkProjection();
checkRequestRules();
await checkFiles();
checkRunner();
console.log(`${checks} checks passed`);

function checkPatterns() {
  accepts("more keys are fine", { a: 1 }, { a: 1, b: 2 });
  rejects("a missing key", { a: 1 }, { b: 2 });
  rejects("another value", { a: 1 }, { a: 2 });
  rejects("another type", { a: 1 }, { a: "1" });
  rejects("a longer list", [1], [1, 2]);
  rejects("a shorter list", [1, 2], [1]);
  rejects("another order", [1, 2], [2, 1]);
  accepts("any string", "<any>", "whatever");
  rejects("any string is a string", "<any>", 5);
  accepts("contains", { $contains: ["a", "c"] }, "abc");
  rejects("does not contain", { $contains: ["x"] }, "abc");
  accepts("includes", { $includes: [{ n: 2 }] }, [{ n: 1 }, { n: 2, m: 3 }]);
  rejects("does not include", { $includes: [{ n: 3 }] }, [{ n: 1 }]);
  rejects("excluded", { $excludes: ["x"] }, ["x"]);
  accepts("one of", { $oneOf: ["a", "b"] }, "b");
  rejects("none of", { $oneOf: ["a", "b"] }, "c");
  rejects("must be absent", { a: { $absent: true } }, { a: 1 });
  accepts("an optional element may be missing", [{ $maybe: 1 }, 2], [2]);
  accepts("an optional element may be there", [{ $maybe: 1 }, 2], [1, 2]);
  rejects("an optional element comes once", [{ $maybe: 1 }, 2], [1, 1, 2]);
  accepts("several elements", [{ $several: 1 }, 2], [1, 1, 2]);
  rejects("several of one kind only", [{ $several: 1 }, 2], [1, 3, 2]);
  assert.throws(() => compare({ $unknown: 1 }, 1));
}

/** A turn with two parallel tool calls, and what may and may not be changed in it. */
function checkProjection() {
  const turn = sampleTurn();
  const expected = sampleExpected();
  const verdict = (messages, extra) => {
    const observation = { timeline: timelineOf(messages), notes: {}, requests: [], ...extra };
    return compareExpected(expected, project(observation, { scenario: {}, directories: DIRECTORIES }))
      .differences;
  };
  const passes = (name, messages, extra) =>
    check(`${name}: ${verdict(messages, extra)}`, verdict(messages, extra).length === 0);
  const fails = (name, messages, extra) => check(name, verdict(messages, extra).length > 0);
  const edited = (index, edit) =>
    turn.map((message, at) => (at === index ? edit(structuredClone(message)) : message));
  const moved = (from, to) => {
    const copy = turn.filter((_, at) => at !== from);
    copy.splice(to, 0, turn[from]);
    return copy;
  };

  passes("the turn itself", turn);
  passes("results in another order", moved(4, 3));
  passes("a result before the next block of the reply", moved(3, 2));
  passes("optional and unknown messages", [
    { type: "system", subtype: "status" },
    ...turn,
    { type: "something_new" },
  ]);
  passes(
    "more keys",
    edited(1, (message) => ({ ...message, extra: true })),
  );

  for (const [index, { type }] of turn.entries())
    fails(
      `message ${index} (${type}) is missing`,
      turn.filter((_, at) => at !== index),
    );
  fails("an assistant message too much", [
    ...turn.slice(0, 5),
    { ...turn[5], uuid: "u-extra" },
    ...turn.slice(5),
  ]);
  fails("the result comes first", moved(6, 0));
  fails("the answer comes before the tools", moved(5, 1));
  fails(
    "is_error is flipped on a tool result",
    edited(3, (message) => {
      message.message.content[0].is_error = true;
      return message;
    }),
  );
  fails(
    "is_error is flipped on the result",
    edited(6, (message) => ({ ...message, is_error: true })),
  );
  fails(
    "another text",
    edited(5, (message) => {
      message.message.content[0].text = "Something else.";
      return message;
    }),
  );
  fails(
    "another tool input",
    edited(1, (message) => {
      message.message.content[0].input.file_path = "/run/work/other.txt";
      return message;
    }),
  );
  fails(
    "another turn count",
    edited(6, (message) => ({ ...message, num_turns: 2 })),
  );
  fails(
    "another cost",
    edited(6, (message) => ({ ...message, total_cost_usd: 0.0013 })),
  );
  fails(
    "a result for an unknown call",
    edited(3, (message) => {
      message.message.content[0].tool_use_id = "toolu_other";
      return message;
    }),
  );
  fails(
    "the same uuid twice",
    edited(2, (message) => ({ ...message, uuid: turn[1].uuid })),
  );
  fails(
    "no session id",
    edited(1, ({ session_id: _, ...message }) => message),
  );
  fails("another end", turn, { timeline: timelineOf(turn, "threw") });
  fails("a callback that should not be", turn, {
    timeline: [
      {
        kind: "callback",
        callback: "canUseTool",
        tool: "Read",
        input: {},
        toolUseId: "toolu_1",
        hasSignal: true,
      },
      ...timelineOf(turn),
    ],
  });
  fails("a request that breaks the rules", turn, {
    requests: [{ kind: "message", lane: "main", body: { messages: [] }, violations: ["no model"] }],
  });
}

function timelineOf(messages, how = "done") {
  return [...messages.map((message) => ({ kind: "message", message })), { kind: "end", how }];
}

function sampleTurn() {
  let serial = 0;
  const ids = () => {
    serial += 1;
    return { uuid: `u-${serial}`, session_id: "s-1", parent_tool_use_id: null };
  };
  const assistant = (id, block) => ({
    type: "assistant",
    message: { id, role: "assistant", content: [block] },
    ...ids(),
  });
  const outcome = (id, content) => ({
    type: "user",
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] },
    ...ids(),
  });
  const read = (id, name) => ({
    type: "tool_use",
    id,
    name: "Read",
    input: { file_path: `/run/work/${name}` },
  });
  return [
    {
      type: "system",
      subtype: "init",
      cwd: "/run/work",
      model: "m",
      permissionMode: "default",
      tools: ["Read"],
      ...ids(),
    },
    assistant("msg_1", read("toolu_1", "a.txt")),
    assistant("msg_1", read("toolu_2", "b.txt")),
    outcome("toolu_1", "1\tAAA"),
    outcome("toolu_2", "1\tBBB"),
    assistant("msg_2", { type: "text", text: "Read both." }),
    {
      type: "result",
      subtype: "success",
      is_error: false,
      num_turns: 3,
      result: "Read both.",
      duration_ms: 1,
      duration_api_ms: 1,
      total_cost_usd: 0.0012,
      permission_denials: [],
      usage: { input_tokens: 200, output_tokens: 40 },
      modelUsage: {},
      ...ids(),
    },
  ];
}

function sampleExpected() {
  const read = (id, name) => ({
    type: "assistant",
    content: [{ type: "tool_use", id, name: "Read", input: { file_path: `{{cwd}}/${name}` } }],
  });
  const outcome = (id, part) => ({
    type: "user",
    content: [{ type: "tool_result", tool_use_id: id, is_error: false, text: { $contains: [part] } }],
  });
  return {
    main: [
      { type: "system", subtype: "init", cwd: "{{cwd}}", model: "m" },
      read("toolu_1", "a.txt"),
      read("toolu_2", "b.txt"),
      outcome("toolu_1", "AAA"),
      outcome("toolu_2", "BBB"),
      { type: "assistant", content: [{ type: "text", text: "Read both." }] },
      {
        type: "result",
        subtype: "success",
        is_error: false,
        num_turns: 3,
        result: "Read both.",
        total_cost_usd: 0.0012,
      },
    ],
    callbacks: [],
    ends: ["done"],
  };
}

function checkRequestRules() {
  const headers = { "anthropic-version": "2023-06-01", "x-api-key": "k" };
  const user = (content) => ({ role: "user", content });
  const call = { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "Read", input: {} }] };
  const answer = user([{ type: "tool_result", tool_use_id: "t1", content: "x" }]);
  const broken = (messages, more) =>
    findViolations({ model: "m", max_tokens: 1000, messages, ...more }, headers).length > 0;

  check("a good request", !broken([user("hi"), call, answer]));
  check("neighbouring user messages count as one", !broken([user("hi"), call, answer, user("and")]));
  check("a call without a result", broken([user("hi"), call, user("and")]));
  check("a result without a call", broken([user("hi"), answer]));
  check("two results for one call", broken([user("hi"), call, answer, answer]));
  check("the assistant begins", broken([call, answer]));
  check("an empty text", broken([user([{ type: "text", text: "" }])]));
  check("no messages", broken([]));
  check("a tool name twice", broken([user("hi")], { tools: [{ name: "a" }, { name: "a" }] }));
}

async function checkFiles() {
  const scenarios = await loadScenarios(HERE);
  const names = scenarios.map(({ family, name }) => `${family}/${name}`);
  check("every name is used once", new Set(names).size === names.length);
  for (const { name, family, scenario, expectedFile } of scenarios) {
    check(`${family}/${name} says what it is about`, typeof scenario.about === "string");
    const expected = JSON.parse(fs.readFileSync(expectedFile, "utf8"));
    check(
      `${family}/${name}: variants only where a quirk is noted`,
      !expected.variants || typeof scenario.quirk === "string",
    );
    for (const pattern of expected.variants ?? [expected])
      check(`${family}/${name} expects messages`, pattern.main?.length > 0 || pattern.ends);
  }
}

/** Runs one scenario with the toy SDK, sound and faulty. */
function checkRunner() {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "conformance-selftest-"));
  const toy = pathToFileURL(path.join(HERE, "fixtures", "toy-sdk.mjs"));
  const run = (fault) => {
    const file = path.join(directory, `${fault}.mjs`);
    fs.writeFileSync(
      file,
      `import { makeQuery } from '${toy}';\nexport const query = makeQuery('${fault}');\n`,
    );
    const command = [path.join(HERE, "run.mjs"), "--sdk", file, "--only", "^core/plain-text$"];
    const { stdout, status } = spawnSync(process.execPath, command, { encoding: "utf8" });
    return { last: stdout.trim().split("\n").at(-1), status };
  };
  try {
    assert.deepEqual(run("none"), { last: "1 passed, 0 failed", status: 0 });
    for (const fault of [
      "drop-init",
      "drop-result",
      "flip-error",
      "wrong-text",
      "wrong-cost",
      "two-requests",
      "throw",
    ]) {
      assert.deepEqual(run(fault), { last: "0 passed, 1 failed", status: 1 }, fault);
      checks += 1;
    }
  } finally {
    fs.rmSync(directory, { recursive: true });
  }
}
