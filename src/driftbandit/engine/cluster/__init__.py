"""A Dask cluster: shards of runs on other machines."""
