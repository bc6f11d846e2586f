/** Logs something for the user who watches a run; never a result. */
export type Log = (level: "info" | "warn", message: string) => void;
