export { selectRows } from "../jsonl/sql.js";
