"""One tree: what to grow it by, when to stop, how to prune it, how to show it.

A `Tree` is read-only flat arrays in preorder. It knows features by number and categories by
code; the words for them come with `TreeNames`, where something is shown.
"""
