import type { SimulatedDisk } from "./disk.js";
import { wrapFunctions } from "./wrap-functions.js";

/** The disk that replaces `node:fs` and `node:fs/promises`; undefined: use the real ones. */
export const place: { disk: SimulatedDisk | undefined } = { disk: undefined };

/** `node:fs/promises` with functions that use the simulated disk, if there is one. */
export function simulatedPromises(actual: object): object {
  return wrapFunctions(actual, (name, original, args) => (place.disk ? place.disk.run(name, args) : original()));
}

/** `node:fs` with streams that read from the simulated disk, if there is one. */
export function simulatedFs(actual: object): object {
  const original: unknown = Reflect.get(actual, "createReadStream");
  const createReadStream = (...args: unknown[]) => {
    const [path, options] = args;
    const numberOf = (name: string) => {
      const value: unknown = typeof options === "object" && options !== null ? Reflect.get(options, name) : undefined;
      return typeof value === "number" ? value : undefined;
    };
    if (place.disk) return place.disk.read(String(path), { start: numberOf("start"), end: numberOf("end") });
    return typeof original === "function" ? Reflect.apply(original, actual, args) : undefined;
  };
  return { ...actual, createReadStream, default: { ...actual, createReadStream } };
}
