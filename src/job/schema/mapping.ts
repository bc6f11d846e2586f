import * as v from "valibot";
import { expectationOf, isMapping } from "../../schema.js";
import { unknownKeyText } from "./unknown-key-text.js";

/**
 * A mapping with exactly these entries. Every key that is not among them is an issue of its own (`expected: "never"`),
 * and a key that is missing is told with the expectation of its entry.
 */
export function mapping<const Entries extends v.ObjectEntries>(expected: string, entries: Entries) {
  const names = Object.keys(entries);
  const object = v.strictObject(entries, (issue) =>
    issue.expected === "never" ? unknownKeyText(issue.input, names) : (expectationOf(entries, issue) ?? issue.message),
  );
  return v.pipe(
    // strictObject takes a list for an object, so what is no mapping stops here.
    v.custom<v.InferInput<typeof object>>(isMapping, expected),
    object,
    // strictObject names one unknown key only; the others are told here.
    v.rawCheck(({ dataset, addIssue }) => {
      const place = dataset.issues?.find(({ expected, path }) => expected === "never" && path?.length === 1)?.path?.[0];
      if (place?.type !== "object") return;
      const others = Object.keys(place.input).filter((key) => key !== place.key && !Object.hasOwn(entries, key));
      for (const key of others) {
        addIssue({ expected: "never", message: unknownKeyText(key, names), path: [{ ...place, key }] });
      }
    }),
  );
}
