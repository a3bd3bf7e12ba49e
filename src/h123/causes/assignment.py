"""Solves the linear assignment problem: it assigns one set of things to another at the lowest total cost."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


def assigned(costs: Floats, beyond: float) -> list[int | None]:
    """Return the column for each row of `costs`, chosen so that the total cost is as small as possible.

    A row gets None if there are too few columns for all rows, or if its column costs `beyond` or more.
    """
    rows, columns = costs.shape
    if rows <= columns:
        pairs = list(enumerate(_columns(costs).tolist()))
    else:
        pairs = [(row, column) for column, row in enumerate(_columns(costs.T).tolist())]
    column_of_row: list[int | None] = [None] * rows
    for row, column in pairs:
        if costs[row, column] < beyond:
            column_of_row[row] = column
    return column_of_row


def _columns(costs: Floats) -> Places:
    """Return the column that is assigned to each row. There must not be more rows than columns.

    Each row takes the shortest augmenting path to a free column. The length of a step is its cost less the prices of
    its row and column, which is never negative. Source: Crouse, IEEE Transactions on Aerospace and Electronic Systems
    52 (2016), which adapts Jonker's and Volgenant's algorithm (Computing 38, 1987) to rectangular matrices.
    """
    rows, columns = costs.shape
    row_prices, column_prices = np.zeros(rows), np.zeros(columns)
    column_of, row_of = np.full(rows, -1), np.full(columns, -1)
    for first_row in range(rows):
        lengths, came_from = np.full(columns, np.inf), np.full(columns, -1)
        ahead = np.arange(columns)[::-1].copy()
        row, length, passed = first_row, 0.0, list[int]()
        while True:
            through = length + costs[row, ahead] - row_prices[row] - column_prices[ahead]
            shorter = through < lengths[ahead]
            lengths[ahead[shorter]], came_from[ahead[shorter]] = through[shorter], row
            length = lengths[ahead].min()
            nearest = np.flatnonzero(lengths[ahead] == length)
            free = nearest[row_of[ahead[nearest]] < 0]
            place = free[-1] if len(free) else nearest[0]
            column = int(ahead[place])
            if len(free):
                break
            passed.append(column)
            ahead[place] = ahead[-1]
            ahead = ahead[:-1]
            row = int(row_of[column])
        row_prices[first_row] += length
        row_prices[row_of[passed]] += length - lengths[passed]
        column_prices[passed] -= length - lengths[passed]
        while True:  # follow the path back from its end
            row = int(came_from[column])
            row_of[column] = row
            column_of[row], column = column, int(column_of[row])
            if row == first_row:
                break
    return column_of
