/** What of the server's environment the agent of a group has: keys of providers, and what programs need to run at all. */
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import { providers } from "../../models/providers.ts";

const plain =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TERM|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR)$/;
/** They may hold a password, and without them some machines reach no model. */
const proxies = /^(?:https?|all|no)_proxy$/i;
const own = /^KEEL_(?!.*(?:TOKEN|SECRET|PASSW|KEY))/;

/** The variables by which keys and addresses of providers are named. */
export const authVariables: readonly string[] = [
  ...new Set(
    providers.flatMap(({ credentialNames, baseUrlNames }) => [
      ...credentialNames.map(({ name }) => name),
      ...baseUrlNames,
    ]),
  ),
];

export const fewVariables = (env: EnvironmentVariables): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => {
      const isKept = plain.test(name) || proxies.test(name) || own.test(name) || authVariables.includes(name);
      return value !== undefined && isKept ? [[name, value]] : [];
    }),
  );
