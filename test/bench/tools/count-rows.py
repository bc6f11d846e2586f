"""Prints how many different ids a table of DuckDB or JSONL files hold, and a digest of all ids with their texts: count-rows.py DATABASE ID CONTENT FROM"""

import sys

import duckdb

database, id_, content, table = sys.argv[1:]
connection = duckdb.connect(database, read_only=database != ":memory:")
digest = f"sum(hash({id_}::VARCHAR, {content}::VARCHAR))"  # does not depend on the order
print(*connection.execute(f"SELECT count(DISTINCT {id_}), {digest} FROM {table}").fetchone())
