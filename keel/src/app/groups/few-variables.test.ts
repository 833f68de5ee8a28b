import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { fewVariables } from "./few-variables.ts";

test("of thirty planted variables none passes, and keys of providers do", () => {
  verifies("S2.60");
  const planted = [
    "AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN GITHUB_TOKEN GH_TOKEN NPM_TOKEN SLACK_TOKEN DATABASE_URL PGPASSWORD",
    "TELEGRAM_BOT_TOKEN KEEL_TELEGRAM_TOKEN KEEL_WHATSAPP_SECRET KEEL_WHATSAPP_TOKEN KEEL_IRC_PASSWORD SSH_AUTH_SOCK",
    "GPG_AGENT_INFO DBUS_SESSION_BUS_ADDRESS LD_PRELOAD NODE_OPTIONS PYTHONPATH BASH_ENV ENV PROMPT_COMMAND DOCKER_HOST",
    "KUBECONFIG GOOGLE_APPLICATION_CREDENTIALS AZURE_CLIENT_SECRET STRIPE_KEY MY_SECRET pathx XPATH",
  ].flatMap((line) => line.split(" "));
  expect(planted.length).toBeGreaterThanOrEqual(30);
  const env = Object.fromEntries(planted.map((name) => [name, "planted"]));
  expect(fewVariables(env)).toEqual({});
  const needed = {
    PATH: "/bin",
    LC_ALL: "C",
    ANTHROPIC_API_KEY: "k",
    ANTHROPIC_BASE_URL: "u",
    KEEL_HOME: "/h",
  };
  expect(fewVariables({ ...env, ...needed })).toEqual(needed);
});
