import { expect, test } from "vitest";
import { sayLeftOut } from "./sessions.ts";

const nothing = { rules: [], folders: [], answers: 0, lifted: 0 };

test("who imports a session hears what of its rights is left out, a few by name", () => {
  const rules = ["Bash(a:*)", "Bash(b:*)", "Read(\u202e)", "c", "d", "e", "f"];
  expect(sayLeftOut({ rules, folders: ["/etc"], answers: 1, lifted: 2 })).toMatchInlineSnapshot(`
    [
      "What was allowed there is asked about here; left out: Bash(a:*), Bash(b:*), Read(⟨U+202E⟩), c, d, 2 more.",
      "Folders that it had beside its own are left out: /etc.",
      "1 call of its unfinished turn had been allowed; here that counts as refused.",
      "Rules that deny or ask were taken away in it; here they stay until you take them away.",
    ]
  `);
});

test("where nothing was left out, nothing is said", () => {
  expect(sayLeftOut(nothing)).toEqual([]);
});
