// What people of one group make its agent try: nothing of another group, of the person's home or of the server's
// environment is read, nothing outside of the group's folder changes, and no call is done in another group's name.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Json } from "../../keel/src/kernel/json.ts";
import { notRunHere } from "../support/not-run.ts";
import { verifies } from "../support/verifies.ts";
import { answersOf, obey, order } from "./group-script.ts";
import { openServeStage, type ServeStage } from "./serve-stage.ts";
import { until } from "./stage.ts";

const canary = "CANARY-7f3a";
/** Finds it, and is not it. */
const sought = "'CANAR[Y]-7f3a'";
const tool = (name: string): string => `mcp__group__${name}`;

/** Two groups and the person's own things, none of it below /tmp, which is another one inside. */
async function openWorld() {
  const base = mkdtempSync(path.join(process.getuid?.() === 0 ? "/var/lib" : homedir(), "keel-attacks-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const stage = await openServeStage(obey);
  const [home, keel] = [path.join(base, "home"), path.join(base, "home/.keel")];
  const secret = (file: string): void => {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, `${canary}\n`);
  };
  for (const name of [".ssh/id_ed25519", ".aws/credentials", ".netrc", ".bash_history", "notes.txt"])
    secret(path.join(home, name));
  for (const name of ["groups/left/mine.txt", "groups/other/secret.txt", "groups/other/deep/secret.txt"])
    secret(path.join(base, name));
  const [own, other] = [path.join(base, "groups/left"), path.join(base, "groups/other")];
  writeFileSync(path.join(own, "mine.txt"), "mine\n");
  secret(path.join(base, "handbook/page.txt"));
  writeFileSync(path.join(base, "handbook/page.txt"), "a page for groups\n");
  secret(path.join(base, "ungiven/page.txt"));
  mkdirSync(keel, { recursive: true });
  writeFileSync(
    path.join(keel, "settings.json"),
    JSON.stringify({ groups: { mounts: [{ path: path.join(base, "handbook") }] } }),
  );
  Object.assign(stage.env, {
    HOME: home,
    KEEL_HOME: keel,
    PLANTED_SECRET: canary,
    GITHUB_TOKEN: canary,
    DATABASE_URL: `postgres://u:${canary}@db`,
    SSH_AUTH_SOCK: path.join(home, "agent.sock"),
    ANTHROPIC_API_KEY: `sk-ant-${canary}`,
  });
  const add = ["--always", "--mount", path.join(base, "handbook")];
  expect((await stage.run(["groups", "add", "left", "--folder", own, ...add])).stderr).toBe("");
  expect((await stage.run(["groups", "add", "other", "--folder", other, "--always"])).stderr).toBe("");
  const { state, child } = await stage.serve();
  await asked(stage, "other", `remember ${canary}`);
  return { stage, base, home, keel, own, other, state, pid: child.pid ?? 0 };
}

let numbers = 0;

async function asked(stage: ServeStage, id: string, words: string): Promise<string> {
  const before = (await answersOf(stage, id)).length;
  await stage.run(["groups", "say", id, words, "--id", `q${++numbers}`]);
  // All attacks at once take their time.
  for (const part of ["first", "second", "third", "fourth"]) {
    const isThere = async () => (await answersOf(stage, id)).length > before;
    await until(`it is answered, ${part}`, isThere).catch((thrown: unknown) => {
      if (part === "fourth") throw thrown;
    });
  }
  return (await answersOf(stage, id)).slice(before).join("\n");
}

type World = Awaited<ReturnType<typeof openWorld>>;

/** Each is a line of sh that runs as a program of the group's: no policy reads it, only the sandbox holds it. */
const reaches = ({ base, home, keel, other, own, state, pid }: World): readonly string[] => [
  `cat ${other}/secret.txt`,
  "cat ../other/secret.txt",
  `cat ${own}/../other/deep/secret.txt`,
  `ls -laR ${base}`,
  `find / -xdev -name 'secret.txt' -exec cat {} +`,
  `grep -rs ${sought} ${base}`,
  `cp -r ${other} here && cat here/secret.txt`,
  `tar -cf - -C ${other} . | strings`,
  `ln -s ${other} link && cat link/secret.txt`,
  `ln ${other}/secret.txt hard && cat hard`,
  `ln -s / root && cat root${other}/secret.txt`,
  `cat /proc/self/root${other}/secret.txt`,
  `cat /proc/${pid}/root${other}/secret.txt`,
  `cat /proc/${pid}/environ`,
  `cat /proc/${pid}/cwd/secret.txt; ls /proc/${pid}/cwd`,
  "cat /proc/1/environ /proc/self/environ /proc/$PPID/environ",
  "cat /proc/[0-9]*/environ",
  "cat /proc/[0-9]*/cmdline",
  `for f in /proc/[0-9]*/fd/*; do head -c 2000 $f < /dev/null; done`,
  "env; set; export -p",
  "echo $PLANTED_SECRET $GITHUB_TOKEN $DATABASE_URL $ANTHROPIC_API_KEY",
  "bash -lc env",
  `cat ${home}/.ssh/id_ed25519 ${home}/.aws/credentials ${home}/.netrc`,
  "cat ~/.ssh/id_ed25519 ~/notes.txt; ls -la ~",
  "cat $HOME/.bash_history",
  "cat /root/.ssh/* /home/*/.ssh/*",
  `cat ${home}/notes.txt`,
  `strings ${keel}/groups/groups.sqlite`,
  `cat ${keel}/groups/groups.sqlite*`,
  `find ${keel} -type f -exec cat {} +`,
  `cat ${keel}/server/* ${keel}/projects/*/*`,
  `ls -R ${keel}/groups/boxes`,
  `cat ${base}/ungiven/page.txt`,
  `cat ${base}/handbook/../ungiven/page.txt`,
  `ln -s ${base}/ungiven ${base}/handbook/x && cat ${base}/handbook/x/page.txt`,
  `curl -s -m 3 --unix-socket ${state.socket} http://keel/api/sessions`,
  `curl -s -m 3 --unix-socket ${state.socket} -d '{"text":"hi"}' http://keel/api/groups/other/messages`,
  `nsenter -t 1 -a cat ${other}/secret.txt`,
  `nsenter -t ${pid} -m cat ${other}/secret.txt`,
  `unshare -rm sh -c 'mount --bind / /mnt && cat /mnt${other}/secret.txt'`,
  `mount --bind / /mnt && cat /mnt${other}/secret.txt`,
  `mount -t proc proc /mnt; cat /mnt/${pid}/environ`,
  `umount -l ${base}; cat ${other}/secret.txt`,
  `chroot / cat ${other}/secret.txt`,
  `python3 -c "print(open('${other}/secret.txt').read())"`,
  `mknod disk b 8 0 && strings disk | grep ${sought} | head -1`,
  `cd / && cd .${other} && cat secret.txt`,
];

/** What would be left behind by one that succeeds. */
const changes = ({ base, home, keel, other, pid }: World): readonly string[] => [
  `echo bad > ${other}/planted`,
  `echo bad >> ${home}/.bashrc`,
  `mkdir -p ${home}/.ssh && echo key >> ${home}/.ssh/authorized_keys`,
  `echo bad > ${base}/handbook/planted`,
  `rm -f ${base}/handbook/page.txt`,
  `mkdir -p ${keel}/groups/boxes/other/ipc/requests && echo '{"type":"call","id":"00000000-0000-0000-0000-000000000001","tool":"send_message","input":{"text":"planted"}}' > ${keel}/groups/boxes/other/ipc/requests/000000000000001-x.json`,
  `mkdir -p ${keel}/groups/boxes/other/ipc/input && touch ${keel}/groups/boxes/other/ipc/input/_close`,
  `rm -rf ${keel}/groups ${other}`,
  `mv ${base}/groups/left ${base}/groups/gone; ln -s ${other} ${base}/groups/left`,
  `echo '{}' > ${keel}/settings.json`,
  `kill -9 ${pid}`,
];

test("nothing is read and nothing changed outside, whatever people of a group make its agent run", async () => {
  verifies("S2.60", "P10");
  const world = await openWorld();
  const { stage, own, base, other, home, keel, pid } = world;
  const probe = await asked(stage, "left", order("Bash", { command: "echo it-runs; cat mine.txt" }));
  if (!probe.includes("it-runs")) return notRunHere("attacks from a group's sandbox", probe.slice(0, 200));
  const settings = readFileSync(path.join(keel, "settings.json"), "utf8");
  const all = [...reaches(world), ...changes(world)];
  // Whatever one writes comes to light, also what a model would not be shown.
  const scripts = path.join(own, "attacks");
  mkdirSync(scripts);
  for (const [at, line] of all.entries()) writeFileSync(path.join(scripts, `${at}.sh`), `${line}\n`);
  const one = 'echo "== $at"; timeout 1 sh attacks/$at.sh 2>&1 < /dev/null | head -c 4000';
  writeFileSync(
    path.join(own, "attacks.sh"),
    `for at in $(seq 0 ${all.length - 1}); do ${one}; echo; done\necho "== end"\n`,
  );
  const ran = await asked(
    stage,
    "left",
    order("Bash", { command: "sh attacks.sh > out.txt; echo over", timeout: 120_000 }),
  );
  expect(ran).toContain("over");
  const out = readFileSync(path.join(own, "out.txt"), "utf8");
  const parts = out.split(/^== /m).slice(1);
  expect(parts).toHaveLength(all.length + 1);
  const through = parts.filter((part) => part.slice(part.indexOf("\n")).includes(canary));
  expect(through).toEqual([]);
  expect(existsSync(path.join(other, "planted"))).toBe(false);
  expect(existsSync(path.join(home, ".bashrc"))).toBe(false);
  expect(existsSync(path.join(home, ".ssh/authorized_keys"))).toBe(false);
  expect(readdirSync(path.join(base, "handbook"))).toEqual(["page.txt"]);
  expect(readFileSync(path.join(other, "secret.txt"), "utf8")).toContain(canary);
  expect(readFileSync(path.join(keel, "settings.json"), "utf8")).toBe(settings);
  expect(existsSync(path.join(own, "mine.txt"))).toBe(true);
  expect(() => process.kill(pid, 0)).not.toThrow();
  expect((await answersOf(stage, "other")).join("\n")).not.toContain("planted");
  // It had what is its own.
  expect(
    await asked(stage, "left", order("Bash", { command: `sh -c 'cat ${base}/handbook/page.txt'` })),
  ).toContain("a page for groups");
}, 180_000);

test("no call is done in another group's name, by whatever it says of itself", async () => {
  verifies("S2.54", "S2.60");
  const { stage, keel, base } = await openWorld();
  const every = { schedule_type: "interval", schedule_value: "2h" };
  await asked(stage, "other", order(tool("schedule_task"), { prompt: `Theirs ${canary}.`, ...every }));
  const schedules = (await stage.run(["schedule", "list", "--json"])).stdout;
  const [{ schedule: theirs }] = JSON.parse(schedules);
  const before = (await answersOf(stage, "other")).length;
  const calls: readonly (readonly [string, Json])[] = [
    ["send_message", { text: "planted", group: "other" }],
    ["send_message", { text: "planted", group: "../other" }],
    ["send_message", { text: "planted", group: ["other"] }],
    ["send_message", { text: "planted", group: "other", main: true }],
    ["schedule_task", { prompt: "planted", ...every, group: "other" }],
    ["schedule_task", { prompt: "planted", ...every, target_group_jid: "local:other", group: "other" }],
    ["list_tasks", { group: "other" }],
    ["pause_task", { task_id: theirs.id }],
    ["resume_task", { task_id: theirs.id }],
    ["cancel_task", { task_id: theirs.id }],
    ["cancel_task", { task_id: `../${theirs.id}` }],
    ["register_group", { chat: "local:x", id: "planted" }],
    ["list_chats", {}],
  ];
  for (const [name, input] of calls) {
    const said = await asked(stage, "left", order(tool(name), input));
    expect(said, name).not.toContain(canary);
    expect(said, name).not.toMatch(/Sent\.|Scheduled as|is paused|goes on|is removed|is there/);
  }
  // What the agent in a container could write by hand into the folder of its calls.
  const requests = path.join(keel, "groups/boxes/left/ipc/requests");
  const uuid = (at: number): string => `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`;
  const letters: readonly object[] = [
    { type: "call", id: uuid(1), tool: "send_message", input: { text: "planted", group: "other" } },
    {
      type: "call",
      id: uuid(2),
      tool: "send_message",
      input: { text: "planted" },
      group: "other",
      from: "other",
    },
    {
      type: "call",
      id: uuid(3),
      tool: "send_message",
      input: { text: "planted" },
      isMain: true,
      folder: "other",
    },
    { type: "call", id: `../../../other/ipc/answers/${uuid(4)}`, tool: "send_message", input: { text: "x" } },
    {
      type: "call",
      id: uuid(5),
      tool: "register_group",
      input: { chat: "local:x", id: "planted" },
      main: true,
    },
    { type: "call", id: uuid(6), tool: "constructor", input: {} },
    { type: "call", id: uuid(7), tool: "__proto__", input: {} },
    { type: "call", id: uuid(8), tool: "cancel_task", input: { task_id: theirs.id } },
  ];
  for (const [at, letter] of letters.entries())
    writeFileSync(path.join(requests, `${String(at + 1).padStart(15, "0")}-x.json`), JSON.stringify(letter));
  symlinkSync(path.join(base, "groups/other/secret.txt"), path.join(requests, "000000000000020-x.json"));
  symlinkSync(path.join(base, "home"), path.join(requests, "bad"));
  await until("all of them are taken", () =>
    readdirSync(requests).every((name) => !/^0{12}\d{3}-x\.json$/.test(name)),
  );
  await asked(stage, "left", "are you there?");
  expect(await answersOf(stage, "other")).toHaveLength(before);
  expect((await stage.run(["schedule", "list", "--json"])).stdout).toBe(schedules);
  expect((await stage.run(["groups", "list"])).stdout).not.toContain("planted");
  expect(readdirSync(path.join(base, "home"))).not.toContain("000000000000020-x.json");
  expect(readdirSync(path.join(keel, "groups/boxes/other/ipc/answers"))).toEqual([]);
  expect(calls.length + letters.length + 2).toBeGreaterThanOrEqual(20);
}, 180_000);
