// Breaks of what may run: rules, modes, refusals.
import { breaksOf } from "./break.ts";

export const policyBreaks = [
  ...breaksOf("keel/src/policy/decide.ts", [
    [
      "S4.44",
      "keel/src/policy/decide.test.ts",
      `plan: { editing: "deny", other: "deny", open: "ask"`,
      `plan: { editing: "allow", other: "open", open: "ask"`,
    ],
    [
      "S4.46",
      "test/deny-property.test.ts",
      `if (denied?.touch === "yes")`,
      `if (denied?.touch === "yes" && facts.mode !== "acceptEdits")`,
    ],
    [
      "G29",
      "test/deny-property.test.ts",
      `if (denied?.touch === "yes")`,
      `if (denied?.touch === "yes" && facts.mode !== "bypassPermissions")`,
    ],
    [
      "G33",
      "keel/src/policy/decide.test.ts",
      `if (row.other === "allow" && !guarded)`,
      `if (row.other === "allow")`,
    ],
  ]),
  ...breaksOf("keel/src/policy/refusals.ts", [
    [
      "S4.20",
      "keel/src/policy/refusals.test.ts",
      `return fresh.has(mark) ? "just now"`,
      `return fresh.has(tool) ? "just now"`,
    ],
  ]),
];
