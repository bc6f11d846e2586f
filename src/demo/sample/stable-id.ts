import { hash } from "node:crypto";

/** A UUID (version 4 in shape) that is always the same for the same name. */
export function stableId(name: string): string {
  const hex = hash("sha256", name);
  const variant = "89ab"[Number.parseInt(hex.charAt(16), 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** The people who wrote the sample data, and the owner of the key, who writes through the service. */
export const accounts = {
  author: stableId("account/author"),
  editor: stableId("account/editor"),
  owner: stableId("account/owner"),
} as const;
