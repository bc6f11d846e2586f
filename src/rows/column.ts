/**
 * The type of a column. text, integer, boolean; time: Unix seconds that become an ISO string; strings: an array of
 * strings; list: an array of anything; object: JSON; any: a string as it is, else JSON.
 */
export type ColumnType = "text" | "integer" | "boolean" | "time" | "strings" | "list" | "object" | "any";

/**
 * The part of a column in comparing rows. document, parent and id: together they tell a row from all others
 * of its kind. position: its place, which may collide. content: what somebody wrote; its fingerprint matches rows across a
 * re-index. setting: what else counts as a difference. progress: how far the indexing is. Columns without a role are kept and
 * not compared by diff: they change with use, or with every indexing.
 */
export type ColumnRole = "document" | "parent" | "id" | "position" | "content" | "setting" | "progress";

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** The field of the service's record; undefined where kbdump itself knows the value. */
  readonly field: string | undefined;
  readonly about: string;
  readonly role: ColumnRole | undefined;
  /** The word that the history has for a change of this column; undefined where it has none. */
  readonly change: ChangeName | undefined;
  /** Holds links to files, which the service signs anew at every read. */
  readonly signed: boolean;
  /** Holds texts of any length. */
  readonly long: boolean;
  /** kbdump knows the value by itself, and the service sends it, too. */
  readonly sentToo: boolean;
  /** No service sends it as null: an older service did not send it at all. */
  readonly neverNull: boolean;
}

/** The words of the history for a change, the one first that counts where several columns differ. */
export const changeNames = [
  "changed",
  "enabled",
  "status",
  "keywords",
  "type",
  "reindexed",
  "moved",
  "hit_count",
] as const;
export type ChangeName = (typeof changeNames)[number];

type Traits = Partial<Omit<Column, "name" | "type" | "about">>;

/** Every column has every member: objects of one shape are read faster. */
const column = (name: string, type: ColumnType, about: string, traits: Traits): Column => ({
  name,
  type,
  field: traits.field,
  about,
  role: traits.role,
  change: traits.change,
  signed: traits.signed ?? false,
  long: traits.long ?? false,
  sentToo: traits.sentToo ?? false,
  neverNull: traits.neverNull ?? false,
});
/** A column whose value kbdump itself knows. */
export const own = (name: string, type: ColumnType, about: string, traits: Traits = {}) =>
  column(name, type, about, traits);
/** A column of what the service sends, by default in the field of its name. */
export const sent = (name: string, type: ColumnType, about: string, traits: Traits = {}) =>
  column(name, type, about, { field: name, ...traits });

export const setting = { role: "setting" } as const;

/** The column of what the others do not hold. */
export const extra = own(
  "extra",
  "object",
  "every field that the service sent and no column names; null when there is none",
  setting,
);
