"""Prints the figures of a column of CSV files for networks/*.yaml: quartiles, values below 1, and the rank correlation
between successive averages of two rows.

    .venv/bin/python bench/link_figures.py DL_bitrate "State == 'D' and NetworkMode == '5G'" FILE...
"""

import sys

import pandas as pd


def main(column: str, condition: str, *files: str) -> None:
    read = [pd.read_csv(file, na_values="-", low_memory=False).query(condition)[column].dropna() for file in files]
    values = pd.concat(read)
    pairs = [each.groupby(pd.RangeIndex(len(each)) // 2).mean()[: len(each) // 2] for each in read]
    after = pd.concat([each.shift(-1) for each in pairs])
    ranked = pd.DataFrame({"before": pd.concat(pairs), "after": after}).dropna().corr("spearman").iloc[0, 1]
    print(f"{len(values)} values, quartiles {', '.join(f'{each:g}' for each in values.quantile([0.25, 0.5, 0.75]))}")
    print(f"{(values < 1).mean():.1%} below 1, rank correlation {ranked:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
