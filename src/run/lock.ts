import { link, readFile, readlink, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { BusyError } from "../errors.js";
import { flush } from "../sinks/flush.js";

/** Who holds the lock of a job. */
interface Holder {
  readonly pid: number;
  readonly host: string;
  /** Of the run, an ISO time. */
  readonly since: string;
  /** When the process began, in the kernel's ticks since boot; tells a process from a later one with its pid. */
  readonly born: string | null;
  /** The kernel's namespace of its pid; in another one, as in another container, the pid says nothing. */
  readonly space: string | null;
}

/**
 * Takes the lock of a job and gives a function that lets it go. A second run gets a BusyError that says who holds it; the
 * lock of a process of this machine that is no more is taken over.
 */
export async function lockJob(folder: string, now: Date): Promise<() => Promise<void>> {
  const path = join(folder, "lock");
  const mine = `${path}.${process.pid}`;
  const holder: Holder = {
    pid: process.pid,
    host: hostname(),
    since: now.toISOString(),
    born: await bornAt(process.pid),
    space: await pidSpace(),
  };
  await writeFile(mine, JSON.stringify(holder), { mode: 0o600 });
  await flush(mine);
  try {
    for (;;) {
      // A link appears with its content or not at all, and fails where there is one already.
      const taken = await link(mine, path).then(() => true, unless("EEXIST", false));
      if (taken) return () => unlock(path, holder);
      await removeDead(path, mine);
    }
  } finally {
    await rm(mine, { force: true });
  }
}

/** Lets the lock go, if it is still ours. */
async function unlock(path: string, mine: Holder): Promise<void> {
  const text = await readFile(path, "utf8").catch(unless("ENOENT", ""));
  if (text === JSON.stringify(mine)) await rm(path, { force: true });
}

/** Removes the lock of a dead process; throws when it is held. Another that does the same at once must not remove ours. */
async function removeDead(path: string, mine: string): Promise<void> {
  const text = await readFile(path, "utf8").catch(unless("ENOENT", undefined));
  if (text === undefined) return;
  const holder = holderFrom(text);
  if (!holder || (await isAlive(holder))) throw busy(path, holder);
  const aside = `${mine}.dead`;
  await rename(path, aside).catch(unless("ENOENT", undefined));
  const moved = await readFile(aside, "utf8").catch(unless("ENOENT", undefined));
  if (moved !== undefined && moved !== text) await link(aside, path).catch(unless("EEXIST", undefined));
  await rm(aside, { force: true });
}

function busy(path: string, holder: Holder | undefined): BusyError {
  const who = holder ? `process ${holder.pid} on ${holder.host} since ${holder.since}` : "an unknown process";
  return new BusyError(`another run of this job is at work: ${who}; if that is not so, remove ${path}`);
}

function holderFrom(text: string): Holder | undefined {
  try {
    const { pid, host, since, born, space } = JSON.parse(text);
    if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
    return {
      pid,
      host: String(host),
      since: String(since),
      born: born === null ? null : String(born),
      space: space == null ? null : String(space),
    };
  } catch {
    return undefined;
  }
}

async function isAlive({ pid, host, born, space }: Holder): Promise<boolean> {
  if (host !== hostname() || space !== (await pidSpace())) return true; // it cannot be known from here
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (hasCode(error, "ESRCH")) return false;
  }
  const bornNow = await bornAt(pid);
  return born === null || bornNow === null || born === bornNow;
}

/** Field 22 of /proc/<pid>/stat, counted behind the name, which may hold spaces; null where there is no /proc. */
async function bornAt(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
}

/** Null where there is no /proc. */
async function pidSpace(): Promise<string | null> {
  return readlink("/proc/self/ns/pid").catch(() => null);
}

/** Turns the error of that code into a value, and lets every other one pass. */
function unless<T>(code: string, value: T): (error: unknown) => T {
  return (error) => {
    if (hasCode(error, code)) return value;
    throw error;
  };
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
