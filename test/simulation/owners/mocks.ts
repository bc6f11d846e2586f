import { current } from "./process.js";
import { fs } from "./real-fs.js";

/** `lock-owner.ts` with the hosts and process deaths of the schedule. */
export function simulatedHolders(actual: object): object {
  const processes = new Map<string, NonNullable<ReturnType<typeof current.getStore>>>();
  return {
    ...actual,
    thisOwner: async (since: Date) => {
      const process = current.getStore();
      if (!process) throw new Error("no simulated process");
      const id = `5fd3c9ab-0000-4000-8000-${String(process.number).padStart(12, "0")}`;
      processes.set(id, process); // replaces the process of the previous schedule
      const { number: pid, host } = process;
      return { id, pid, host, since: since.toISOString(), born: null, space: null, boot: null };
    },
    isAlive: async ({ id, host }: { readonly id: string | null; readonly host: string }) => {
      const process = processes.get(id ?? "");
      if (!process || host !== current.getStore()?.host) return undefined;
      return !process.killed && !process.ended;
    },
  };
}

/** `inspect-database.ts` for the toy database. */
export function simulatedInspection(actual: object): object {
  const inspectDatabase = async (path: string) => {
    if (!fs.existsSync(path)) return { state: "absent" };
    const text = fs.readFileSync(path, "utf8");
    if (!text.startsWith("{")) return { state: "foreign", what: "is not ours" };
    return { state: "ours", newest: JSON.parse(text).runs.at(-1) ?? null };
  };
  return { ...actual, inspectDatabase, inspectWholly: inspectDatabase };
}

/** `node:timers/promises`: a simulated process pauses until it is next scheduled, so that schedules do not depend on a clock. */
export function scheduledPauses(actual: object): object {
  const pause: unknown = Reflect.get(actual, "setTimeout");
  const setTimeout = (...args: unknown[]) => {
    const process = current.getStore();
    if (process) return process.turn();
    return typeof pause === "function" ? Reflect.apply(pause, actual, args) : undefined;
  };
  return { ...actual, setTimeout, default: { ...actual, setTimeout } };
}
