import type { SimulatedDisk } from "./disk.js";

/** What takes the place of `node:fs` and `node:fs/promises`. Without a disk in place they are what they are. */
export const place: { disk: SimulatedDisk | undefined } = { disk: undefined };

/** `node:fs/promises`, whose functions are those of the disk in place. */
export function simulatedPromises(actual: object): object {
  const wrapped = Object.entries(actual).map(([name, value]) => {
    if (typeof value !== "function") return [name, value];
    return [
      name,
      (...args: unknown[]) => (place.disk ? place.disk.run(name, args) : Reflect.apply(value, actual, args)),
    ];
  });
  const module = Object.fromEntries(wrapped);
  return { ...module, default: module };
}

/** `node:fs`, whose streams read from the disk in place. */
export function simulatedFs(actual: object): object {
  const original: unknown = Reflect.get(actual, "createReadStream");
  const createReadStream = (...args: unknown[]) => {
    const [path, options] = args;
    const end: unknown = typeof options === "object" && options !== null ? Reflect.get(options, "end") : undefined;
    if (place.disk) return place.disk.read(String(path), typeof end === "number" ? end : undefined);
    return typeof original === "function" ? Reflect.apply(original, actual, args) : undefined;
  };
  return { ...actual, createReadStream, default: { ...actual, createReadStream } };
}
