/** The skills that come with Keel, in our own words. A skill of the same name from a folder takes the place of one. */
import type { PromptFile, PromptText } from "../../config/definitions/library-files.ts";

type Bundled = Pick<PromptFile, "name" | "description" | "argumentHint"> & {
  readonly body: string;
  readonly allow?: readonly string[];
};

const skills: readonly Bundled[] = [
  {
    name: "commit",
    description: "Commit the changes of the working tree, in the style of the repository.",
    argumentHint: "[what to commit]",
    allow: ["Bash(git status:*)", "Bash(git diff:*)", "Bash(git log:*)"],
    body: `Make one commit, or several if the changes are about different things.

1. Look: \`git status --short\`, \`git diff HEAD\`, \`git log --oneline -10\`. Read new files too.
2. Decide what belongs together. Leave out what looks like a secret, a build result or somebody else's unfinished work, and say so.
3. Stage by naming paths; never with \`git add -A\`.
4. Write the message in the style of the last ten: same language, tense, prefix and length. The first line says what changed, the body why, if that is not obvious.
5. Commit. If a hook of the repository refuses, fix what it complains about and commit again; do not bypass it.
6. End with \`git status --short\` and list the commits you made. Do not push unless asked to.

$ARGUMENTS`,
  },
  {
    name: "review",
    description: "Review changes for defects: of the working tree, a branch, a commit or a pull request.",
    argumentHint: "[branch, commit, pull request or paths]",
    allow: ["Bash(git status:*)", "Bash(git diff:*)", "Bash(git log:*)", "Bash(git show:*)"],
    body: `Review what was named; if nothing was, the changes of the working tree, and if there are none, the newest commit. Change nothing.

1. Get the whole change and read around it: callers, tests, and what the code was before.
2. Look for what is wrong, in this order: wrong results, lost data, security, races and failures that nobody handles, broken interfaces, missing tests, and last what makes the code hard to read.
3. Prove each finding: name the input or the order of events that leads to it. Run a test where that is quick. Mark what you cannot prove as a suspicion.
4. Report the findings, the worst first, each with file and line, what happens, and how to fix it in a sentence. If there are none, say what you checked.

$ARGUMENTS`,
  },
  {
    name: "debug",
    description: "Find the cause of a failure or wrong behaviour, and fix it.",
    argumentHint: "[what goes wrong]",
    body: `Find the cause before you change anything.

1. Reproduce it with the shortest command or test that shows the failure. If you cannot, say what you tried and what you would need.
2. Read the whole message and the code that it names. Write down what must be true there, and find the first place where it is not: by a smaller input, by bisecting the history (\`git bisect\`), or by a few temporary prints.
3. Explain the cause in one or two sentences that account for everything that was seen. As long as something stays unexplained, go on looking.
4. Fix the cause, not the symptom. Remove temporary prints.
5. Add a test that failed before and passes now, where the project has tests. Run the tests around it.
6. Report the cause, the change and what you ran.

$ARGUMENTS`,
  },
  {
    name: "test-fix",
    description: "Run the project's tests and fix what fails.",
    argumentHint: "[which tests]",
    body: `Make the tests pass by fixing what is wrong.

1. Find out how the project runs its tests: its instructions, its scripts, its CI. Run them, or those that were named.
2. Take the failures one by one, beginning with those that may cause others. Decide each time whether the code or the test is wrong, from what the code is meant to do.
3. Change as little as possible. Never skip or delete a test, weaken what it expects or catch an error to make it pass; if a test is wrong, say why.
4. After each change run the test again, and at the end all of them.
5. Report what failed, why, what you changed, and what still fails.

$ARGUMENTS`,
  },
  {
    name: "explain",
    description: "Explain how a part of the code works, from reading it.",
    argumentHint: "[file, function, feature or question]",
    body: `Explain what was named to somebody who will work on it. Change nothing.

1. Read the code itself, not only its comments: its entry points, what it calls, what its tests say about it.
2. Begin with the purpose in one sentence. Then follow one typical case from its start to its end, with file and line at each step.
3. Say which data it keeps and who may change it, what it relies on, and what surprised you or is easily broken.
4. Where you are not sure, say so and how it could be found out. Add a small text diagram if more than three parts are involved.

$ARGUMENTS`,
  },
];

export const bundledSkills: readonly PromptFile[] = skills.map(
  ({ name, description, argumentHint, body, allow = [] }) => ({
    name,
    description,
    argumentHint,
    forPeople: true,
    forModel: true,
    hidden: false,
    source: "bundled",
    load: async () => ownText(body, allow),
  }),
);

/** A text of ours, as if a file had brought it. */
export const ownText = (body: string, allow: readonly string[] = []): PromptText => ({
  body,
  folder: "",
  trusted: true,
  allow,
  model: undefined,
  fork: undefined,
});
