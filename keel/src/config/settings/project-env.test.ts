import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { whyWithheld } from "./project-gate.ts";

test("no project sets what moves requests and keys, puts code into programs, or changes what a command means", () => {
  verifies("G36");
  const withheld =
    "ANTHROPIC_BASE_URL KEEL_HOME https_proxy NODE_EXTRA_CA_CERTS NODE_OPTIONS LD_PRELOAD GCONV_PATH PYTHONPATH PYTHONHOME PERL5LIB RUBYOPT PATH HOME BASH_ENV BASH_FUNC_ls%% POSIXLY_CORRECT PS4 GIT_SSH_COMMAND GIT_CONFIG_COUNT LESSOPEN LESS MANPAGER PAGER EDITOR CVS_RSH TAR_OPTIONS GREP_OPTIONS MAGIC AWKPATH RIPGREP_CONFIG_PATH GOFLAGS MAKEFLAGS _JAVA_OPTIONS KUBECONFIG DOCKER_HOST";
  expect(withheld.split(" ").filter((name) => whyWithheld(name) === undefined)).toEqual([]);
});

test("ordinary variables are a project's own", () => {
  for (const name of "NODE_ENV CI DATABASE_URL PORT DEBUG LOG_LEVEL TZ LANG APP_SECRET_PATH FEATURE_LESS".split(
    " ",
  ))
    expect(whyWithheld(name), name).toBeUndefined();
});
