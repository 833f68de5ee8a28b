// `npm run test:long -- SUITE [--seed N] [--count N] [--share I/N] [-t NAME] [--allow-not-run]`: one suite at its full
// count, or at another; with a share only the I-th of N parts of it, so that a full count may be made of several runs; with
// a name only the tests that have it in theirs.
// A suite is test/long/SUITE.test.ts, or a suite of `npm test` that takes its count from test/support/budget.ts, by the
// name of its file or of its count;
// `attacks` is all those in which real folders, commands and repositories try to get past permissions.
import { randomInt } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { printClosing, root, run, runVitest } from "./run.mjs";

const USAGE_EXIT = 64;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string" },
    count: { type: "string" },
    share: { type: "string", default: "1/1" },
    only: { type: "string", short: "t" },
    "allow-not-run": { type: "boolean", default: false },
  },
});
const groups = {
  attacks: [
    "deny-spellings",
    "deny-property",
    "shown-files",
    "planted-folders",
    "planted-repositories",
    "named-programs",
    "hostile-repositories",
    "link-race",
  ],
};
const [suite = ""] = positionals;
const names = Object.hasOwn(groups, suite) ? groups[suite] : [suite];
const files = names.map((name) => places(name).find((place) => existsSync(path.join(root, place))));

if (suite === "" || files.includes(undefined)) {
  const known = globSync("test/{long/,e2e/,}*.test.ts", { cwd: root }).map((name) =>
    path.basename(name, ".test.ts"),
  );
  console.error(`${suite ? `No suite is called ${suite}. ` : ""}Use: npm run test:long -- SUITE`);
  console.error(`Suites: ${[...Object.keys(groups), ...new Set(known)].sort().join(" ")}`);
  process.exit(USAGE_EXIT);
}

const [, part, parts] = /^(\d+)\/(\d+)$/.exec(values.share) ?? [];
if (part === undefined || Number(part) < 1 || Number(part) > Number(parts)) {
  console.error("A share is one of several parts, such as 3/20.");
  process.exit(USAGE_EXIT);
}

const built = await run(process.execPath, ["scripts/build.mjs"]);
if (built !== 0) process.exit(built);

const seed = values.seed ?? String(randomInt(2 ** 31));
console.log(`suite ${suite}: seed ${seed}, share ${values.share}`);
const chosen = values.only === undefined ? [] : ["-t", values.only];
const outcome = await runVitest([...files, ...chosen], {
  env: { KEEL_TEST_COUNTS: values.count ?? "full", KEEL_TEST_SEED: seed, KEEL_TEST_SHARE: values.share },
});

const failures = outcome.report ? outcome.report.failed : "unknown";
console.log(
  `suite ${suite}: seed ${seed}, share ${values.share}, count ${outcome.counts.join(", ") || "as written"}, failures ${failures}`,
);
process.exitCode = outcome.code;
if (outcome.notRun.length > 0 && !values["allow-not-run"]) {
  console.error("The long run fails because a part of it could not run; --allow-not-run accepts that.");
  process.exitCode ||= 1;
}
printClosing(outcome);

function places(name) {
  return [`test/long/${name}.test.ts`, `test/e2e/${name}.test.ts`, `test/${name}.test.ts`, ...counting(name)];
}

/** A count may be named by itself, wherever the tests stand that repeat so often. */
function counting(name) {
  return globSync("{test,keel/src}/**/*.test.ts", { cwd: root }).filter((file) => {
    const source = readFileSync(path.join(root, file), "utf8");
    return ["countOf", "partOf"].some((taking) => source.includes(`${taking}("${name}"`));
  });
}
