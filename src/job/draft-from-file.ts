import { basename, extname } from "node:path";
import type { Problem } from "../errors.js";
import { isMapping } from "../schema.js";
import type { Draft, Label } from "./draft.js";
import { isWithin } from "./finding.js";
import { interpolate, type Variables } from "./interpolate.js";
import { batchFlag, type GivenFlag, type JobFlags, mergeFlags, overridingFlags, sourceFlags } from "./merge-flags.js";
import { parseJobText } from "./parse-job-text.js";
import { pathText } from "./path-text.js";
import { fileText } from "./quoted-text.js";
import { defaultKeyVariable } from "./schema/service-schema.js";
import { valueAt } from "./value-at.js";

const nameLabel: Label = { path: ["name"], text: "name (taken from the file's name; set name to choose another)" };

/** Takes away what only a run needs. */
const silence: GivenFlag = { flag: "", path: ["notify"], value: undefined };

/**
 * The text of a job file, its variables filled in and the flags put over it, not checked. Throws UsageError where the
 * text is neither YAML nor JSON. A command that notifies nobody does without `notify` if one of its variables is not set.
 */
export function draftFromFile(
  file: string,
  text: string,
  flags: JobFlags,
  { env, notifies }: { readonly env: Variables["env"]; readonly notifies: boolean },
): Draft {
  const what = `the job file ${fileText(file)}`;
  // An empty file is a job with nothing in it: the check then says what is missing.
  const written = parseJobText(text, what) ?? {};
  const filled = interpolate(written, { env, secrets: keyVariables(written) });
  const hasOneDataset = isMapping(written) && Array.isArray(written.datasets) && written.datasets.length === 1;
  const isSilent = !notifies && filled.findings.some(({ path }) => isWithin(path, silence.path));
  const given = [...overridingFlags(flags), ...(hasOneDataset ? batchFlag(flags) : []), ...(isSilent ? [silence] : [])];
  const unnamed = isMapping(written) && (written.name === undefined || written.name === null);
  const complete = (document: unknown) => mergeFlags(document, unnamed ? [...given, nameOf(file)] : given);
  return {
    what,
    document: complete(filled.value),
    written: complete(written),
    labels: [...given.map(({ flag, path }) => ({ text: flag, path })), ...(unnamed ? [nameLabel] : [])],
    unset: filled.findings.filter(({ path }) => !given.some((flag) => isWithin(path, flag.path))),
    problems: [...sourceFlags(flags).map(refuse), ...(hasOneDataset ? [] : batchFlag(flags).map(refuseBatch))],
  };
}

function nameOf(file: string): GivenFlag {
  return { flag: "", path: nameLabel.path, value: basename(file, extname(file)) };
}

/**
 * The variables that hold the key: nothing of a job is ever made of their values. With `api_key_env: ${NAME}`, a slip
 * for `api_key_env: NAME`, that is NAME.
 */
function keyVariables(written: unknown): ReadonlySet<string> {
  const named = valueAt(written, ["service", "api_key_env"]);
  return new Set([defaultKeyVariable, ...(typeof named === "string" ? named.split(/\W+/) : [])]);
}

function refuse({ flag, path }: GivenFlag): Problem {
  return { path: flag, message: `only without a job file; set ${pathText(path)} in the file` };
}

function refuseBatch({ flag }: GivenFlag): Problem {
  return { path: flag, message: "only with a job file of one dataset; set the batches of each dataset in the file" };
}
