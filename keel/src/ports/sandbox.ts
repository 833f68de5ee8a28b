/**
 * What confines programs by the system itself, behind policy: they write where they may, see no secrets, and reach no
 * network but by a proxy outside.
 */

/** What is to run: a fixed list of words, never a text that is put together. */
export type SandboxProgram = {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

/** What a program inside may do. Every path is absolute and without links, as far as it exists. */
export type Confinement = {
  /** Folders that may be written to, with all that is below; everything else is read-only. */
  readonly writable: readonly string[];
  /** What may not be written although it lies in one of those, whether it exists or not. */
  readonly unwritable: readonly string[];
  /** What may not even be read. */
  readonly unreadable: readonly string[];
  /** What may be read although it lies in one of those. */
  readonly readable: readonly string[];
  /** Caches: they are seen as they are and may be changed, and nothing of a change is kept. */
  readonly scratch: readonly string[];
  /** The only way out. Left out, there is none. */
  readonly egress?: Egress | undefined;
  /** Sockets in the file system that may be connected to. */
  readonly unixSockets: readonly string[] | "all";
  /** Programs inside may make user namespaces of their own, as browsers and builders of containers do. */
  readonly nested: "allowed" | "refused";
};

/**
 * A proxy that stands outside of the sandbox and decides by host and port. It listens at sockets in the file system;
 * inside, a bridge to each of them listens at a port of loopback.
 */
export interface Egress {
  readonly httpSocket: string;
  readonly socksSocket: string;
  /** What programs have to be able to read for it: whom to believe. */
  readonly files: readonly string[];
  /** For one program: by the name in what it is given the proxy knows who asks. */
  admit(ports: { readonly http: number; readonly socks: number }): EgressPass;
}

export type EgressPass = {
  /** Variables that lead programs to the proxy. They hold no key of anybody. */
  readonly env: Readonly<Record<string, string>>;
  /** What it was refused so far. */
  refused(): readonly Violation[];
  /** From here on nobody is let through by that name. */
  close(): void;
};

/** Something that a program inside tried and did not get. */
export type Violation = {
  readonly kind: "write" | "read" | "network" | "socket" | "system";
  /** A path, a host with its port, or what the system keeps to itself. */
  readonly target: string;
};

/** A host that somebody wants to reach. */
export type HostTarget = { readonly host: string; readonly port: number };

/** Undefined where nobody could be asked. */
export type HostDecision = "allow" | "deny" | undefined;

/** What policy and tools know of the sandbox of a workspace's commands, where there is one. */
export interface CommandSandbox {
  /** Commands inside go without a question, unless something wants one. */
  readonly autoAllow: boolean;
  /** The model may ask for a run outside. */
  readonly mayLeave: boolean;
  /** Commands that the person keeps outside, as rules about Bash name them. */
  readonly excluded: readonly string[];
  /** What a command was refused: without what the person does not want to hear of, and kept for who is asked later. */
  note(command: string, violations: readonly Violation[]): readonly Violation[];
  /** Who is asked about hosts while a call runs. Nobody any more after what it gives is called. */
  answering(ask: (target: HostTarget) => Promise<HostDecision>): () => void;
  /** What a command of the same words was refused when it last ran inside. */
  refused(command: string): readonly Violation[];
}

export type SandboxFacts = {
  /** `bubblewrap` by that program, `namespaces` by those of the kernel through util-linux. */
  readonly layer: "bubblewrap" | "namespaces" | "none";
  /** Why it is none, in words for a person. */
  readonly why?: string | undefined;
  /** What a person should know of it: what it cannot keep out on this machine. */
  readonly weaknesses: readonly string[];
  readonly bubblewrap?: BubblewrapFacts | undefined;
};

export type BubblewrapFacts = {
  readonly version: string;
  /** CVE-2026-87766: its setup follows a link in the parents of what it mounts onto. */
  readonly hole: "fixed" | "open";
};

export interface Sandbox {
  /** Tried once, with a real program. */
  describe(): Promise<SandboxFacts>;
  /**
   * A place to run programs in, for as long as it is used. The same for the same confinement, as long as the files
   * that it was made for are the same. Throws `sandbox_unavailable`: never is a program run outside instead.
   */
  open(confinement: Confinement): Promise<SandboxPlace>;
  /** Ends every place with all that runs in it, and leaves nothing behind on the disk. */
  close(): Promise<void>;
}

export interface SandboxPlace {
  /** A folder outside that programs inside may write to, by the same name: for what they are to tell Keel. */
  readonly exchange: string;
  /** How to start it inside. */
  confine(program: SandboxProgram): { readonly program: SandboxProgram; readonly run: ConfinedRun };
}

/** One program inside, from its start to its end. */
export interface ConfinedRun {
  /** What it was refused, as far as anybody saw: by the proxy, and by what it printed itself. */
  violations(output: string): readonly Violation[];
  /** It has ended. */
  close(): void;
}
