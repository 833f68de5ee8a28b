/** How commands are confined, in the names of the interface: accepted, so that programs compile and are told. */

export type SandboxSettings = {
  enabled?: boolean;
  /** Refuses to start where no sandbox can be had. */
  failIfUnavailable?: boolean;
  autoAllowBashIfSandboxed?: boolean;
  allowUnsandboxedCommands?: boolean;
  excludedCommands?: string[];
  network?: SandboxNetworkConfig;
  filesystem?: SandboxFilesystemConfig;
  credentials?: SandboxCredentialsConfig;
  ignoreViolations?: SandboxIgnoreViolations;
  enableWeakerNestedSandbox?: boolean;
  allowNestedUserNamespaces?: boolean;
  enableWeakerNetworkIsolation?: boolean;
  allowAppleEvents?: boolean;
  ripgrep?: { command: string; args?: string[] };
  bwrapPath?: string;
  socatPath?: string;
};

export type SandboxNetworkConfig = {
  allowedDomains?: string[];
  deniedDomains?: string[];
  strictAllowlist?: boolean;
  allowManagedDomainsOnly?: boolean;
  allowUnixSockets?: string[];
  allowAllUnixSockets?: boolean;
  allowLocalBinding?: boolean;
  allowMachLookup?: string[];
  httpProxyPort?: number;
  socksProxyPort?: number;
  tlsTerminate?: { caCertPath?: string; caKeyPath?: string };
};

export type SandboxFilesystemConfig = {
  allowWrite?: string[];
  denyWrite?: string[];
  denyRead?: string[];
  allowRead?: string[];
  allowManagedReadPathsOnly?: boolean;
  disabled?: boolean;
};

export type SandboxIgnoreViolations = { [command: string]: string[] };

type Secret = {
  mode: "deny" | "mask";
  extract?: string;
  onExtractNoMatch?: "deny" | "error" | "warn";
  decode?: "jwt";
  maskClaims?: string[];
  injectHosts?: string[];
};
type Signed = "deny" | "passthrough";

/** Where a key comes from in place of a variable, and where in a request it stands: Keel's own. */
type SecretPlace = {
  file?: string;
  keychain?: string;
  header?: string;
  value?: string;
  query?: string;
  basic?: string;
};

export type SandboxCredentialsConfig = {
  files?: (Secret & { path: string; maskDuplicates?: boolean })[];
  envVars?: (Secret & SecretPlace & { name: string })[];
  allowPlaintextInject?: boolean;
  awsPairs?: { accessKeyIdVar: string; secretAccessKeyVar: string; sessionTokenVar?: string }[];
  sigv4?: { streaming?: Signed; presigned?: Signed; sigv4a?: Signed };
};
