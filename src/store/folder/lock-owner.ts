import { randomUUID } from "node:crypto";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import * as v from "valibot";
import { count, object, text, valueIf } from "../../schema.js";

const textOrNull = v.fallback(v.nullable(text), null);

/** The facts about a process that owns a job. */
export const processEntries = {
  pid: v.pipe(count, v.minValue(1, "the id of a process")),
  host: text,
  /** When the lease began, as an ISO time. */
  since: v.fallback(text, "an unknown time"),
  /** When the process began, in kernel ticks since boot. It distinguishes the process from a later one with the same pid. */
  born: textOrNull,
  /** The kernel's pid namespace. In another one, such as another container, the pid is meaningless. */
  space: textOrNull,
  /** The kernel's boot id. Distinguishes machines with the same name, and boots of one machine. */
  boot: textOrNull,
};

/** The owner of a lock. `id` identifies this lease, so that no two locks have the same content; null if another program wrote it. */
export const ownerSchema = object({ id: textOrNull, ...processEntries });

export type Owner = Readonly<v.InferOutput<typeof ownerSchema>>;

/** Milliseconds without a heartbeat after which an owner counts as dead, on any machine. */
export const deadAfter = 120_000;

/** Calls `beat` at intervals, until the returned function is called. `beat` must never reject. Does not keep the process alive. */
export function startHeartbeat(every: number, beat: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> | undefined;
  const timer = setInterval(() => {
    last ??= beat().finally(() => {
      last = undefined;
    });
  }, every).unref();
  return async () => {
    clearInterval(timer);
    await last;
  };
}

/** Says when an owner without a heartbeat loses its lock. `age`: milliseconds since the last heartbeat. */
export function silenceText(age: number, lock: string): string {
  const [seen, left] = [Math.max(0, age), deadAfter - age].map((time) => Math.ceil(time / 1000));
  return `Its last heartbeat was ${seen} s ago; without another one, its ${lock} is taken over in ${left} s`;
}

/** Names an owner in a message. */
export function ownerText({ pid, host, since }: Pick<Owner, "pid" | "host" | "since">): string {
  return `process ${pid} on ${host} since ${since}`;
}

/** Says who took over a job, for the owner that lost it. */
export function takenOverText(successor: string): string {
  return `this job was taken over by ${successor}: this run sent no heartbeat for two minutes, or its lock was removed. This run ends; the other one continues`;
}

/** The facts about this process, to write into a lock. */
export async function thisOwner(since: Date): Promise<Owner & { readonly id: string }> {
  const [born, space, boot] = await Promise.all([bornAt(process.pid), pidSpace(), bootId()]);
  return { id: randomUUID(), pid: process.pid, host: hostname(), since: since.toISOString(), born, space, boot };
}

/** The owner in the first line of a lock file; undefined if the line is empty or invalid. */
export function ownerFrom(text: string): Owner | undefined {
  return valueIf(v.pipe(v.string(), v.parseJson(), ownerSchema), text.split("\n", 1)[0]);
}

/**
 * Whether the process of a lock is alive. Undefined if this process cannot know: another machine, container or boot, or a process
 * with the same pid and an unknown start time.
 */
export async function isAlive({ pid, host, born, space, boot }: Owner): Promise<boolean | undefined> {
  if (host !== hostname() || space !== (await pidSpace())) return undefined;
  const here = await bootId();
  if (boot !== null && here !== null && boot !== here) return undefined;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
  }
  const bornNow = await bornAt(pid);
  return born === null || bornNow === null ? undefined : born === bornNow;
}

/** When a process began: field 22 of /proc/<pid>/stat, counted after the name, which may contain spaces. Null without /proc. */
async function bornAt(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
}

/** The pid namespace of this process; null without /proc. */
async function pidSpace(): Promise<string | null> {
  return readlink("/proc/self/ns/pid").catch(() => null);
}

/** The id of this boot of the kernel; null without /proc. */
async function bootId(): Promise<string | null> {
  const text = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "");
  return text.trim() || null;
}
