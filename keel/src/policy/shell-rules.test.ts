import { beforeAll, describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import type { Grammar } from "../ports/shell.ts";
import { analyse } from "../shell/meaning/analyse.ts";
import { openGrammar } from "../workspace/processes/grammar.ts";
import { explain } from "./explain.ts";
import { judgeCommand } from "./judge-command.ts";
import { parseRule } from "./rules.ts";

let grammar: Grammar;
beforeAll(() => {
  grammar = openGrammar();
});

async function verdict(
  kind: "allow" | "ask" | "deny",
  rules: readonly string[],
  command: string,
  mode: "default" | "bypassPermissions" = "default",
  tool = "Bash",
) {
  const parsed = rules.flatMap((text) => parseRule(text, "user") ?? []);
  const place = { cwd: "/srv/project", home: "/home/dev", roots: ["/srv/project"], trusted: true };
  const lists = { allow: [], ask: [], deny: [], [kind]: parsed };
  return explain(
    { tool, input: { command }, ...place, mode, rules: lists, readOnlyAuto: false },
    await grammar.parse(command),
  );
}

describe("an allow rule", () => {
  test.each([
    // Exactly these words.
    ["Bash(npm run test)", "npm run test", true],
    ["Bash(npm run test)", "npm  run 'test'", true],
    ["Bash(npm run test)", "npm run test x", false],
    ["Bash(npm run 'a b')", 'npm run "a b"', true],
    ["Bash(npm run 'a b')", "npm run a b", false],
    ["Bash(bash -c 'git status')", "bash -c 'git status'", true],
    ["Bash(bash)", "bash", false],
    ["Bash(python3)", "cat x | python3", false],
    ["Bash(find . -exec rm {} \\;)", "find . -exec rm {} \\;", true],
    // First words.
    ["Bash(git status:*)", "git status", true],
    ["Bash(git status:*)", "git status -s src", true],
    ["Bash(git status:*)", "git statusx", false],
    ["Bash(git status:*)", "git -C x status", false],
    ["Bash(git status:*)", "'git status'", false],
    ["Bash(git status:*)", "git status *.ts", false],
    ["Bash(git status:*)", "git status src/*.ts", true],
    ["Bash(git status:*)", "git status $x", false],
    ["Bash(git status:*)", 'git status "$(git status)"', false],
    ["Bash(git status:*)", "git status > out", false],
    ["Bash(git status:*)", "git status 2>&1 >/dev/null", true],
    ["Bash(git status:*)", "git status < in", true],
    ["Bash(git status:*)", "{ git status; } 2>/dev/null", true],
    ["Bash(git status:*)", "for f in a b; do git status; done", true],
    ["Bash(git status:*)", "for PATH in .; do git status; done", false],
    ["Bash(git status:*)", "git() { git status; }; git status", false],
    ["Bash(git status:*)", "cd /tmp && git status", false],
    ["Bash(git status:*)", "git status &", true],
    ["Bash(npm run test:*)", "npm run test:e2e", false],
    ["Bash(npm run test:*)", "npm run test -- -c x", true],
    ["Bash(npm run test:*)", "npm run test --script-shell=./x", false],
    // Globs.
    ["Bash(npm run *)", "npm run", true],
    ["Bash(npm run *)", "npm run lint --fix", true],
    ["Bash(npm run *)", "npm runx", false],
    ["Bash(npm run*)", "npm runx", true],
    ["Bash(* --version)", "cargo --version", true],
    ["Bash(* --version)", "node --version", true],
    ["Bash(* --version)", "node evil.js --version", false],
    ["Bash(* --version)", "./evil --version", false],
    ["Bash(* --version)", "timeout 5 rm --version", true],
    ["Bash(* --version)", "env rm --version", false],
    ["Bash(git * main)", "git push origin main", true],
    ["Bash(git * main)", "git -c a.b=c push main", false],
    ["Bash(echo \\*)", "echo '*'", true],
    ["Bash(echo \\*)", "echo x", false],
    // Options that run programs or write elsewhere.
    ["Bash(find:*)", "find . -name x -print", true],
    ["Bash(find:*)", "find . -execdir ls {} \\;", false],
    ["Bash(find:*)", "find . -fprintf out %p", false],
    ["Bash(sed:*)", "sed -i s/a/b/ f", true],
    ["Bash(sed:*)", "sed -i s/a/b/ /etc/hosts", false],
    ["Bash(sed:*)", "sed s/a/b/e f", false],
    ["Bash(sed:*)", "sed -f x f", false],
    ["Bash(awk:*)", "awk '{print $1}' f", true],
    ["Bash(awk:*)", "awk '{print | \"sh\"}' f", false],
    ["Bash(sort:*)", "sort -o out in", true],
    ["Bash(sort:*)", "sort -o /etc/x in", false],
    ["Bash(sort:*)", "sort --compress-program=x in", false],
    ["Bash(tar:*)", "tar -czf out.tgz src", true],
    ["Bash(tar:*)", "tar xzf a.tgz -C vendor", true],
    ["Bash(tar:*)", "tar xzf a.tgz -C /usr", false],
    ["Bash(tar:*)", "tar xf a --to-command=x", false],
    ["Bash(tar:*)", "tar cf host:a .", false],
    ["Bash(rg:*)", "rg --pre x y", false],
    ["Bash(curl:*)", "curl https://a.org", true],
    ["Bash(curl:*)", "curl -o x https://a.org", true],
    ["Bash(curl:*)", "curl -o /etc/x https://a.org", false],
    ["Bash(curl:*)", "curl -K config", false],
    ["Bash(git:*)", "git push --force", true],
    ["Bash(git:*)", "git clean -fdx", true],
    ["Bash(git:*)", "git -c core.pager=x log", false],
    ["Bash(git:*)", "git rebase -x rm HEAD~1", false],
    ["Bash(git:*)", "git log --outp=/etc/x", false],
    ["Bash(git:*)", "git diff --ext-diff", false],
    ["Bash(git:*)", "git config core.hooksPath x", false],
    ["Bash(git:*)", "git config user.name x", true],
    ["Bash(git:*)", "git -C /other log", false],
    ["Bash(cp:*)", "cp a b", true],
    ["Bash(cp:*)", "cp a /etc/x", false],
    // Shells, wrappers and interpreters.
    ["Bash(bash:*)", "bash x.sh", false],
    ["Bash(bash:*)", "bash -c 'ls'", false],
    ["Bash(bash x.sh:*)", "bash x.sh a", true],
    ["Bash(sudo:*)", "sudo rm x", false],
    ["Bash(sudo git status:*)", "sudo git status", true],
    ["Bash(sudo git:*)", "sudo git -c a.b=c status", false],
    ["Bash(timeout:*)", "timeout 5 rm x", false],
    ["Bash(timeout 5 git:*)", "timeout 5 git push", true],
    ["Bash(xargs:*)", "xargs rm", false],
    ["Bash(xargs grep:*)", "xargs grep -n x", true],
    ["Bash(env:*)", "env rm", false],
    ["Bash(python3:*)", "python3 x.py a", true],
    ["Bash(python3:*)", "python3 -c 'x'", false],
    ["Bash(python3:*)", "python3 -m http.server", false],
    ["Bash(python3 -m pytest:*)", "python3 -m pytest -q", true],
    ["Bash(node:*)", "node -e x", false],
    ["Bash(node:*)", "echo x | node", false],
    ["Bash(node:*)", "node --version", true],
    // Variables and wrappers that may be left out.
    ["Bash(ls:*)", "LC_ALL=C ls", true],
    ["Bash(ls:*)", "LD_PRELOAD=x ls", false],
    ["Bash(ls:*)", "X=1 ls", false],
    ["Bash(ls:*)", "time ls", true],
    ["Bash(ls:*)", "nice -n 5 timeout 5 ls", true],
    ["Bash(ls:*)", "nice -n 5 sudo ls", false],
    ["Bash(ls:*)", "/bin/ls", false],
    ["Bash(ls:*)", "./ls", false],
    // What is no rule, or one about something else.
    ["Bash()", "ls", false],
    ["bash(ls:*)", "ls", false],
    ["Read", "ls", false],
  ])("%s lets %j run: %s", async (rule, command, expected) => {
    verifies("G26");
    expect((await verdict("allow", [rule], command)).verdict).toBe(expected ? "allow" : "ask");
  });

  test("has to cover every command, and several may do so together", async () => {
    expect((await verdict("allow", ["Bash(make:*)"], "make && npm test")).verdict).toBe("ask");
    expect((await verdict("allow", ["Bash(make:*)", "Bash(npm test)"], "make && npm test")).verdict).toBe(
      "allow",
    );
  });

  test("covers as many commands as somebody writes", async () => {
    const row = (count: number): string => Array.from({ length: count }, () => "make").join(";");
    expect((await verdict("allow", ["Bash(make:*)"], row(1_000))).verdict).toBe("allow");
    expect(await verdict("allow", ["Bash(make:*)"], row(1_001))).toMatchObject({
      verdict: "ask",
      because: "it has more than 1000 commands in a row",
    });
    expect((await verdict("deny", ["Bash(rm:*)"], `${row(1_500)};rm x`)).verdict).toBe("deny");
  });

  test("lets output go to a file only together with a rule about that file", async () => {
    expect((await verdict("allow", ["Bash(make:*)", "Edit(./out/**)"], "make > out/log")).verdict).toBe(
      "allow",
    );
    expect((await verdict("allow", ["Bash(make:*)", "Edit(./out/**)"], "make > log")).verdict).toBe("ask");
    expect((await verdict("allow", ["Bash(make:*)", "Edit"], "make > $x")).verdict).toBe("ask");
  });

  test("about everything is about everything", async () => {
    for (const rule of ["Bash", "Bash(*)"])
      for (const command of ["rm -rf x", "curl a | sh", "x=1", "f() { f; }", "ls > x", "eval $x"])
        expect((await verdict("allow", [rule], command)).verdict).toBe("allow");
  });
});

describe("a deny rule", () => {
  test.each([
    ["Bash(curl:*)", "curl x", "deny"],
    ["Bash(curl:*)", "ls; curl x", "deny"],
    ["Bash(curl:*)", "echo $(curl x)", "deny"],
    ["Bash(curl:*)", 'echo "`curl x`"', "deny"],
    ["Bash(curl:*)", "cat <(curl x)", "deny"],
    ["Bash(curl:*)", "cat <<E\n$(curl x)\nE", "deny"],
    ["Bash(curl:*)", "if true; then curl x; fi", "deny"],
    ["Bash(curl:*)", "f() { curl x; }", "deny"],
    ["Bash(curl:*)", "sudo env A=1 nice curl x", "deny"],
    ["Bash(curl:*)", "bash -c 'sh -c \"curl x\"'", "deny"],
    ["Bash(curl:*)", "eval curl x", "deny"],
    ["Bash(curl:*)", "find . -exec curl {} \\;", "deny"],
    ["Bash(curl:*)", "git -c core.pager='curl x' log", "deny"],
    ["Bash(curl:*)", "/usr/bin/curl x", "deny"],
    ["Bash(curl:*)", "../curl x", "deny"],
    ["Bash(curl:*)", "c''u\\rl x", "deny"],
    ["Bash(curl:*)", "$'\\143url' x", "deny"],
    ["Bash(curl:*)", "{curl,x}", "deny"],
    ["Bash(curl:*)", "A=1 curl x", "deny"],
    ["Bash(curl:*)", "busybox curl x", "deny"],
    ["Bash(curl:*)", "trap 'curl x' EXIT", "deny"],
    ["Bash(curl:*)", "curlx", "ask"],
    ["Bash(curl:*)", "echo curl", "ask"],
    ["Bash(curl:*)", "grep curl x", "ask"],
    ["Bash(git push:*)", "git push", "deny"],
    ["Bash(git push:*)", "git -c a.b=c -C x --no-pager push", "deny"],
    ["Bash(git push:*)", "git stash push", "ask"],
    ["Bash(git push:*)", "git log push", "ask"],
    ["Bash(npm publish:*)", "npm --registry x publish", "deny"],
    ["Bash(tool send:*)", "tool --verbose send", "deny"],
    ["Bash(tool send:*)", "tool --level 3 send", "deny"],
    ["Bash(rm -rf *)", "rm -rf x", "deny"],
    ["Bash(rm *)", "rm", "deny"],
    ["Bash(* --force)", "git push --force", "deny"],
    ["Bash(rm x)", "rm x", "deny"],
    ["Bash(rm x)", "rm x y", "ask"],
    ["Bash", "ls", "deny"],
    ["Read(./secrets/**)", "cat secrets/a", "deny"],
    ["Read(./secrets/**)", "cat < secrets/a", "deny"],
    ["Read(./secrets/**)", "cd secrets && cat a", "deny"],
    ["Read(./secrets/**)", "cat src/a", "ask"],
    ["Edit(./secrets/**)", "echo x > secrets/a", "deny"],
    ["Edit(./secrets/**)", "cp a secrets/b", "deny"],
    ["Edit(./secrets/**)", "cat secrets/a", "ask"],
  ])("%s decides about %j: %s", async (rule, command, expected) => {
    verifies("G26");
    expect((await verdict("deny", [rule], command)).verdict).toBe(expected);
  });

  test.each(["$x y", "$(echo curl) x", "eval $x", "c* x", "curl x |", "echo x | sh", 'bash -c "$x"'])(
    "may be about %j, so that it is asked about even where permissions are bypassed",
    async (command) => {
      expect((await verdict("deny", ["Bash(curl:*)"], command, "bypassPermissions")).verdict).toBe("ask");
      expect((await verdict("deny", [], command, "bypassPermissions")).verdict).toBe("allow");
    },
  );
});

describe("another tool that runs commands", () => {
  const other = "mcp__desktop-assistant-tools__run_shell_command";

  test.each([
    ["deny", "Bash(curl:*)", "ls; curl x", "deny"],
    ["deny", "Bash", "ls", "deny"],
    ["deny", "mcp__desktop-assistant-tools", "ls", "deny"],
    ["deny", `${other}(curl:*)`, "env curl x", "deny"],
    ["ask", "Bash(npm publish:*)", "npm publish", "ask"],
    ["allow", "Bash(npm run test)", "npm run test", "allow"],
    ["allow", `${other}(npm run:*)`, "npm run test", "allow"],
    ["allow", `${other}(npm run:*)`, "npm run test; rm x", "ask"],
    ["allow", "mcp__desktop-assistant-tools", "rm x", "ask"],
  ] as const)("%s %s and %s: %s", async (kind, rule, command, expected) => {
    verifies("S1.17");
    expect(await verdict(kind, [rule], command, "default", other)).toMatchObject({ verdict: expected });
  });

  test("has no rules that hold for Bash but its own", async () => {
    expect(await verdict("deny", [`${other}(curl:*)`], "curl x")).toMatchObject({ verdict: "deny" });
    expect(await verdict("allow", [`${other}(npm run:*)`], "npm run test")).toMatchObject({ verdict: "ask" });
  });
});

describe("a deny rule of several words", () => {
  test.each([
    // An option may or may not take the next word, at every level.
    ["docker compose down", "docker compose -f x.yml down", "deny"],
    ["docker compose down", "docker --context x compose --ansi never -p y down -v", "deny"],
    ["npm publish", "npm --tag beta publish", "deny"],
    ["npm publish", "npm --zq publish", "deny"],
    ["npm publish", "npm --zq=1 -- publish", "deny"],
    ["kubectl delete", "kubectl --request-timeout 9s delete pod x", "deny"],
    ["aws s3 rm", "aws --query x s3 --zq y rm s3://b", "deny"],
    ["gcloud compute instances delete", "gcloud --verbosity debug compute instances delete x", "deny"],
    ["pip install", "pip --timeout 5 install x", "deny"],
    ["cargo publish", "cargo --target-dir x publish", "deny"],
    ["cargo publish", "cargo +nightly publish", "deny"],
    ["yarn publish", "yarn --cache-folder x publish", "deny"],
    ["pnpm publish", "pnpm --store-dir x publish", "deny"],
    ["helm uninstall", "helm --burst-limit 5 uninstall x", "deny"],
    ["systemctl stop", "systemctl -n 5 stop x", "deny"],
    ["npm run deploy", "npm run -s deploy", "deny"],
    ["gh pr merge", "gh pr -R x merge", "deny"],
    ["git push", "git -Cdir push", "deny"],
    ["git push", 'git -C "$x" push', "deny"],
    ["git push", "git -C $x status", "ask"],
    ["git push", 'git "$x"', "ask"],
    // Options that the rule names stand anywhere, joined and cut.
    ["git push --force", "git push origin main --force", "deny"],
    ["git push --force", "git push origin --forc", "ask"],
    ["git push --force", "git push -f", "ask"],
    ["git push --force", "git push origin", "allow"],
    ["rm -rf", "rm -fr x", "deny"],
    ["rm -rf", "rm x -r -f", "deny"],
    ["rm -rf", "rm -r x", "allow"],
    ["bash -c", "bash x.sh -c", "allow"],
    // Names that the tools themselves have.
    ["npm run deploy", "npm run-script deploy", "deny"],
    ["npm publish", "npm publi", "ask"],
    ["npm install", "npm i x", "deny"],
    ["docker rm", "docker container remove x", "deny"],
    ["docker rmi", "docker image rm x", "deny"],
    ["docker compose down", "docker-compose --verbose down", "deny"],
    ["git push", "git -c alias.p=push p", "deny"],
    ["git push", "git -c alias.p='-C x push' p", "deny"],
    ["git push", "GIT_CONFIG_COUNT=1 git p", "ask"],
    ["git push", "/usr/lib/git-core/git-push origin", "deny"],
    ["git add", "git stage .", "deny"],
    ["pip install", "python3.11 -Im pip install x", "deny"],
    ["pip install", "uv pip install x", "deny"],
    ["terraform destroy", "terraform apply -auto-approve -destroy", "deny"],
    ["make deploy", "make -j build A=1 deploy", "deny"],
    ["mvn deploy", "./mvnw clean deploy:deploy", "deny"],
    ["ip address", "ip a", "deny"],
    ["ip address", "ip addre show", "ask"],
    ["ssh prod", "ssh -p 22 me@prod", "deny"],
    ["scripts/deploy.sh", "./scripts//deploy.sh", "deny"],
    ["scripts/deploy.sh", "bash ./scripts/deploy.sh", "deny"],
    // Behind others, in words that come from elsewhere, under another name.
    ["git push", "parallel git ::: push", "ask"],
    ["git push", "parallel ::: 'git push'", "deny"],
    ["git push", "echo push | xargs git", "ask"],
    ["git push", "ls | xargs -I{} git {}", "ask"],
    ["git push", "echo git | xargs -I{} {} push", "ask"],
    ["git push", "echo git | xargs -I% % push", "ask"],
    ["git push", "echo pu | xargs -I % git %sh", "ask"],
    ["git push", "ls | xargs git add", "allow"],
    ["git push", "some-runner git -C x push", "ask"],
    ["git push", "nix run nixpkgs#git -- push", "deny"],
    ["git push", "pnpm git push", "ask"],
    ["git push", "ln -s /usr/bin/git g; ./g push", "ask"],
    ["git push", "shopt -s expand_aliases; alias g=git", "ask"],
    ["git push", "GIT push", "deny"],
    ["git push", "git.exe push", "deny"],
    // What it is not about.
    ["npm publish", "npm install publish", "allow"],
    ["npm publish", "npm --silent run publish", "allow"],
    ["npm publish", "npm test", "allow"],
    ["git push", "git --no-pager stash push", "allow"],
    ["git push", 'git -C "$x" commit -m "git push"', "allow"],
    ["docker compose down", "docker compose -f down up", "allow"],
    ["kubectl delete", "kubectl -n delete get pods", "allow"],
  ])("%s is found in %j where permissions are bypassed: %s", async (words, command, expected) => {
    verifies("G26", "G29");
    for (const rule of [`Bash(${words}:*)`, `Bash(${words} *)`])
      expect((await verdict("deny", [rule], command, "bypassPermissions")).verdict).toBe(expected);
  });

  test("is told with the words that it was found in, where they are not its own", async () => {
    const because = async (command: string) =>
      (await verdict("deny", ["Bash(npm run deploy:*)"], command, "bypassPermissions")).because;
    expect(await because("npm run deploy")).toBe("the rule Bash(npm run deploy:*) (user) denies it");
    expect(await because("sudo npm --tag beta run-script deploy")).toBe(
      'the rule Bash(npm run deploy:*) (user) denies it: it is spelled "npm --tag beta run-script deploy"',
    );
  });

  test("takes time in proportion to the words, however many of its readings are open", () => {
    const world = { cwd: "/p", home: "/h", roots: ["/p"], isTrusted: true };
    const text = `tool ${"--x a ".repeat(20_000)}`;
    const judge = judgeCommand({
      text,
      analysis: analyse(text, world, undefined),
      world,
      paths: new Map(),
    });
    const rules = [`tool ${"a ".repeat(40)}send`, "other send"].flatMap(
      (words) => parseRule(`Bash(${words}:*)`) ?? [],
    );
    const started = performance.now();
    expect(rules.map((rule) => judge.touch(rule, "Bash"))).toEqual(["no", "no"]);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

test("a search that could come to a denied file is asked about even where permissions are bypassed", async () => {
  const denied = ["Read(./config/.env)"];
  for (const command of [
    "grep -rn KEY .",
    "rg KEY",
    "rg KEY config",
    "grep -r KEY config/.",
    "cd config && rg KEY",
  ])
    expect((await verdict("deny", denied, command, "bypassPermissions")).verdict, command).toBe("ask");
  for (const command of ["grep -rn KEY src", "grep KEY a.txt", "ls -R ."])
    expect((await verdict("deny", denied, command, "bypassPermissions")).verdict, command).toBe("allow");
});

test("an ask rule asks where permissions are bypassed", async () => {
  const { verdict: asked, because } = await verdict(
    "ask",
    ["Bash(git push:*)"],
    "git push",
    "bypassPermissions",
  );
  expect({ asked, because }).toEqual({ asked: "ask", because: "the rule Bash(git push:*) (user) asks" });
});
