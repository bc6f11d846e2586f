import { existsSync, readdirSync } from "node:fs";
import { extname } from "node:path";
import type { Command } from "./command.js";

/** The commands of the program by name. */
export interface Registry {
  readonly names: () => readonly string[];
  /** Loads only one command, so that it does not wait for the libraries of others; undefined if the name is unknown. */
  readonly load: (name: string) => Promise<Command | undefined>;
}

/** The extension of command files: `.js`, or `.ts` when tests run the sources. */
const ending = extname(import.meta.url);

/** The commands in a folder. Each file `<name>.js` exports its `command`. */
export function commandsIn(folder: URL): Registry {
  return {
    names: () =>
      readdirSync(folder)
        .filter((file) => file.endsWith(ending))
        .map((file) => file.slice(0, -ending.length))
        .sort(),
    load: async (name) => {
      const file = new URL(`${name}${ending}`, folder);
      if (!/^[a-z][a-z-]*$/.test(name) || !existsSync(file)) return undefined;
      const { command }: { readonly command: Command } = await import(file.href);
      return command;
    },
  };
}

/** Loads all commands, sorted by name. */
export async function loadAll({ names, load }: Registry): Promise<readonly Command[]> {
  const commands = await Promise.all(names().map(load));
  return commands.filter((command) => command !== undefined);
}
