import { createHash, randomUUID } from "node:crypto";
import { type FileHandle, link, lstat, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { BusyError, LostError, StopError } from "../../errors.js";
import { ifAbsent, ifPresent, isThere, openRegular } from "../../files/files.js";
import {
  deadAfter,
  isAlive,
  type Owner,
  ownerFrom,
  ownerText,
  silenceText,
  startHeartbeat,
  thisOwner,
} from "./lock-owner.js";

/** The lock of a job, owned by this process. */
export interface Lock {
  readonly owner: Owner & { readonly id: string };
  /** The owner whose lock we took over, and whether its process has certainly ended; undefined if the lock was missing or released. */
  readonly replaced: { readonly id: string; readonly isDead: boolean } | undefined;
  /** Aborted with a LostError after we lost the lock: another run took it over because we sent no heartbeat, or it was removed. */
  readonly lost: AbortSignal;
  /** Checks the lock. Rejects with the LostError of `lost`, which names the current owner, if we lost it. */
  readonly confirm: () => Promise<void>;
  /**
   * Releases the lock: marks it through our own file handle, then moves it into `folder`, which only we use. If another run
   * has replaced the lock meanwhile, puts that lock back.
   */
  readonly release: (folder: string) => Promise<void>;
}

/** Our lock file under a name of its own. All its hard links share one heartbeat. */
interface Mine {
  readonly path: string;
  /** Now, by the disk's clock, which may differ from this machine's. */
  readonly now: number;
  readonly busy: string | undefined;
}

/**
 * Takes the lock of a job. Throws BusyError, naming the owner, if another run has it. Takes over immediately if the lock was
 * released, or if its process ran on this machine and ended. Otherwise takes over after two minutes without a heartbeat, which
 * owners send every 10 s. The lock usually prevents two runs at the same time. It cannot ensure that only one publishes,
 * because a frozen process does not know that it lost the lock; `fenceOthers` does. `every`: milliseconds between two heartbeats.
 * `busy`: the start of the error, if not `another run of this job is active`.
 */
export async function lockJob(
  folder: string,
  now: Date,
  { every = 10_000, busy }: { readonly every?: number; readonly busy?: string } = {},
): Promise<Lock> {
  const path = join(folder, "lock");
  const owner = await thisOwner(now);
  const [aside, text] = [`${path}.${randomUUID()}`, JSON.stringify(owner)];
  const file = await open(aside, "wx", 0o600);
  let replaced: Lock["replaced"];
  try {
    await touch(file, text);
    const mine = { path: aside, now: (await file.stat()).mtimeMs, busy };
    replaced = await take(path, mine);
    await removeLeftovers(path, mine);
  } catch (error) {
    await file.close();
    if (await isThere(aside).catch(() => true)) throw error;
    throw new LostError(`${path} was taken by another run while this one sent no heartbeat, so it ends`, {
      cause: error,
    });
  } finally {
    await rm(aside, { force: true });
  }
  const lost = new AbortController();
  const confirm = () => requireOwn(path, text);
  const endHeartbeat = startHeartbeat(every, async () => {
    await touch(file, text).catch(() => {}); // perhaps a full disk: the next heartbeat may succeed
    await confirm().catch((error: unknown) => {
      if (error instanceof LostError) lost.abort(error);
    });
  });
  return {
    owner,
    replaced,
    lost: lost.signal,
    confirm,
    release: async (own) => {
      try {
        await endHeartbeat();
        await file.write(releaseMark, Buffer.byteLength(text)).catch(() => {}); // on a full disk, it is removed without a mark
        await letGo(path, text, join(own, "lock"));
      } finally {
        await file.close();
      }
    },
  };
}

/**
 * Puts our lock at `path`, or throws BusyError. To replace a stale lock, a process first locks it with a second lock file, a
 * claim: `<path>.<id of the stale lock>`. If the stale lock still exists after that, no other process can replace it. If the
 * process dies first, its claim becomes stale and is taken over in the same way. Returns the owner that was replaced.
 */
async function take(path: string, mine: Mine): Promise<Lock["replaced"]> {
  for (;;) {
    // A link appears with its content or not at all, and fails if `path` already exists.
    if (await link(mine.path, path).then(() => true, ifPresent(false))) return undefined;
    const dead = await readLock(path);
    if (!dead) {
      if ((await lstat(path).catch(ifAbsent(undefined)))?.isSymbolicLink())
        throw new StopError(`${path} is a symbolic link that leads nowhere; remove it`);
      continue;
    }
    await refuseHeld(path, dead, mine.now, mine.busy);
    const claim = `${path}.${dead.id}`;
    await take(claim, mine);
    try {
      if ((await readLock(path))?.id !== dead.id) continue;
      await link(mine.path, `${mine.path}.new`);
      await rename(`${mine.path}.new`, path);
      const owner = dead.isReleased ? undefined : ownerFrom(dead.text);
      return owner?.id ? { id: owner.id, isDead: (await isAlive(owner)) === false } : undefined;
    } finally {
      await rm(claim, { force: true });
    }
  }
}

/** Moves our lock to `aside` in our folder. The moved file shows whose lock it was. */
async function letGo(path: string, text: string, aside: string): Promise<void> {
  if ((await readLock(path))?.text !== text) return;
  if (!(await rename(path, aside).then(() => true, ifAbsent(false)))) return; // our folder or the lock is gone
  const moved = await readLock(aside);
  if (!moved) return; // a successor removed our folder after the move
  if (moved.text !== text) await link(aside, path).catch(ifPresent(undefined)).catch(ifAbsent(undefined));
  await rm(aside, { force: true });
}

/**
 * Removes files that killed processes left next to the lock: their claims (see `take`), which refer to earlier locks, and unused lock
 * files whose writer is dead, or has sent no heartbeat for long. Anything but a file is not ours.
 */
async function removeLeftovers(path: string, { now }: Mine): Promise<void> {
  const [folder, name] = [dirname(path), basename(path)];
  const own = (await readLock(path))?.id;
  for (const other of (await readdir(folder)).filter((other) => other.startsWith(`${name}.`))) {
    const [, claimed] = /^([0-9a-f]{16})(?:\.|$)/.exec(other.slice(name.length + 1)) ?? [];
    const file = await readLock(join(folder, other)).catch(() => undefined);
    const isClaim = claimed !== undefined && claimed !== own;
    if (file && (isClaim || !(await holderOf(file, now)))) await rm(join(folder, other), { force: true });
  }
}

/** Throws LostError, which names the current owner, if the lock is not the one with this text. */
async function requireOwn(path: string, text: string): Promise<void> {
  const found = await readLock(path);
  if (found?.text === text) return;
  const owner = found && ownerFrom(found.text);
  const what = owner ? `was taken over by process ${owner.pid} on ${owner.host}` : "was removed";
  throw new LostError(
    `the lock ${path} ${what} while this run was active, so it ends: two runs must not write to one folder`,
  );
}

/** An owner appends this to its lock when it is done. Any process may then take the lock at once. */
const releaseMark = "\nreleased\n";

/** A lock file that was read. */
type LockFile = NonNullable<Awaited<ReturnType<typeof readLock>>>;

/**
 * Reads a lock; undefined if there is none. Its `id` is that of this file with this content, and can be part of a file name. `text`
 * does not include the mark of a released lock. `touched` is the time of the last heartbeat, in milliseconds by the disk's clock.
 * Opens the file to get its facts, because network drives return stale facts of files that are not open. Throws StopError if the
 * path is not a file.
 */
export async function readLock(path: string) {
  await using file = await openRegular(path).catch(ifAbsent(undefined));
  if (!file) return undefined;
  const [{ ino, mtimeMs: touched }, content] = [await file.stat(), await file.readFile("utf8")];
  const id = createHash("sha256").update(`${ino} ${content}`).digest("hex").slice(0, 16);
  const isReleased = content.endsWith(releaseMark);
  return { id, text: isReleased ? content.slice(0, -releaseMark.length) : content, isReleased, touched };
}

/** Sends a heartbeat: writes the same content again, so that the disk's clock sets the time. */
async function touch(mine: FileHandle, text: string): Promise<void> {
  await mine.write(text, 0);
  await mine.sync();
}

/**
 * The owner of a lock, if the lock is held at the time `now`: its process is alive or, if that is unknown, the last heartbeat is at
 * most `silence` ms old. A heartbeat far in the future does not count. The owner is undefined if the text of the lock is invalid.
 */
export async function holderOf(found: LockFile, now: number, silence = deadAfter) {
  const owner = ownerFrom(found.text);
  const alive = owner && (await isAlive(owner));
  const age = now - found.touched;
  const isHeld = !found.isReleased && (alive ?? Math.abs(age) < silence);
  return isHeld ? { owner, alive, age } : undefined;
}

/** Throws BusyError if a lock is held. `busy`: the start of the message. */
export async function refuseHeld(
  path: string,
  found: LockFile,
  now: number,
  busy = "another run of this job is active",
): Promise<void> {
  const holder = await holderOf(found, now);
  if (!holder) return;
  const { owner, alive, age } = holder;
  const who = owner ? ownerText(owner) : "an unknown process, whose lock file cannot be read";
  const what = alive
    ? `Wait for its end, or end it (kill ${owner?.pid}); the next run continues where it stopped`
    : `${silenceText(age, "lock")}. If you know that it is gone, remove ${path}`;
  throw new BusyError(`${busy}: ${who}. ${what}`);
}
