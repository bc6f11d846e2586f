import { stableId } from "./stable-id.js";

/** The people who wrote the sample data. */
export const accounts = {
  author: stableId("account/author"),
  editor: stableId("account/editor"),
} as const;
