import { UsageError } from "../../errors.js";
import { gotText, looksLikeKey } from "../../job/findings.js";
import { nearestName } from "../../job/schema/shapes.js";
import { globalOptions } from "./global-options.js";

/** The error of a line that begins with something else than a command. */
export function unknownCommand(name: string, known: readonly string[]): UsageError {
  const unknown = `unknown command ${/^[\w-]{1,60}$/.test(name) && !looksLikeKey(name) ? name : gotText(name, [])}`;
  if (Object.hasOwn(globalOptions, name)) return new UsageError(`${unknown}; did you mean kbdump --${name}?`, []);
  if (/\.(ya?ml|json)$/i.test(name))
    return new UsageError(`${unknown}; did you mean kbdump run ${gotText(name, [])}?`, []);
  const nearest = nearestName(name, [...known, "help"]);
  const advice = nearest ? `did you mean ${nearest}?` : `expected one of ${known.join(", ")}`;
  return new UsageError(`${unknown}; ${advice}`, []);
}

/** The error of a line that names no command. */
export function noCommand(known: readonly string[]): UsageError {
  return new UsageError(`no command; expected one of ${known.join(", ")}. kbdump --help describes them`, []);
}
