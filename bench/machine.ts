/** What a figure must be read against: the machine, its load, and the disk that the logs stand on. */
import { statfs } from "node:fs/promises";
import os from "node:os";

export type Machine = {
  readonly cores: number;
  readonly processor: string;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  readonly disk: string;
};

export async function describeMachine(folder: string): Promise<Machine> {
  const cpus = os.cpus();
  return {
    cores: cpus.length,
    processor: cpus[0]?.model.trim() ?? "unknown",
    memoryGb: Math.round(os.totalmem() / 2 ** 30),
    system: `${os.type()} ${os.machine()}`,
    node: process.version,
    disk: await diskOf(folder),
  };
}

/** The load of the last minute. Beyond the number of cores only ratios are worth anything. */
export const loadNow = (): number => os.loadavg()[0] ?? 0;

export const sayMachine = ({ cores, processor, memoryGb, system, node, disk }: Machine): string =>
  `${cores} cores (${processor}), ${memoryGb} GB, ${system}, ${disk}, Node ${node}`;

/** Names of file systems by the number that the kernel gives them. On one in memory a sync costs nothing. */
const disks: Readonly<Record<string, string>> = {
  ef53: "ext4",
  "58465342": "xfs",
  "9123683e": "btrfs",
  "794c7630": "overlay",
  "1021994": "tmpfs (in memory)",
  "2fc12fc1": "zfs",
};

async function diskOf(folder: string): Promise<string> {
  const { type } = await statfs(folder);
  return disks[type.toString(16)] ?? `file system ${type.toString(16)}`;
}
