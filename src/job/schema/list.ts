import * as v from "valibot";
import { repeats } from "./repeats.js";

/** A list of different texts. `name` is the list's own, `noun` that of one item, `expected` says what the list is. */
export function list<const Item extends v.GenericSchema<unknown, string>>(
  name: string,
  noun: string,
  expected: string,
  item: Item,
) {
  return v.pipe(
    v.array(item, expected),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!Array.isArray(dataset.value)) return;
      const input: unknown[] = dataset.value;
      for (const { key, first } of repeats(input)) {
        const message = `each ${noun} once; ${name}[${first}] is the same`;
        addIssue({ message, path: [{ type: "array", origin: "value", input, key, value: input[key] }] });
      }
    }),
    v.metadata({ uniqueItems: true }),
  );
}
