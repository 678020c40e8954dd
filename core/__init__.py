"""The Transformer in NumPy: one concept per file, a trace of every intermediate.

Only numpy and the standard library are imported here. Arrays keep the float precision they come in
with; integers become float64. Rows are queries, columns are keys, tokens are the second axis from the end.
"""
