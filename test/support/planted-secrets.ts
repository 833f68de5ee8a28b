// Thirty secrets, and a session into which they come by every way: a person, files, instructions, commands, edits, thoughts,
// agents and answers.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { agree, say, scriptedHome } from "./scripted-home.ts";

const letters = (from: number, length: number): string =>
  Array.from({ length }, (_, at) => "qWx7Zk2Lp9Vb4Ns8Tf3Hg6Jd"[(from * 7 + at * 5) % 24]).join("");

/** Thirty secrets: those that Keel knows from the environment first, then those that look like one, by many shapes. */
const known = {
  DEPLOY_TOKEN: `deploy-${letters(1, 18)}`,
  DATABASE_PASSWORD: `p@ss/${letters(2, 14)}+"x`,
  MY_SECRET: `plain words nobody else says ${letters(3, 6)}`,
  SIGNING_KEY: `line one ${letters(4, 10)}\nline two ${letters(5, 10)}`,
  SERVICE_CREDENTIAL: `ümläut-${letters(6, 12)}`,
};
const shaped: readonly string[] = [
  `sk-ant-api03-${letters(7, 24)}`,
  `sk-proj-${letters(8, 24)}`,
  `sk_live_${letters(9, 24)}`,
  `rk_test_${letters(10, 20)}`,
  `lin_api_${letters(11, 20)}`,
  `eyJhbGciOiJIUzI1NiJ9.${letters(12, 20)}.${letters(13, 20)}`,
  `AKIA${letters(14, 16).toUpperCase()}`,
  `ASIA${letters(15, 16).toUpperCase()}`,
  `ghp_${letters(16, 30)}`,
  `gho_${letters(17, 30)}`,
  `github_pat_${letters(18, 30)}`,
  `glpat-${letters(19, 20)}`,
  `npm_${letters(20, 30)}`,
  `hf_${letters(21, 30)}`,
  `xoxb-${letters(22, 24)}`,
  `AIza${letters(23, 32)}`,
];
/** What stands around them says what they are; alone they look like any word. */
const told: readonly (readonly [secret: string, words: string])[] = [
  [`b${letters(24, 22)}`, `authorization: Bearer b${letters(24, 22)}`],
  [`w${letters(25, 12)}`, `postgres://alice:w${letters(25, 12)}@db.example/main`],
  [`x${letters(26, 14)}`, `password: x${letters(26, 14)}`],
  [`y${letters(27, 14)}`, `{"client_secret": "y${letters(27, 14)}"}`],
  [`z${letters(28, 14)}`, `STRIPE_API_KEY=z${letters(28, 14)}`],
  [`c${letters(29, 14)}`, `db_passwd='c${letters(29, 14)}'`],
  [`d${letters(30, 14)}`, `access_key: d${letters(30, 14)}`],
  [`e${letters(31, 14)}`, `passphrase = "e${letters(31, 14)}"`],
  [
    `MII${letters(32, 40)}`,
    `-----BEGIN RSA PRIVATE KEY-----\nMII${letters(32, 40)}\n${letters(33, 40)}\n-----END RSA PRIVATE KEY-----`,
  ],
];
export const planted = [...Object.values(known), ...shaped, ...told.map(([secret]) => secret)];
const words = [...Object.values(known), ...shaped, ...told.map(([, each]) => each)];

/** As it may stand somewhere. */
export const spellingsOf = (secret: string): string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  JSON.stringify(JSON.stringify(secret)).slice(3, -3),
  Buffer.from(secret).toString("base64").slice(0, -4),
];

export async function plantedSession(more: { readonly telemetry?: object } = {}) {
  const at = new Map<string, number>();
  const third = (number: number): string => words.filter((_, index) => index % 3 === number).join("\n");
  const stage = await scriptedHome(
    (body) => {
      const said = JSON.stringify(body);
      const lane = said.includes("Task of ants") && !said.includes("message 1") ? "ants" : "main";
      const place = at.get(lane) ?? 0;
      at.set(lane, place + 1);
      if (lane === "ants")
        return (
          [reply("", toolUse("Read", { file_path: "keys.txt" })), reply(`Seen:\n${third(1)}`)][place] ??
          reply("")
        );
      const start = { description: "Look", prompt: `Task of ants: ${third(2)}`, run_in_background: false };
      const steps = [
        reply(`I think of ${words[6]}`, toolUse("Bash", { command: "cat keys.txt" })),
        reply("", toolUse("Read", { file_path: "keys.txt" })),
        reply(
          "",
          toolUse("Edit", { file_path: "keys.txt", old_string: "first", new_string: `second ${words[8]}` }),
        ),
        reply("", toolUse("Write", { file_path: "more.txt", content: third(0) })),
        reply("", toolUse("Agent", start)),
        reply(`It said ${told.map(([secret]) => secret).join(" and ")}.`),
      ];
      return steps[place] ?? reply("Done.");
    },
    {
      settings: {
        permissions: { allow: ["Bash"], defaultMode: "acceptEdits" },
        limits: { maxTurns: 77 },
        ...more,
      },
      env: known,
    },
  );
  writeFileSync(path.join(stage.cwd, "keys.txt"), `first\n${words.join("\n")}\n`);
  writeFileSync(path.join(stage.cwd, "AGENTS.md"), `Use ${words.join(" or ")}.\n`);
  const session = await stage.home.open({ ...stage.options, checkpoints: "on" });
  agree(session);
  for (const message of [`message 1 ${third(1)}`, "message 2"]) {
    await say(session, message);
    await session.idle();
  }
  await session.close("ended");
  return { ...stage, id: session.id };
}
