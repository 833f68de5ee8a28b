import fc from "fast-check";
import { expect, test } from "vitest";
import { byteLength } from "../kernel/text.ts";
import { carefulTraits } from "../ports/define-tool.ts";
import type { PathFacts } from "../ports/workspace.ts";
import type { Claim } from "../protocol/tool.ts";
import { verdictFactsSchema } from "../protocol/verdict-facts.ts";
import { decide, noRules } from "./decide.ts";
import { parseRule } from "./rules.ts";
import { maxFactsBytes, verdictFacts, withHook } from "./verdict-facts.ts";

/** Also with signs that take six bytes as JSON, and very long ones. */
const words = fc
  .tuple(fc.string({ unit: "binary" }), fc.constantFrom(1, 1, 1, 30, 3_000))
  .map(([text, times]) => text.repeat(times));
const claim = fc.record({
  action: fc.constantFrom<Claim["action"]>("read", "write", "execute", "fetch", "use"),
  target: words,
});
const found = fc.record({
  path: words,
  exists: fc.boolean(),
  kind: fc.constant<PathFacts["kind"]>("file"),
  root: fc.option(words, { nil: undefined }),
  links: fc.boolean(),
  passed: fc.array(words, { maxLength: 40 }),
  problem: fc.option(words, { nil: undefined }),
});

test("whatever is claimed and found, the facts fit their bound and the schema, and say how much is missing", () => {
  fc.assert(
    fc.property(
      fc.array(claim, { maxLength: 60 }),
      fc.array(fc.tuple(words, found), { maxLength: 60 }),
      fc.tuple(words, words, words),
      (claims, paths, [cwd, home, said]) => {
        const world = { cwd, home, roots: [cwd, home], isTrusted: false };
        const grounds = { paths: new Map(), found: new Map(), again: [] };
        const found = new Map([[said, paths.map(([path]) => ({ path, isPlain: true }))]]);
        const none = { confined: new Set<string>(), refused: new Map<string, string>() };
        const looked = {
          paths: new Map(paths),
          commands: new Map(),
          world,
          places: [],
          found,
          grounds,
          ...none,
        };
        const deny = parseRule(`Bash(${said || "x"})`, "user");
        const rules = { ...noRules, deny: deny ? [deny] : [] };
        const asked = { tool: "Bash", traits: carefulTraits, claims, mode: "default" as const, rules };
        const decision = { ...decide({ ...asked, ...looked }), because: said };
        const facts = withHook(
          verdictFacts({ ...asked, decision, looked, trust: "untrusted", planFile: said }),
          { verdict: "ask", reason: said },
        );
        expect(byteLength(JSON.stringify(facts))).toBeLessThanOrEqual(maxFactsBytes);
        expect(verdictFactsSchema.safeParse(facts).success).toBe(true);
        expect(facts.claims.length + (facts.moreClaims ?? 0)).toBe(claims.length);
        const targets = new Set(claims.map(({ target }) => target));
        const others = [...looked.paths.keys()].filter((path) => !targets.has(path));
        expect((facts.paths?.length ?? 0) + (facts.morePaths ?? 0)).toBe(others.length);
        // What is not marked is whole.
        for (const [at, { target, cut }] of facts.claims.entries())
          if (!cut) expect(target).toBe(claims[at]?.target);
      },
    ),
  );
});
