/** What programs find in their environment, so that they take the proxy and believe its certificates. */
import { existsSync, readFileSync } from "node:fs";
import { rootCertificates } from "node:tls";
import type { ProcessEnvironment } from "../../processes/environment.ts";

/** By the ports inside that lead to the proxy. */
export function proxyVariables(
  { http, socks }: { readonly http: number; readonly socks: number },
  word: string,
): Record<string, string> {
  const at = (scheme: string, port: number): string => `${scheme}://keel:${word}@127.0.0.1:${port}`;
  const near = "localhost,127.0.0.1,::1";
  return {
    ...bothCases({
      HTTP_PROXY: at("http", http),
      HTTPS_PROXY: at("http", http),
      // With an `h` the proxy finds out what a name stands for: inside there is no name service.
      ALL_PROXY: at("socks5h", socks),
      NO_PROXY: near,
    }),
    NODE_USE_ENV_PROXY: "1",
  };
}

const bothCases = (variables: Record<string, string>): Record<string, string> => ({
  ...variables,
  ...Object.fromEntries(Object.entries(variables).map(([name, value]) => [name.toLowerCase(), value])),
});

export type TrustFiles = {
  /** Ours alone, for what is added to a program's own list. */
  readonly authority: string;
  /** All, for what stands in its place. */
  readonly bundle: string;
};

export const trustVariables = ({ authority, bundle }: TrustFiles): Record<string, string> => ({
  NODE_EXTRA_CA_CERTS: authority,
  DENO_CERT: authority,
  ...Object.fromEntries(inPlace.map((name) => [name, bundle])),
});

const inPlace = [
  "SSL_CERT_FILE",
  "CURL_CA_BUNDLE",
  "GIT_SSL_CAINFO",
  "REQUESTS_CA_BUNDLE",
  "PIP_CERT",
  "CARGO_HTTP_CAINFO",
  "AWS_CA_BUNDLE",
  "NPM_CONFIG_CAFILE",
  "BUNDLE_SSL_CA_CERT",
  "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE",
];

const usualFiles = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/** Whom this machine trusts, as PEM: what its programs go by, and what the person's own variables add. */
export function trustedRoots(variables: ProcessEnvironment): string {
  const files = [variables["SSL_CERT_FILE"], ...usualFiles].flatMap((file) => (file ? [file] : []));
  const found = files.find((file) => existsSync(file));
  const roots = found === undefined ? rootCertificates.join("\n") : readFileSync(found, "utf8");
  const added = variables["NODE_EXTRA_CA_CERTS"];
  return added !== undefined && existsSync(added) ? `${roots}\n${readFileSync(added, "utf8")}` : roots;
}
