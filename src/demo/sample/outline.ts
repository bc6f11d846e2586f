/** The types that describe the sample data; product-knowledge.ts and company-handbook.ts are its tables of contents. */

import type { Peculiarity } from "./peculiarities.js";
import type { Language, Topic } from "./prose/language.js";
import { stableId } from "./stable-id.js";

export interface DatasetOutline {
  readonly name: string;
  readonly description: string;
  /** Economy datasets count no tokens. */
  readonly technique: "high_quality" | "economy";
  readonly documents: readonly DocumentOutline[];
  readonly batches: readonly BatchOutline[];
}

export interface DocumentOutline {
  /** A file name, unique in its dataset: ids are made from it. */
  readonly name: string;
  readonly form: "text_model" | "qa_model" | "hierarchical_model";
  readonly topic: Topic;
  /** The chunks take turns in them; in those of the sample by default. */
  readonly languages?: readonly Language[];
  readonly chunkCount: number;
  /** How many child chunks the chunk with this number (from 1) has; none when absent. */
  readonly childCount?: (number: number) => number;
  /** Whether chunks embed their children, as those of paragraph parents do. */
  readonly embedsChildren?: boolean;
  /** Contents to use word for word instead of prose. */
  readonly texts?: readonly string[];
  readonly peculiarities?: readonly Peculiarity[];
  /** Whether times have a fraction of a second. */
  readonly fractionalTimes?: boolean;
  /** Why the document could not be indexed. */
  readonly error?: string;
}

/** Documents are named as in the outline of their dataset. */
export interface BatchOutline {
  readonly id: string;
  readonly documents: readonly string[];
  readonly underWay: boolean;
}

/** The id of a dataset of the sample. */
export function datasetId(dataset: DatasetOutline): string {
  return stableId(dataset.name);
}

/** The id of a document of the sample. */
export function documentId(dataset: DatasetOutline, documentName: string): string {
  return stableId(`${dataset.name}/${documentName}`);
}
