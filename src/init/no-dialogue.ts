import type { Dialogue } from "../dialogue/dialogue.js";
import { UsageError } from "../errors.js";

/** A dialogue without a terminal: it takes the default of every question. UsageError, which names the flag, for one that has none. */
export const noDialogue: Dialogue = {
  isInteractive: false,
  say: () => {},
  ask: async (questions) => {
    if (questions.length === 0) return new Map();
    const problems = questions.map(({ flag, message, example }) => ({
      path: flag,
      message: `${message}, such as ${example}`,
    }));
    throw new UsageError("There is no terminal to ask at. Give what is missing as flags and variables:", problems);
  },
  choose: async ({ message, choices: [first] }) => {
    if (first === undefined) throw new RangeError(`no choices: ${message}`);
    return first.value;
  },
  chooseMany: async ({ flag, choices, defaults }) => {
    if (defaults.length > 0) return defaults;
    const listed = choices.slice(0, 50).map(({ value, label }) => ({ path: value, message: label }));
    throw new UsageError(`There is no terminal to ask at. Choose with ${flag}, which takes an id or a name:`, listed);
  },
};
