"""Loads the chunks of a dataset with the rest_api source of dlt: pipeline.py BASE_URL DATASET duckdb|filesystem FOLDER"""

import sys

import dlt
from dlt.sources.rest_api import rest_api_source

base_url, dataset, kind, folder = sys.argv[1:]
documents = f"datasets/{dataset}/documents"

source = rest_api_source(
    {
        "client": {
            "base_url": base_url,
            "auth": {"type": "bearer", "token": "compare"},
            "paginator": {
                "type": "page_number",
                "base_page": 1,
                "total_path": None,  # dlt expects a number of pages, but the service returns a number of rows
                "has_more_path": "has_more",
            },
        },
        "resource_defaults": {
            "max_table_nesting": 0,  # keep keywords and attachments in one column each, like kbdump
            "endpoint": {"params": {"limit": 100}, "data_selector": "data"},
        },
        "resources": [
            {"name": "documents", "selected": False, "endpoint": {"path": documents}},
            {
                "name": "chunks",
                "parallelized": True,  # one thread per document, which reads its pages one after another
                "endpoint": {"path": documents + "/{resources.documents.id}/segments"},
            },
        ],
    }
)

if kind == "duckdb":
    destination, file_format = dlt.destinations.duckdb(f"{folder}/chunks.duckdb"), "parquet"
else:
    destination, file_format = dlt.destinations.filesystem(folder), "jsonl"

pipeline = dlt.pipeline("compare", destination=destination, dataset_name="kb", pipelines_dir=f"{folder}/work")
pipeline.run(source, write_disposition="replace", loader_file_format=file_format)
