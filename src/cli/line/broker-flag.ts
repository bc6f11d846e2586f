import type { Problem } from "../../errors.js";
import { brokenBrokerRule } from "../../parallel/broker.js";

/** Names of environment variables: an address always has a colon. */
const variable = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The address of a broker: the text itself, or the value of the environment variable that it names, which keeps a password out of the
 * list of processes. A problem where it is neither; it never repeats an address, because that may hold a password.
 */
export function brokerFrom(path: string, given: string, env: NodeJS.ProcessEnv): string | Problem {
  const isNamed = variable.test(given);
  const url = isNamed ? env[given] : given;
  if (!url && isNamed)
    return { path, message: `the variable ${given} is not set. Set it to an address such as redis://host:6379` };
  const rule = brokenBrokerRule(url ?? "");
  if (rule === undefined) return url ?? "";
  const expected = "expected an address such as redis://host:6379";
  const message = isNamed
    ? `the variable ${given} holds no address of a broker: ${expected}; ${rule}`
    : `this is no address of a broker: ${expected}, or the name of a variable that holds one; ${rule}`;
  return { path, message };
}
