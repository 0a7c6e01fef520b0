#!/usr/bin/env python3
"""Rule fetch_problems: one source of config/sources.yaml to a problem parquet and a manifest."""

import argparse
import sys
from pathlib import Path

from torl import cli
from torl.files import write_json
from torl.problems.fetch import fetch
from torl.problems.sources import read_sources, source_named


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", required=True, help="config/sources.yaml")
    parser.add_argument("--name", required=True, help="entry of the sources file")
    parser.add_argument("--data-dir", default=".", help="folder that paths of local sources are relative to")
    parser.add_argument("--cache-dir", help="cache of the hub (default: its own)")
    parser.add_argument("--seed", type=int, default=0, help="seed of a generated source")
    parser.add_argument("--count", type=int, help="number of problems of a generated source")
    parser.add_argument(
        "--whole", action="store_true", help="refuse rows that are not usable: the source is a benchmark"
    )
    parser.add_argument("--out", required=True, type=Path, help="problem parquet to write")
    parser.add_argument("--manifest", required=True, type=Path, help="manifest JSON to write")
    options = parser.parse_args()
    manifest = fetch(
        options.name,
        source_named(read_sources(options.sources), options.name),
        out=options.out,
        data_dir=options.data_dir,
        cache_dir=options.cache_dir,
        seed=options.seed,
        count=options.count,
        whole=options.whole,
    )
    write_json(options.manifest, manifest)
    rejected = sum(manifest["rejected"].values())
    sys.stdout.write(f"{options.name}: {manifest['accepted']:,} problems, {rejected:,} rows not usable\n")


if __name__ == "__main__":
    cli.run(main)
