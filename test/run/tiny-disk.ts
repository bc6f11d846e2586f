import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

const mount = (...args: string[]) => spawnSync("mount", args).status === 0;

/** Whether this machine can mount a small disk. */
export const canMount = process.platform === "linux" && (await triedMount());
if (!canMount) process.stderr.write("tests of a full or read-only disk are skipped: a tmpfs cannot be mounted here\n");

async function triedMount(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "kbdump-mount-"));
  const mounted = mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", folder);
  if (mounted) spawnSync("umount", [folder]);
  await rm(folder, { recursive: true });
  return mounted;
}

/** Mounts a read-only disk below the folder. */
export async function readOnlyDisk(folder: string): Promise<string> {
  const path = join(folder, "read-only");
  await mkdir(path);
  if (!mount("-t", "tmpfs", "-o", "ro", "tmpfs", path)) throw new Error("mount -o ro failed");
  onTestFinished(() => void spawnSync("umount", ["-l", path]));
  return path;
}

export interface TinyDisk {
  readonly path: string;
  /** Grows the disk to this size in kB. */
  readonly grow: (size: number) => void;
}

/** Mounts a disk of `size` kB below the folder; unmounted when the test ends. */
export async function tinyDisk(folder: string, size: number): Promise<TinyDisk> {
  const path = join(folder, "disk");
  await mkdir(path);
  const set = (options: readonly string[]) => {
    if (!mount(...options, path)) throw new Error(`mount ${options.join(" ")} failed`);
  };
  set(["-t", "tmpfs", "-o", `size=${size}k`, "tmpfs"]);
  onTestFinished(() => void spawnSync("umount", ["-l", path]));
  return { path, grow: (larger) => set(["-o", `remount,size=${larger}k`]) };
}
