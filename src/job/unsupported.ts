import type { Finding, Path } from "./finding.js";
import { isMapping } from "./is-mapping.js";

interface Option {
  /** Keys from the top of the file on; `*` stands for every item of a list. */
  readonly path: readonly string[];
  /** Only this value is not available yet; without it the key as such. */
  readonly value?: string;
  readonly instead: string;
}

/** Options that the schema knows and this version cannot do. Delete the line when the option works. */
const notYet: readonly Option[] = [
  { path: ["datasets"], value: "all", instead: "list the datasets by id" },
  { path: ["datasets", "*", "documents"], value: "all", instead: "list the documents by id" },
];

/** Finds what a document asks for and this version cannot do yet. The document need not be right otherwise. */
export function findUnsupported(document: unknown): readonly Finding[] {
  return notYet.flatMap(({ path, value, instead }) =>
    placesOf(document, path)
      .filter((place) =>
        value === undefined ? place.value !== undefined && place.value !== null : place.value === value,
      )
      .map((place) => ({
        path: place.path,
        message: `${value ?? path.at(-1)} is not available in this version; ${instead}`,
      })),
  );
}

interface Place {
  readonly path: Path;
  readonly value: unknown;
}

function placesOf(document: unknown, pattern: readonly string[]): readonly Place[] {
  return pattern.reduce<readonly Place[]>(
    (places, key) => places.flatMap((place) => below(place, key)),
    [{ path: [], value: document }],
  );
}

function below({ path, value }: Place, key: string): readonly Place[] {
  if (key === "*")
    return Array.isArray(value) ? value.map((item, index) => ({ path: [...path, index], value: item })) : [];
  return isMapping(value) ? [{ path: [...path, key], value: value[key] }] : [];
}
