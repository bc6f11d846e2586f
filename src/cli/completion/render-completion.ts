import type { Command } from "../command.js";
import { renderBash } from "./bash.js";
import { candidatesFrom } from "./candidates.js";
import { renderFish } from "./fish.js";
import { renderZsh } from "./zsh.js";

const renderings = { bash: renderBash, zsh: renderZsh, fish: renderFish };

/** A shell that can complete the commands. */
export type Shell = keyof typeof renderings;

export const shells: readonly string[] = Object.keys(renderings);

/** Whether there is a script for a shell of this name. */
export function isShell(name: string): name is Shell {
  return Object.hasOwn(renderings, name);
}

/** The script that completes the commands in a shell, without a call back into the program. */
export function renderCompletion(shell: Shell, commands: readonly Command[]): string {
  return renderings[shell](candidatesFrom(commands));
}
