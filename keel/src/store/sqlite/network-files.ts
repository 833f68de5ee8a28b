/**
 * File systems that other machines share. A write-ahead log lives by memory that all its users see, which machines do not
 * share: what would work for a while and then lose something is refused at once.
 */

/** By the number that Linux gives the kind. */
const names: Readonly<Record<number, string>> = {
  26985: "NFS",
  20859: "SMB",
  4283649346: "CIFS",
  4266872130: "SMB",
  16914839: "9P",
  1702057286: "FUSE",
  12805120: "Ceph",
  1397113167: "AFS",
  1799439955: "AFS",
  1937076805: "Coda",
  22092: "NCP",
  198183891: "Lustre",
  1196443219: "GPFS",
  18225520: "GFS2",
  1952539503: "OCFS2",
};

/** Undefined for a file system of this machine. */
export function networkName(path: string, kind: number): string | undefined {
  if (/^[\\/]{2}[^\\/]/.test(path) && path.includes("\\")) return "it stands on a network share";
  if (process.platform !== "linux") return undefined;
  const name = names[kind >>> 0];
  return name === undefined ? undefined : `it stands on a network file system (${name})`;
}
