/** The rehearsal: a small project with a mistake in it, and a script that mends it. It needs no key and no network. */
import { reply, toolUse } from "./reply.ts";
import type { Script } from "./script.ts";
import { fillPlaceholders } from "./script-file.ts";

/** The name under which the rehearsal model is picked and listed. */
export const rehearsalModel = "rehearsal";

const passes = "The greeting is right.";
const wrong = "Helo, ";
const right = "Hello, ";

/** What stands in the temporary folder. Plain CommonJS, so that any Node runs it. */
export const rehearsalFiles: Readonly<Record<string, string>> = {
  "greeting.js": [
    "// Greets somebody by name.",
    "function greeting(name) {",
    `  return "${wrong}" + name + "!";`,
    "}",
    "",
    "module.exports = { greeting };",
    "",
  ].join("\n"),
  "check.js": [
    "// Fails while the greeting is misspelt.",
    'const { greeting } = require("./greeting.js");',
    "",
    'const found = greeting("Ada");',
    `const wanted = "${right}Ada!";`,
    "if (found === wanted) {",
    `  console.log("${passes}");`,
    "} else {",
    '  console.error("Wanted: " + wanted + "\\nFound:  " + found);',
    "  process.exitCode = 1;",
    "}",
    "",
  ].join("\n"),
};

/** What a person would ask here. */
export const rehearsalPrompt = "The check fails. Please mend the greeting and run the check.";

/** Reads, edits, runs one command (which needs a permission) and says what came of it. */
export function rehearsalScript(cwd: string): Script {
  return fillPlaceholders(written, { cwd });
}

const written: Script = {
  models: [rehearsalModel],
  replies: [
    reply(
      "I am the rehearsal model: a script that plays a model, so that you can see Keel at work. I read the file first.",
      toolUse("Read", { file_path: "{{cwd}}/greeting.js" }),
    ),
    reply(
      "The greeting has a typo: one l is missing. I put it right.",
      toolUse("Edit", { file_path: "{{cwd}}/greeting.js", old_string: wrong, new_string: right }),
    ),
    reply(
      "Now the check. It is a command, so you are asked before it runs.",
      toolUse("Bash", { command: "node check.js", description: "Run the check of the greeting" }),
    ),
  ],
  rules: [
    {
      when: { toolResultContains: passes },
      reply: reply(
        'Done: `greeting.js` said "Helo" and now says "Hello", and `node check.js` passes. I am only a rehearsal; with a key or a local model server a real model does this for your own work.',
      ),
    },
  ],
  // Also when the command was refused or failed: it must be true in each case.
  otherwise: reply(
    "My script ends here. `node check.js` tells whether the greeting is right. I am only a rehearsal; with a key or a local model server a real model goes on from here.",
  ),
};
