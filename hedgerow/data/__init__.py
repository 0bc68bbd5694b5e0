"""From anybody's table to codes: columns, categories, cut points.

A table is read column by column, whatever library it comes from, and every value becomes the
number of its bin. Which bins there are depends on the values and their weights, never on the
order of the rows.
"""
