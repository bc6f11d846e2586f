/** A document by its ids, with its name and that of its dataset as the service listed them; null where it was not listed. */
export interface NamedDocument {
  readonly dataset_id: string;
  readonly document_id: string;
  readonly dataset_name: string | null;
  readonly document_name: string | null;
}

/** A chunk or child chunk, and where it stands. */
export interface LocatedChunk extends NamedDocument {
  readonly id: string;
  readonly position: number | null;
}
