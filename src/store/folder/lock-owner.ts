import { randomUUID } from "node:crypto";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import * as v from "valibot";
import { object, text, valueIf } from "../../schema.js";

const textOrNull = v.fallback(v.nullable(text), null);

/** The process that holds the lock of a job. */
const ownerSchema = object({
  /** Identifies this one hold, so that no two locks have the same content. Null in the lock of an unknown program. */
  id: textOrNull,
  pid: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  host: text,
  /** Start of the run, an ISO time. */
  since: v.fallback(text, "an unknown time"),
  /** When the process began, in the kernel's ticks since boot; tells a process from a later one with its pid. */
  born: textOrNull,
  /** The kernel's namespace of its pid; in another one, as in another container, the pid says nothing. */
  space: textOrNull,
  /** The kernel's id of this boot; tells machines of one name apart, and a machine from itself before it was restarted. */
  boot: textOrNull,
});

export type Owner = Readonly<v.InferOutput<typeof ownerSchema>>;

/** Milliseconds without a heartbeat after which an owner counts as gone, wherever its process is or was. */
export const deadAfter = 120_000;

/** Says when an owner without a heartbeat loses its lock. `age`: milliseconds since the last one. */
export function silenceText(age: number, lock: string): string {
  const [seen, left] = [Math.max(0, age), deadAfter - age].map((time) => Math.ceil(time / 1000));
  return `It gave its last sign of life ${seen} s ago; without another one, its ${lock} is taken over in ${left} s`;
}

/** Says who took over a job, for the owner that lost it. */
export function takenOverText(successor: string): string {
  return `this job was taken over by ${successor}: this run gave no sign of life for two minutes, or its lock was removed. This run ends; the other one continues`;
}

/** This process, as it holds a lock. */
export async function thisOwner(since: Date): Promise<Owner & { readonly id: string }> {
  const [born, space, boot] = await Promise.all([bornAt(process.pid), pidSpace(), bootId()]);
  return { id: randomUUID(), pid: process.pid, host: hostname(), since: since.toISOString(), born, space, boot };
}

/** The holder in the first line of a lock file; undefined when it is empty or garbled. */
export function ownerFrom(text: string): Owner | undefined {
  return valueIf(v.pipe(v.string(), v.parseJson(), ownerSchema), text.split("\n", 1)[0]);
}

/**
 * Whether the process of a lock lives; undefined where that cannot be known from here: another machine, container or boot, or
 * a process with that pid and an unknown start time.
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

/** Field 22 of /proc/<pid>/stat, counted behind the name, which may hold spaces; null where there is no /proc. */
async function bornAt(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
}

/** Null where there is no /proc. */
async function pidSpace(): Promise<string | null> {
  return readlink("/proc/self/ns/pid").catch(() => null);
}

/** Null where there is no /proc. */
async function bootId(): Promise<string | null> {
  const text = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "");
  return text.trim() || null;
}
