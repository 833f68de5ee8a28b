// Breaks of the loop: what comes next, how a call runs, what an input is.
import { breaksOf } from "./break.ts";

const session = "keel/src/engine/session.test.ts";
const steps = "keel/src/core/next-step.test.ts";
const recovery = "keel/src/engine/recovery.test.ts";

export const coreBreaks = [
  ...breaksOf("keel/src/core/next-step.ts", [
    [
      "S4.24",
      steps,
      `["the reply ends the turn", (f) => f.stop !== undefined`,
      `["the reply ends the turn", (f) => f.stop === "pause"`,
    ],
    ["S4.25", steps, "return turn.requests < limits.maxTurns;", "return turn.requests <= limits.maxTurns;"],
    [
      "S4.26",
      steps,
      `f.failure.purpose === "turn" && !f.turn.compactedForLength && `,
      `f.failure.purpose === "turn" && `,
    ],
    [
      "S4.27",
      steps,
      "f.turn.recoveries.output < f.limits.maxOutputRecoveries",
      "f.turn.recoveries.output <= f.limits.maxOutputRecoveries",
    ],
    [
      "S4.28",
      recovery,
      "return state.contextTokens >= limits.compactAtTokens;",
      "return state.contextTokens >= 2 * limits.compactAtTokens;",
    ],
    [
      "S4.29",
      steps,
      "limits.fallbackModels.slice(turn.fallbacks)",
      "limits.fallbackModels.slice(turn.fallbacks + 1)",
    ],
    [
      "S4.30",
      recovery,
      "return failure.retryable && turn.failures <= ",
      "return turn.failures < 2 && turn.failures <= ",
    ],
  ]),
  ...breaksOf("keel/src/engine/calls/call.ts", [
    ["S4.3", session, "if (complaint !== undefined) return", "if (complaint === null) return"],
    [
      "S4.16",
      session,
      ": await hooks.afterTool({ ...ended, data: outcome.data }, told);",
      ": { content: undefined, data: undefined, context: [], stop: undefined };",
    ],
    [
      "S4.17",
      "keel/src/engine/interrupt.test.ts",
      "await bound(after.content ?? content, {",
      "await bound(content, {",
    ],
    ["S4.31", session, "    facts,\n  });\n  await work.saved();", "    facts,\n  });"],
    [
      "S4.82",
      session,
      "return finish(refusal(whyNoTool(work, call.use.name), { invalid: true }));",
      'return finish(refusal("", { invalid: true }));',
    ],
  ]),
  ...breaksOf("keel/src/engine/calls/bound.ts", [
    ["S4.5", session, "if (whole.length <= maxCharacters) return", "if (whole.length >= 0) return"],
  ]),
  ...breaksOf("keel/src/engine/steps/run-tools.ts", [
    ["S4.18", session, "while (jobs[next]?.concurrent) next++;", "while (next < jobs.length) next++;"],
  ]),
  ...breaksOf("keel/src/engine/steps/ask-model.ts", [
    [
      "S4.23",
      session,
      "    ...(sums ? { sums } : {}),\n  });\n  await work.saved();",
      "    ...(sums ? { sums } : {}),\n  });",
    ],
  ]),
  ...breaksOf("keel/src/engine/inputs.ts", [
    ["S4.22", session, "const duplicate = isKnown(id);", "const duplicate = !isKnown(id);"],
  ]),
  ...breaksOf("keel/src/core/toolbox.ts", [
    ["S4.15", "keel/src/core/toolbox.test.ts", ".filter(({ name }) => !own.has(name))", ""],
  ]),
];
