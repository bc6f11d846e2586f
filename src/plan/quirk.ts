/** Something in which services differ, what this one does, and what that means for a run. */
export interface Quirk {
  readonly name:
    | "page_cap"
    | "paging"
    | "has_more"
    | "positions"
    | "ties"
    | "child_ties"
    | "embedded_children"
    | "child_lists"
    | "metadata_fields"
    | "dataset_list"
    | "compression"
    | "clock"
    | "throttling";
  /** One word for programs: docs/plan.md lists those of every name. `unknown` where it could not be told. */
  readonly finding: string;
  /** What was seen, and how much was looked at. */
  readonly detail: string;
  /** What it means for a run. */
  readonly meaning: string;
  /** Whether it makes a run slower, larger or not complete. */
  readonly trouble: boolean;
}
