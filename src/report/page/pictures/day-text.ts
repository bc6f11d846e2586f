import { type Html, html } from "../html.js";

/** The last moment that a Date can be, in milliseconds. */
const latest = 8.64e15;

/** `2026-11-20`, in UTC. */
export function dayText(milliseconds: number): Html {
  const day = new Date(Math.max(-latest, Math.min(latest, milliseconds))).toISOString().replace(/T.*/, "");
  return html`<time datetime="${day}">${day}</time>`;
}
