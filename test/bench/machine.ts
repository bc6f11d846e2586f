import { cpus, totalmem } from "node:os";

/** Describes the machine in one line, for the top of a table. */
export function machine(): string {
  const [first] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} cores (${first?.model.trim()}), ${memory} GiB, Node ${process.versions.node}, ${process.platform}`;
}
